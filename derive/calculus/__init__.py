"""Derivatives of functions of matrices, vectors and indexed families, by rules of our own.

`differential` has the rules, one a node; `gradient` reads the gradient off a differential. SymPy's
own matrix derivatives are not used: some are wrong without a word (`log(Determinant(A)).diff(A)` is
the zero matrix).
"""

from derive.calculus.differential import Directions, differential
from derive.calculus.errors import CalculusError, MissingRuleError, RankChangeError
from derive.calculus.gradient import gradient

__all__ = [
    "CalculusError",
    "Directions",
    "MissingRuleError",
    "RankChangeError",
    "differential",
    "gradient",
]
