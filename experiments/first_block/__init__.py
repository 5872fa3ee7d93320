"""Studies of the exact first block: what one attention block, read at one token, tells."""
