"""A statement written in Python: the same tree, text and hash as if a file had said it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proofs.language import show
from proofs.language.errors import TypeProblem
from proofs.language.infer import check
from proofs.language.parser import look_alike
from proofs.language.tokens import skeleton
from proofs.language.tree import Statement
from proofs.notation.errors import BOUND_MARK, IllTyped, TwoMeanings
from proofs.notation.expressions import Piece, Relation, declarations, merged, relations

if TYPE_CHECKING:
    from proofs.decide import Decision
    from proofs.explain import Explanation


@dataclass(frozen=True, slots=True, repr=False)
class Stated:
    """A statement, and the abbreviations under which its terms are shown.

    `str` is the text of its file; in a notebook it is typeset.
    """

    statement: Statement
    names: show.Names = field(default_factory=dict, compare=False)

    @property
    def hash(self) -> str:
        """What a certificate is bound to; the same for a file that says the same."""
        return self.statement.hash

    def decide(self, *, seconds: float = 10.0, seed: int = 0) -> Decision:
        """The answer, as `python -m proofs decide` gives it for the file."""
        from proofs.decide import decide  # the search is loaded when there is something to decide

        return decide(self.statement, seconds=seconds, seed=seed, names=self.names)

    def explain(self, *, seconds: float = 10.0) -> Explanation:
        """The statement is decided, and its proof printed step by step."""
        from proofs.explain import explain_answers

        return explain_answers("statement", [self.decide(seconds=seconds)])

    def __str__(self) -> str:
        return show.thm(self.statement, self.names)

    def __repr__(self) -> str:
        return show.pretty(self.statement, self.names)

    def _repr_markdown_(self) -> str:
        return f"$$\n{show.latex(self.statement, names=self.names)}\n$$"


def statement(
    goal: Relation,
    *,
    assuming: Relation | Sequence[Relation] = (),
    declaring: Piece | Sequence[Piece] = (),
) -> Stated:
    """The statement that `goal` holds wherever the hypotheses do.

    Args:
        goal: a relation or property.
        assuming: the hypotheses, in the order in which they are read.
        declaring: names to declare although nothing uses them. All names are declared in the
            order in which the program made them.

    Raises:
        IllTyped: no relation where one is expected, a random name in a hypothesis, an index
            outside of its sum.
        TwoMeanings: two declarations of one name, or names that look the same.

    Example:
        >>> from proofs.notation import dimension, inv, invertible, matrix, statement
        >>> n = dimension("n")
        >>> A, B = matrix("A, B", n, n)
        >>> product = statement(inv(A @ B) == inv(B) @ inv(A),
        ...                     assuming=[invertible(A), invertible(B)])
        >>> print(product)
        let n : dimension
        let A, B : matrix(n, n)
        assume invertible(A)
        assume invertible(B)
        show inv(A*B) = inv(B)*inv(A)
        <BLANKLINE>
        >>> product.decide().verdict
        <Verdict.PROVED: 'proved'>
    """
    (goal,) = relations([goal], "statement")
    hypotheses = relations(assuming, "statement")
    unused = (declaring,) if isinstance(declaring, Piece) else tuple(declaring)
    context, names = merged([goal, *hypotheses, *unused])
    _distinct([*context, *names])
    found = Statement(declarations(context), tuple(h.term for h in hypotheses), goal.term)
    try:
        check(found)
    except TypeProblem as problem:
        raise IllTyped(problem.message, "statement", (goal, *hypotheses)) from None
    return Stated(found, names)


def _distinct(identifiers: Sequence[str]) -> None:
    """That no name is an index outside of its binder, and that no two names look the same."""
    seen: dict[str, str] = {}
    for identifier in identifiers:
        stem, mark, _ = identifier.partition(BOUND_MARK)
        if mark:
            raise IllTyped(
                f"the index {stem!r} stands outside of its sum", "statement", (identifier,)
            )
        twin = seen.setdefault(skeleton(identifier), identifier)
        if twin != identifier:
            raise TwoMeanings(look_alike(identifier, twin))
