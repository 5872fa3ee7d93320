"""The trusted part of the assistant: small enough to be read in one sitting.

Trusted code: `algebra`, `lowering`, `definedness`, `judge`, and the rules in `rules.thm`.
It imports the standard library and `proofs.language`, and raises instead of asserting.
"""
