"""The functions, constants and properties of the language, under its own names.

Where Python has the name already, an underscore follows: `sum_`, `max_`, `min_`. The absolute value
is Python's `abs`.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofs.language.tree import term
from proofs.notation.errors import IllTyped
from proofs.notation.expressions import Expression, Operand, Relation, SigmaAlgebra, built

pi = Expression(term("constant", data="pi"), {})
e = Expression(term("constant", data="e"), {})
i = Expression(term("constant", data="i"), {})


# ---------------------------------------------------------------- matrices


def eye(n: Operand) -> Expression:
    """The identity of size n."""
    return built(Expression, "eye", n)


def zeros(n: Operand, k: Operand) -> Expression:
    """The n by k matrix of zeros."""
    return built(Expression, "zeros", n, k)


def ones(n: Operand, k: Operand) -> Expression:
    """The n by k matrix of ones."""
    return built(Expression, "ones", n, k)


def unit(n: Operand, j: Operand) -> Expression:
    """The j-th unit vector of size n."""
    return built(Expression, "unit", n, j)


def conj(A: Operand) -> Expression:
    """The complex conjugate, entry by entry."""
    return built(Expression, "conj", A)


def inv(A: Operand) -> Expression:
    """The inverse of a square matrix, which must be invertible."""
    return built(Expression, "inv", A)


def pinv(A: Operand) -> Expression:
    """The Moore-Penrose inverse."""
    return built(Expression, "pinv", A)


def det(A: Operand) -> Expression:
    """The determinant."""
    return built(Expression, "det", A)


def tr(A: Operand) -> Expression:
    """The trace."""
    return built(Expression, "tr", A)


def rank(A: Operand) -> Expression:
    """The rank."""
    return built(Expression, "rank", A)


def adj(A: Operand) -> Expression:
    """The adjugate: the transposed matrix of cofactors."""
    return built(Expression, "adj", A)


def diag(v: Operand) -> Expression:
    """The diagonal matrix with the entries of a vector."""
    return built(Expression, "diag", v)


def vec(A: Operand) -> Expression:
    """The columns stacked, one below the other."""
    return built(Expression, "vec", A)


def block(rows: Sequence[Sequence[Operand]]) -> Expression:
    """The matrix of blocks, row by row: `block([[A, B], [C, D]])`; numbers are 1x1 blocks.

    Raises:
        IllTyped: rows of different lengths, or blocks that don't fit.
    """
    lengths = {len(row) for row in rows}
    if len(lengths) != 1:
        raise IllTyped(
            f"expected rows with one number of blocks, got {[len(row) for row in rows]}",
            "block",
            tuple(rows),
        )
    parts = [part for row in rows for part in row]
    return built(Expression, "block", *parts, data=(len(rows), *lengths))


def inner(x: Operand, y: Operand) -> Expression:
    """The inner product of real vectors, `x.T @ y`."""
    return built(Expression, "inner", x, y)


def norm2(x: Operand) -> Expression:
    """The squared Euclidean norm; of a matrix the squared Frobenius norm."""
    return built(Expression, "norm2", x)


def kron(A: Operand, B: Operand) -> Expression:
    """The Kronecker product."""
    return built(Expression, "kron", A, B)


def hadamard(A: Operand, B: Operand) -> Expression:
    """The product entry by entry (`*` and `@` are both the matrix product)."""
    return built(Expression, "hadamard", A, B)


# ---------------------------------------------------------------- vectors and scalars


def softmax(x: Operand) -> Expression:
    """exp(x) entry by entry, divided by its sum."""
    return built(Expression, "softmax", x)


def logsumexp(x: Operand) -> Expression:
    """The logarithm of the sum of exp(x)."""
    return built(Expression, "logsumexp", x)


def max_(*values: Operand) -> Expression:
    """The largest entry of a vector, or the largest of several scalars."""
    return built(Expression, "max", *values)


def min_(*values: Operand) -> Expression:
    """The smallest entry of a vector, or the smallest of several scalars."""
    return built(Expression, "min", *values)


def exp(x: Operand) -> Expression:
    """The exponential of a scalar."""
    return built(Expression, "exp", x)


def log(x: Operand) -> Expression:
    """The natural logarithm of a positive number."""
    return built(Expression, "log", x)


def sqrt(x: Operand) -> Expression:
    """The square root of a nonnegative number."""
    return built(Expression, "sqrt", x)


def sin(x: Operand) -> Expression:
    """The sine."""
    return built(Expression, "sin", x)


def cos(x: Operand) -> Expression:
    """The cosine."""
    return built(Expression, "cos", x)


def tanh(x: Operand) -> Expression:
    """The hyperbolic tangent."""
    return built(Expression, "tanh", x)


def lambertw(x: Operand) -> Expression:
    """Lambert's W, the principal branch: `w*exp(w) = x` with `w >= -1`."""
    return built(Expression, "lambertw", x)


def erf(x: Operand) -> Expression:
    """The error function."""
    return built(Expression, "erf", x)


# ---------------------------------------------------------------- properties


def invertible(A: Operand) -> Relation:
    """That a square matrix has an inverse."""
    return built(Relation, "invertible", A)


def symmetric(A: Operand) -> Relation:
    """That a matrix equals its transpose."""
    return built(Relation, "symmetric", A)


def hermitian(A: Operand) -> Relation:
    """That a matrix equals its conjugate transpose."""
    return built(Relation, "hermitian", A)


def positive_definite(A: Operand) -> Relation:
    """That a matrix is Hermitian with eigenvalues greater than 0."""
    return built(Relation, "positive_definite", A)


def positive_semidefinite(A: Operand) -> Relation:
    """That a matrix is Hermitian with eigenvalues not less than 0."""
    return built(Relation, "positive_semidefinite", A)


def orthogonal(Q: Operand) -> Relation:
    """That the transpose of a real square matrix is its inverse."""
    return built(Relation, "orthogonal", Q)


def unitary(Q: Operand) -> Relation:
    """That the conjugate transpose of a square matrix is its inverse."""
    return built(Relation, "unitary", Q)


def idempotent(P: Operand) -> Relation:
    """That a matrix equals its square."""
    return built(Relation, "idempotent", P)


def diagonal(D: Operand) -> Relation:
    """That all entries off the diagonal are 0."""
    return built(Relation, "diagonal", D)


def full_row_rank(M: Operand) -> Relation:
    """That the rows are linearly independent."""
    return built(Relation, "full_row_rank", M)


def full_column_rank(M: Operand) -> Relation:
    """That the columns are linearly independent."""
    return built(Relation, "full_column_rank", M)


def commute(A: Operand, B: Operand) -> Relation:
    """That `A @ B` equals `B @ A`."""
    return built(Relation, "commute", A, B)


def subset(F: SigmaAlgebra, G: SigmaAlgebra) -> Relation:
    """That the sigma-algebra G knows all that F knows."""
    return built(Relation, "subset", F, G)
