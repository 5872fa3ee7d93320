"""The value of a term at a model: exact, by balls, or undefined. Nothing else evaluates."""

from proofs.evaluate.decisions import Truth
from proofs.evaluate.evaluator import Evaluation, Undecided, Undefined, as_value, evaluate
from proofs.evaluate.model import Family, Function, Model, Outcomes, Partition
from proofs.evaluate.values import Complex, Matrix, Points, Polynomial

__all__ = [
    "Complex",
    "Evaluation",
    "Family",
    "Function",
    "Matrix",
    "Model",
    "Outcomes",
    "Partition",
    "Points",
    "Polynomial",
    "Truth",
    "Undecided",
    "Undefined",
    "as_value",
    "evaluate",
]
