"""Where SymPy, the derivations and the kernels meet the theorems, and nowhere else.

`crosscheck` is the door for the main job; the parts can be used alone.
"""

from proofs.bridge.contracts import Contract, ContractError, contract, contracts, tie
from proofs.bridge.crosschecks import CrossCheck, KernelCheck, check_kernel, crosscheck
from proofs.bridge.derivations import DerivationStatus, derivation_status, status
from proofs.bridge.exact_arrays import EXACT, ExactArray, ExactNamespace, exact_twin
from proofs.bridge.kernels import Runnable
from proofs.bridge.sympy_reader import (
    Reading,
    ReadingError,
    read_equation,
    read_sympy,
    sympy_to_thm,
)

__all__ = [
    "EXACT",
    "Contract",
    "ContractError",
    "CrossCheck",
    "DerivationStatus",
    "ExactArray",
    "ExactNamespace",
    "KernelCheck",
    "Reading",
    "ReadingError",
    "Runnable",
    "check_kernel",
    "contract",
    "contracts",
    "crosscheck",
    "derivation_status",
    "exact_twin",
    "read_equation",
    "read_sympy",
    "status",
    "sympy_to_thm",
    "tie",
]
