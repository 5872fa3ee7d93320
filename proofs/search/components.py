"""Untrusted. Vectors shown equal entry by entry, where one is given by its entries."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

from proofs.checker.algebra import ONE, Poly, Word, of_letter
from proofs.language.infer import infer
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import equations
from proofs.search.raising import size_term
from proofs.search.workbench import Workbench


def by_entries(w: Workbench, goal: Term) -> int | None:
    """Two vectors, one of them a softmax or a list of entries, shown equal entry by entry."""
    kind = infer(goal.args[0], w.facts.scope)
    if kind.cols != ONE or kind.is_scalar or kind.rows.value is not None:
        return None
    if not any(n.op in ("softmax", "comprehension") for n in postorder([goal])):
        return None
    return w.schema("vector_equal", n=size_term(kind.rows), x=goal.args[0], y=goal.args[1])


def by_entries_inside(w: Workbench, goal: Term) -> int | None:
    """The same for vectors that are known to stand in both sides, maybe between matrices:
    A*x*B + A*y*B = 0, for x + y = 0."""
    rest, _ = equations.known(w, [goal]).reduce(w.facts.difference(goal))
    while rest.terms:
        found = _vector_inside(w, rest)
        if found is None:
            return None
        before, total, after = found
        vector = total if total.cols == ONE else total.T
        n = size_term(vector.rows)
        zero = term("zeros", n, rational(1))
        if vector.terms and w.schema("vector_equal", n=n, x=w.raising.poly(vector), y=zero) is None:
            return None
        for x in reversed(before):
            total = of_letter(x) * total
        for x in after:
            total = total * of_letter(x)
        rest = rest - total
    return equations.plainly_combined(w, goal)


def _vector_inside(w: Workbench, value: Poly) -> tuple[Word, Poly, Word] | None:
    """A list of entries, as a column or row, in a word of a value, with what stands beside it in
    all words that begin and end alike."""
    for _, word in value.terms:
        for i, x in enumerate(word):
            node = w.raising.letters.get(x.T if x.transposed else x)
            if node is None or node.op != "comprehension":
                continue
            before, after = word[:i], word[i + 1 :]
            terms = {
                (monomial, other[i : len(other) - len(after)]): c
                for (monomial, other), c in value.terms.items()
                if i < len(other) - len(after)
                and other[:i] == before
                and other[len(other) - len(after) :] == after
            }
            return before, Poly(x.rows, x.cols, terms), after
    return None


def by_terms_inside(w: Workbench, goal: Term) -> int | None:
    """Multiples of sums over one range that add up to zero term by term."""
    rest, _ = equations.known(w, [goal]).reduce(w.facts.difference(goal))
    summands: list[tuple[Term, Fraction]] = []
    for place, c in rest.terms.items():
        summands.append((w.raising.poly(Poly(rest.rows, rest.cols, {place: Fraction(1)})), c))
    ranges = {(node.op, *node.args[:2]) for node, _ in summands}
    if len(summands) < 2 or len(ranges) != 1 or not _is_sum(summands[0][0]):
        return None
    sizes = {"n": size_term(rest.rows), "k": size_term(rest.cols), "p": summands[0][0].args[1]}
    parts = [term("mul", rational(c), node.args[2]) for node, c in summands]
    totals = list(accumulate(parts, lambda x, y: term("add", x, y)))
    zero = rational(0) if rest.is_scalar else term("zeros", sizes["n"], sizes["k"])
    if w.schema("sum_equal_terms", **sizes, f=totals[-1], g=zero) is None:
        return None
    w.schema("sum_constant", **sizes, A=zero)
    for total, part in zip(totals, parts[1:], strict=False):
        w.schema("sum_add_terms", **sizes, f=total, g=part)
    for node, c in summands:
        w.schema("sum_multiple", **sizes, c=rational(c), f=node.args[2])
    return equations.quick(w, goal)


def _is_sum(node: Term) -> bool:
    return node.op == "sum" and node.args[0] is rational(1)
