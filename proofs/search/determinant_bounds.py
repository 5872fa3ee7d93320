"""Untrusted. Inequalities between determinants: those that have a name, and what follows at once.

Hadamard's, Fischer's, Oppenheim's and Minkowski's inequalities, the mean of the eigenvalues, the
tangents of the logarithm of a determinant, and the order of semidefinite matrices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import combinations, permutations

from proofs.checker.algebra import Atom, Monomial, Poly, TooLarge, Word
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import equations, order, scalars, signs
from proofs.search.linear import combination
from proofs.search.raising import NoTerm
from proofs.search.workbench import ARITHMETIC, Stuck, Workbench

MAX_MATRICES = 6  # whose determinants are compared
MAX_SUMMANDS = 4
ONE = rational(1)


def gather(w: Workbench, relation: Term) -> bool:
    """Take the inequalities that the determinants in one call for; whether there are any."""
    nodes = [n for n in postorder([relation]) if not n.free]
    if relation.args[0].op == "det" and relation.args[1] is ZERO:
        return False
    inside = list(dict.fromkeys(n.args[0] for n in nodes if n.op == "det"))[:MAX_MATRICES]
    inside = [a for a in inside if not infer(a, w.facts.scope).is_complex]
    if not inside:
        return False
    size = len(w.facts.facts)
    ops = {n.op for n in postorder([relation])}
    beside = inside
    if any(not m and not word for m, word in w.facts.difference(relation).terms):  # det(I) = 1
        beside = [*inside, *dict.fromkeys(term("eye", w.size(a)) for a in inside)]
    for a, b in permutations(beside, 2):
        if w.size(a) is w.size(b):
            w.schema("order_det", n=w.size(a), A=a, B=b)
    for a in inside:
        _of_one(w, a, relation, ops)
    _of_sums(w, inside, relation, ops)
    if "log" in ops:
        _tangents(w, nodes)
    new = range(size, len(w.facts.facts))
    for place in new:
        relation = w.facts.facts[place].relation
        if relation.op == "le" and not order.is_loewner(w, relation):
            scalars.reduced(w, place)
    return bool(new)


def _of_one(w: Workbench, a: Term, relation: Term, ops: set[str]) -> None:
    """Bounds of one determinant by the entries, the blocks or the trace of its matrix."""
    n = w.size(a)
    if a.op == "block" and a.data == (2, 2):
        s, c, _, r = a.args
        w.schema("det_fischer", n=w.size(s), k=w.size(r), S=s, C=c, R=r)
    if a.op == "hadamard":
        for x, y in (a.args, a.args[::-1]):
            w.schema("det_oppenheim", n=n, A=x, B=y)
            w.schema("det_hadamard", n=n, A=y)
    if ops & {"prod", "entry", "hadamard"}:
        w.schema("det_hadamard", n=n, A=a)
        if "prod" in ops:
            _of_rows(w, a, relation)
    if "tr" in ops:
        place = w.schema("det_mean", n=n, A=a)
        if place is not None:
            mean = term("pow", term("div", term("tr", a), n), n)
            known = term("le", term("det", a), mean)
            place = w.stated(known, place)
            _roots(w, known, relation)
            if "pow" in ops:
                _without_quotient(w, known, place, n)


def _of_rows(w: Workbench, a: Term, relation: Term) -> None:
    """Hadamard's inequality for a matrix that isn't semidefinite, by its Gram matrices."""
    n, turned = w.size(a), term("transpose", a)
    products = [x for x in postorder([relation]) if x.op == "prod" and not x.free]
    for gram in (term("mul", turned, a), term("mul", a, turned)):
        place = w.schema("det_hadamard", n=n, A=gram)
        if place is None:
            continue
        w.schema("det_product", n=n, A=gram.args[0], B=gram.args[1])
        w.schema("det_transpose", n=n, A=a)
        whole = w.facts.facts[place].relation.args[1]
        if any(w.attempt(term("eq", whole, x)) is not None for x in products):
            return


def _roots(w: Workbench, known: Term, relation: Term) -> None:
    """x^p <= y^p from x <= y, for the powers of x in a relation."""
    x, y = known.args
    for node in postorder([relation]):
        if node.op == "pow" and not node.free and node.args[0] is x:
            p = node.args[1]
            if w.schema("real_power_monotone", x=x, y=y, p=p) is None:
                continue
            power = term("pow", y, p)
            if y.op == "pow":
                w.attempt(term("eq", power, y.args[0]))


def _without_quotient(w: Workbench, known: Term, place: int, n: Term) -> None:
    """n^n*x <= y^n from x <= (y/n)^n."""
    x, mean = known.args
    power = term("pow", n, n)
    whole = term("eq", term("mul", power, mean), term("pow", mean.args[0].args[0], n))
    goal, sign = term("le", term("mul", power, x), whole.args[1]), term("gt", power, ZERO)
    with suppress(Stuck):
        above, equal = (w.stated(r, w.establish(r)) for r in (sign, whole))
        w.positive(goal, [["1", [above, place], None]], [[w.place(rational(-1)), equal, None, ""]])


# ---------------------------------------------------------------- sums of semidefinite matrices


def _of_sums(w: Workbench, inside: list[Term], relation: Term, ops: set[str]) -> None:
    """Bounds of the determinant of a sum by those of its parts."""
    whole = max(inside, key=lambda a: len(_summands(a)))
    parts = _summands(whole)
    if not 2 <= len(parts) <= MAX_SUMMANDS or not all(_is_semidefinite(w, a) for a in parts):
        return
    for a, b, c in combinations(parts, 3):
        w.schema("det_three_summands", n=w.size(a), A=a, B=b, C=c)
    pairs = list(combinations(parts, 2))
    if len(parts) > 2:
        pairs += [(_total(parts[:i] + parts[i + 1 :]), b) for i, b in enumerate(parts)]
    if "pow" in ops:
        for a, b in pairs:
            w.schema("det_minkowski", n=w.size(a), A=a, B=b)
    for a, b in _needed(w, relation, pairs):
        _superadditive(w, a, b)


def _needed(
    w: Workbench, relation: Term, pairs: list[tuple[Term, Term]]
) -> list[tuple[Term, Term]]:
    """The pairs for which det(a) + det(b) <= det(a + b) helps: only those are worth a proof."""
    goals = [_superadditivity(a, b) for a, b in pairs]
    ideal = equations.known(w, [relation, *goals])
    excess = [signs.excess_of(w, r) for r in [*(f.relation for f in w.facts.facts), *goals]]
    columns = [ideal.reduce(v)[0].terms for v in excess if v is not None and len(v.terms) > 1]
    found = combination(columns, ideal.reduce(w.facts.difference(relation))[0].terms) or {}
    first = len(columns) - len(pairs)
    return [pairs[i - first] for i in found if i >= first]


def _summands(a: Term) -> list[Term]:
    if a.op != "add":
        return [a]
    return [x for part in a.args for x in _summands(part)]


def _total(parts: list[Term]) -> Term:
    whole = parts[0]
    for part in parts[1:]:
        whole = term("add", whole, part)
    return whole


def _is_semidefinite(w: Workbench, a: Term) -> bool:
    return w.attempt(term("positive_semidefinite", a)) is not None


def _superadditivity(a: Term, b: Term) -> Term:
    one, two, whole = (term("det", x) for x in (a, b, term("add", a, b)))
    return term("le", term("add", one, two), whole)


def _superadditive(w: Workbench, a: Term, b: Term) -> int | None:
    """det(a) + det(b) <= det(a + b): by Minkowski's inequality, where both are positive."""
    n, whole = w.size(a), term("add", a, b)
    dets = [term("det", x) for x in (a, b, whole)]
    goal = _superadditivity(a, b)
    if (found := w.find(goal)) is not None:
        return found
    for x in (a, b):
        w.schema("order_det", n=n, A=x, B=whole)
    return _where_positive(w, dets, dets[:2], goal)


def _where_positive(w: Workbench, dets: list[Term], open_: list[Term], goal: Term) -> int | None:
    """The inequality by cases: where a determinant isn't positive, the sum is above the other."""
    w.learn(goal)
    if not open_:
        return _by_minkowski(w, dets, goal)
    x, *others = open_
    other = next(d for d in dets if d is not x)
    branches = []
    try:
        for op in ("lt", "eq", "gt"):
            with w.inside((), (), (term(op, x, ZERO),)) as inner:
                inner.failed.clear()  # more is known here
                if op == "gt":
                    place = _where_positive(inner, dets, others, goal)
                else:  # det(a) <= 0 and det(b) <= det(a + b)
                    known = inner.find(term("le", other, dets[2]))
                    given = inner.find(term(op, x, ZERO))
                    terms = [["1", [p], None] for p in ((known, given) if op == "lt" else (known,))]
                    rows = [[w.place(rational(-1)), given, None, ""]] if op == "eq" else []
                    place = inner.positive(goal, terms, rows)
                if place is None:
                    return None
                inner.stated(goal, place)
                branches.append(inner.steps)
    except (Stuck, NotDefined):
        return None
    step = {"rule": "cases", "of": w.place(x), "goal": w.place(goal)}
    return w.take({**step, "branches": branches})


def _by_minkowski(w: Workbench, dets: list[Term], goal: Term) -> int | None:
    """x^n + y^n <= (x + y)^n <= z^n, for the roots x + y <= z of the determinants."""
    a, b, whole = (d.args[0] for d in dets)
    n = w.size(a)
    for m in (a, b):
        w.schema("unit_det", n=n, A=m)
        w.schema("semidefinite_unit", n=n, A=m)
    w.schema("det_definite", n=n, A=whole)
    if w.schema("det_minkowski", n=n, A=a, B=b) is None:
        return None
    x, y, z = (term("pow", d, term("div", ONE, n)) for d in dets)
    one = w.schema("power_superadditive", p=n, x=x, y=y)
    two = w.schema("power_monotone", p=n, x=term("add", x, y), y=z)
    powers = [
        w.attempt(term("eq", term("pow", r, n), d)) for r, d in zip((x, y, z), dets, strict=True)
    ]
    if one is None or two is None or None in powers:
        return None
    ideal = equations.known(w, [goal])
    gap = w.facts.difference(goal)
    gap = -gap if goal.op == "le" else gap
    excess = [signs.excess_of(w, w.facts.facts[p].relation) for p in (one, two)]
    for value in excess:
        gap = gap if value is None else gap - value
    with suppress(NoTerm, TooLarge, Stuck, StatementError):
        return w.closed(goal, [["1", [one], None], ["1", [two], None]], gap, ideal)
    return None


# ---------------------------------------------------------------- logarithms of determinants


def _tangents(w: Workbench, nodes: Iterable[Term]) -> None:
    """log(det(a)) <= log(det(b)) + tr(inv(b)*a) - n for the logarithms in sight, and for b = I."""
    logs = [n.args[0] for n in nodes if n.op == "log" and n.args[0].op == "det"]
    known = [d.args[0] for d in dict.fromkeys(logs)][:MAX_MATRICES]
    for a in known:
        n = w.size(a)
        one = term("eye", n)
        pairs = [(a, b) for b in (*known, one) if a is not b and w.size(b) is n]
        for x, y in (*pairs, (one, a)):
            w.schema("log_det_tangent", n=n, A=x, B=y)
        w.attempt(term("eq", term("log", term("det", one)), ZERO))
        w.attempt(term("eq", term("inv", one), one))


def concave(w: Workbench, relation: Term) -> int | None:
    """sum c*log(det(A)) <= log(det(M)) + ..., by the tangents at M, each times its weight."""
    difference = w.facts.difference(relation)
    logs = dict(_logarithms(w, difference))
    for top, factor in logs.items():
        if factor.constant != 1 or len(logs) < 2:
            continue
        m = w.raising.atoms[top].args[0].args[0]
        terms, gap = [], difference
        for a, weight in logs.items():
            if a is top:
                continue
            node = w.raising.atoms[a].args[0].args[0]
            sign = _not_negative(w, -weight)
            place = w.schema("log_det_tangent", n=w.size(m), A=node, B=m)
            excess = None if place is None else signs.excess_of(w, w.facts.facts[place].relation)
            if sign is None or excess is None:
                break
            terms.append(["1", [place] if sign == ARITHMETIC else [sign, place], None])
            gap = gap + weight * excess
        else:
            w.schema("inv_left", n=w.size(m), A=m)
            ideal = equations.known(w, [relation])
            for steps in (0, 40):
                for _ in range(steps):
                    if not ideal.step():
                        break
                with suppress(NoTerm, TooLarge, Stuck, StatementError):
                    found = w.closed(relation, terms, gap, ideal)
                    if found is not None:
                        return found
    return None


def _logarithms(w: Workbench, value: Poly) -> Iterator[tuple[Atom, Poly]]:
    """The logarithms of determinants in a number, with what they are multiplied by."""
    found: dict[Atom, dict[tuple[Monomial, Word], Fraction]] = {}
    for (monomial, word), c in value.terms.items():
        for a, power in monomial:
            node = w.raising.atoms.get(a)
            if node is not None and node.op == "log" and node.args[0].op == "det" and power == 1:
                rest = tuple(p for p in monomial if p[0] is not a)
                found.setdefault(a, {})[rest, word] = c
    for a, terms in found.items():
        yield a, Poly(value.rows, value.cols, terms)


def _not_negative(w: Workbench, value: Poly) -> int | None:
    try:
        goal = term("ge", w.raising.poly(value), ZERO)
        return w.stated(goal, w.establish(goal))
    except (NoTerm, Stuck, StatementError):
        return None
