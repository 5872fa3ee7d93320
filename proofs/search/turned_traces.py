"""Untrusted. Traces simplified in any of their turned and transposed forms.

tr(S*K) is tr(K.T*S.T), which is -tr(K*S) for symmetric S and skew K: a known equation may apply to
a form of a trace that is not the one by which the trace is known.
"""

from __future__ import annotations

from fractions import Fraction

from proofs.checker.algebra import ONE, Poly, TooLarge, Word, turns
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, bound, term
from proofs.search import equations
from proofs.search.ideal import Ideal
from proofs.search.raising import NoTerm, size_term
from proofs.search.workbench import Workbench

MAX_TRACES = 6
MAX_WORD = 6


def by_turning(w: Workbench, goal: Term) -> int | None:
    """An equation whose traces are simplified in another of their forms."""
    difference = w.facts.difference(goal)
    if not difference.is_scalar:
        return None
    ideal = equations.known(w, [goal])
    rest, _ = ideal.reduce(difference)
    words = dict.fromkeys(a.word for m, _ in rest.terms for a, _ in m if a.word is not None)
    found = False
    for word in list(words)[:MAX_TRACES]:
        if len(word) <= MAX_WORD and ONE not in [x.rows for x in word]:
            found = _turned(w, ideal, word) or found
    return equations.quick(w, goal) if found else None


def _turned(w: Workbench, ideal: Ideal, word: Word) -> bool:
    """Take what a form of a trace says that the trace itself doesn't."""
    for form in dict.fromkeys(turns(word)):
        value = Poly(form[0].rows, form[-1].cols, {((), form): Fraction(1)})
        try:
            simpler, used = ideal.reduce(value)
            if not used or not ideal.reduce(simpler.trace() - value.trace())[0].terms:
                continue
            one, two = w.raising.poly(value), w.raising.poly(simpler)
            place = w.combine(term("eq", one, two), ideal, used)
        except (NoTerm, TooLarge, StatementError):
            continue
        kind = infer(one, w.facts.scope)
        type_ = "complex_matrix_type" if kind.is_complex else "matrix_type"
        hole = bound(0, term(type_, size_term(kind.rows), size_term(kind.cols)))
        if place is not None and w.congruence(place, term("tr", hole)) is not None:
            return True
    return False
