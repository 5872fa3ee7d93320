"""Whether a NumPy or PyTorch function computes what a statement says. `conforms` is the door."""

from proofs.conformance.errors import BindingError, ConformanceError, FunctionError, SideError
from proofs.conformance.report import Conformance, Failing
from proofs.conformance.run import conforms, load

__all__ = [
    "BindingError", "Conformance", "ConformanceError", "Failing", "FunctionError", "SideError",
    "conforms", "load",
]  # fmt: skip
