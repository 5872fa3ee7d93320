"""The untrusted search for certificates: as clever as it likes, believed in nothing."""

from proofs.search.portfolio import Failure, prove, search

__all__ = ["Failure", "prove", "search"]
