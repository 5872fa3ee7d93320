"""Untrusted. Instances for the softmax, logsumexp, largest and smallest entry of a vector.

A softmax is known by its entries, logsumexp by its definition, a minimum as a maximum.
"""

from __future__ import annotations

from proofs.checker.algebra import ONE, Poly, TooLarge, Word, identity
from proofs.checker.lowering import L2
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, bound, rational, term
from proofs.search.ideal import divide
from proofs.search.raising import NoTerm
from proofs.search.workbench import Workbench

EXTREME = frozenset({"max", "min"})


def is_vector(w: Workbench, node: Term) -> bool:
    """Whether a node is the largest or smallest entry of one vector."""
    if node.op not in EXTREME or len(node.args) != 1:
        return False
    return not infer(node.args[0], w.facts.scope).is_scalar


def smallest(w: Workbench, node: Term) -> None:
    """The smallest entry as the largest of the opposites."""
    if node.op == "min" and is_vector(w, node):
        w.schema("min_opposite", n=w.size(node.args[0]), x=node.args[0])


def log_sum(w: Workbench, node: Term) -> None:
    """logsumexp by its definition."""
    w.schema("logsumexp_says", n=w.size(node.args[0]), x=node.args[0])


def softmax_entry(w: Workbench, vector: Term, j: Term) -> None:
    """s[j]*Z = exp(x[j]), and s[j] = exp(x[j])/Z."""
    n, x = w.size(vector), vector.args[0]
    place = w.schema("softmax_entry", n=n, x=x, j=j)
    if place is None:
        return
    product, power = w.facts.facts[place].relation.args
    entry, total = product.args
    unit = w.schema("reciprocal", x=total)
    if unit is None:
        return
    reciprocal = term("div", rational(1), total)
    goal = term("eq", entry, term("mul", power, reciprocal))
    # s - e/Z = (s*Z - e)/Z - s*(Z/Z - 1)
    rows = [
        [w.place(reciprocal), place, None, ""],
        [w.place(term("neg", entry)), unit, None, ""],
    ]
    w.take({"rule": "combine", "goal": w.place(goal), "terms": rows})


def gather(w: Workbench, roots: list[Term]) -> None:
    """The entries of the softmaxes, vectors by comprehension and diagonal matrices that stand in
    the words of a goal."""
    for root in roots:
        if root.op not in ("eq", "le", "ge", "lt", "gt"):
            continue
        try:
            value = w.facts.difference(root)
        except (TooLarge, StatementError):
            continue
        words = {a.word: None for m, _ in value.terms for a, _ in m if a.word}
        for word in words:
            if len(word) < 2 or any(L2 in (x.rows, x.cols) for x in word):
                continue
            for x, y in ((word[:1], word[1:]), (word[:-1], word[-1:])):
                if x[0].rows != ONE or y[-1].cols != ONE or x[-1].cols == ONE:
                    continue
                try:
                    left = w.raising.word(tuple(a.T for a in reversed(x)))
                    right = w.raising.word(y)
                except NoTerm:
                    continue
                ops = {left.op, right.op}
                if ops & {"softmax", "comprehension"} and "unit" not in ops:
                    w.schema("inner_entries", n=w.size(left), x=left, y=right)
            _diagonal(w, word)


def _diagonal(w: Workbench, word: Word) -> None:
    """x.T*diag(y)*z as a sum."""
    if len(word) != 3 or word[0].rows != ONE or word[-1].cols != ONE:
        return
    try:
        x, d, z = w.raising.letter(word[0].T), w.raising.letter(word[1]), w.raising.letter(word[2])
    except NoTerm:
        return
    if d.op == "diag":
        w.schema("diagonal_form", n=w.size(x), x=x, y=d.args[0], z=z)


def without_ones(w: Workbench, node: Term) -> bool:
    """Rewrite ones(n, 1)[j] = 1 in the argument of an exponential; whether it occurs there."""
    argument = node.args[0]
    value = w.facts.lowering.lower(argument)
    simpler, rows = value, list[list[object]]()
    for a in dict.fromkeys(a for m, _ in value.terms for a, _ in m):
        if a.word is None or len(a.word) != 2 or not any("$ones" in x.key for x in a.word):
            continue
        entry = w.raising.atoms.get(a)
        if entry is None or entry.op != "entry" or entry.args[0].op != "ones":
            continue
        place = w.schema("ones_entry", n=entry.args[0].args[0], j=entry.args[1])
        factor = {
            (divide(m, ((a, 1),)) or (), word): c
            for (m, word), c in simpler.terms.items()
            if dict(m).get(a) == 1
        }
        if place is None or not factor:
            continue
        times = Poly(ONE, ONE, factor)
        simpler = simpler - times * (w.facts.lowering.lower(entry) - identity(ONE))
        rows.append([w.place(w.raising.poly(times)), place, None, ""])
    if not rows:
        return False
    goal = term("eq", argument, w.raising.poly(simpler))
    place = w.take({"rule": "combine", "goal": w.place(goal), "terms": rows})
    context = term("exp", bound(0, term("real_type")))
    return place is not None and w.congruence(place, context) is not None
