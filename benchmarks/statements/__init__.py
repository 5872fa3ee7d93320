"""370 statements from public sources with the verdict that is expected of each."""
