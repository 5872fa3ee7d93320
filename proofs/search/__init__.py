"""The untrusted search for certificates: as clever as it likes, believed in nothing."""

from proofs.search.portfolio import Failure, prove

__all__ = ["Failure", "prove"]
