"""Operations that the chosen forms use and that derivations don't: each prints as one call.

`call` is what is printed, `home` the module that the emitted source imports it from (none: the
array namespace has it). A node that takes `xp` gets it first; one that decides a rank gets
`rank_tol` last. The value of a `plain_number` is a Python number, whatever
the batch.
"""

from __future__ import annotations

from sympy import Expr, Function, IndexedBase, MatrixExpr, Symbol, Tuple, false, true


class Call:
    """What the printer needs to know of a node."""

    call: str
    home: str | None = None
    takes_xp: bool = False
    takes_rank_tol: bool = False
    plain_number: bool = False


class Log1p(Function, Call):
    """log(1 + x)."""

    nargs, call = 1, "xp.log1p"


class WrightOmega(Function, Call):
    """The root y of y + log(y) = x, that is W(exp(x))."""

    nargs, call, home, takes_xp = 1, "wright_omega", "numeric.special_functions", True


class LinearLogRoot(Function, Call):
    """The root x >= 0 of p x + log(1 + x) = l, for 0 <= l <= p + log 2."""

    nargs, call, home, takes_xp = 2, "linear_log_root", "numeric.special_functions", True


class PrincipalRise(Function, Call):
    """1 + W(x exp(-x)), W the principal branch, for x >= -W(1/e)."""

    nargs, call, home, takes_xp = 1, "principal_rise", "numeric.special_functions", True


class LowerRise(Function, Call):
    """1 + W(x exp(-x)), W the branch -1, for -W(1/e) <= x < 0."""

    nargs, call, home, takes_xp = 1, "lower_rise", "numeric.special_functions", True


class CopySign(Function, Call):
    """The size of the first with the sign of the second."""

    nargs, call = 2, "xp.copysign"


class Smaller(Function, Call):
    """The smaller of two."""

    nargs, call = 2, "xp.minimum"


class Where(Function):
    """`Where(condition, chosen, otherwise)`, entry by entry; both are evaluated."""

    nargs = 3

    @classmethod
    def eval(cls, condition: Expr, chosen: Expr, otherwise: Expr) -> Expr | None:
        """No choice is left where the symbols' own signs decide the condition."""
        if condition in (true, false):
            return chosen if condition == true else otherwise
        return None


class MaxOver(Function):
    """`MaxOver(body, index)`: the largest entry along the axis of the index."""

    nargs = 2


class SmallestNormal(Function, Call):
    """The smallest normal number of the argument's floating type."""

    nargs, call, home, takes_xp = 1, "smallest_normal", "numeric.namespace", True
    plain_number = True


class MatrixCall(MatrixExpr, Call):
    """A call whose value is a matrix."""

    home, takes_xp, takes_rank_tol = "numeric.linear_algebra", True, True


class PseudoInverse(MatrixCall):
    """Moore-Penrose inverse by singular values."""

    call = "pseudo_inverse"

    @property
    def shape(self) -> tuple[Expr, Expr]:
        """Rows and columns, exchanged."""
        rows, columns = self.args[0].shape  # type: ignore[attr-defined]
        return columns, rows


class SymmetricPseudoInverse(MatrixCall):
    """Moore-Penrose inverse of a symmetric psd matrix by eigenvalues."""

    call = "symmetric_pseudo_inverse"

    @property
    def shape(self) -> tuple[Expr, Expr]:
        """Square."""
        return self.args[0].shape  # type: ignore[attr-defined]


class KernelProjector(MatrixCall):
    """Orthogonal projector on the kernel, I - A^+ A."""

    call = "kernel_projector"

    @property
    def shape(self) -> tuple[Expr, Expr]:
        """Square, as wide as the argument."""
        width = self.args[0].shape[1]  # type: ignore[attr-defined]
        return width, width


class SymmetricPart(MatrixCall):
    """(A + A')/2."""

    call, takes_rank_tol = "symmetric_part", False

    @property
    def shape(self) -> tuple[Expr, Expr]:
        """As the argument."""
        return self.args[0].shape  # type: ignore[attr-defined]


class RootOfSmallest(SmallestNormal):
    """The square root of that number: quotients of what lies between it and its inverse are safe.

    A comparison with it costs nothing, while products with the smallest number itself are
    subnormal, and slow.
    """

    call = "root_of_smallest"


class Indicator(Function, Call):
    """`Indicator(condition, like)`: 1 where it holds and 0 elsewhere, in the other's type."""

    nargs, call, home, takes_xp = 2, "indicator", "numeric.namespace", True


class InsertZero(Function):
    """`InsertZero(vector, position, index)`: the vector with a zero put in at the position."""

    nargs = 3


class SumOfOthers(Function):
    """`SumOfOthers(vector, index)`: for each entry the sum of all others."""

    nargs = 2


class AtLargest(Function):
    """`AtLargest(weights, values)`: the value where the weight is largest, or their average."""

    nargs = 2


class FamilyCall(Function):
    """`Name(Tuple(families), Tuple(axes))`: a call on whole arrays; its value has these axes."""

    nargs = 2
    call: str
    home: str

    @property
    def families(self) -> tuple[IndexedBase, ...]:
        """The arrays that it is called with, after the namespace."""
        return self.args[0].args  # type: ignore[return-value]

    @property
    def axes(self) -> tuple[Symbol, ...]:
        """The free indices of the value."""
        return self.args[1].args  # type: ignore[return-value]

    @classmethod
    def on(cls, families: tuple[IndexedBase, ...], axes: tuple[Symbol, ...]) -> Expr:
        """The call on these arrays."""
        return cls(Tuple(*families), Tuple(*axes))


class SquaredDistances(FamilyCall):
    """|x_i - y_j|^2 from the rows of x and y."""

    call, home = "squared_distances", "numeric.distances"


class ExcessDistances(FamilyCall):
    """|x_i - y_j|^2 - min_k |x_i - y_k|^2 from those distances, and the rows of x and y."""

    call, home = "excess_distances", "numeric.distances"
