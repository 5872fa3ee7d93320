"""Untrusted. Proving equations: instances of rules, then a combination of what is known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.algebra import (
    ONE,
    Atom,
    Letter,
    Poly,
    TooLarge,
)
from proofs.checker.definedness import bound_types
from proofs.checker.lowering import L2
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import (
    Term,
    abstract,
    bound,
    instantiate,
    name,
    natural,
    postorder,
    rational,
    term,
)
from proofs.search import (
    blockwise,
    bounds,
    commutative,
    components,
    elementary,
    instances,
    lambert,
    literals,
    logarithms,
    moments,
    quantified,
    scalars,
    softmaxes,
    sums,
)
from proofs.search.alike import FUNCTIONS, by_arguments
from proofs.search.clearing import by_clearing
from proofs.search.ideal import Ideal
from proofs.search.induction import by_induction
from proofs.search.projectors import by_ranges
from proofs.search.pseudo_inverses import by_penrose
from proofs.search.raising import NoTerm, opened, size_term
from proofs.search.rank_equations import by_ranks
from proofs.search.telescoping import by_differences
from proofs.search.towers import by_towers
from proofs.search.turned_traces import by_turning
from proofs.search.workbench import Kept, Workbench

MAX_PAIRS = 3_000
QUICK_PAIRS = 120
MAX_ROUNDS = 3
MAX_STEPS = 40  # of completion on the way
INSIDE = FUNCTIONS | {"kron", "hadamard", "diag"}  # what these are of is simplified

# Heavier symbols are rewritten into lighter ones: a derivative into what it is, say.
WEIGHTS = {
    "cov_given": 60,
    "expect": 90,
    "hadamard": 30,
    "vec": 30,
    "kron": 4,
    "adj": 20,
    "det": 12,
    "lambertw": 3,
    "sqrt": 3,
    "softmax": 40,
    "grad": 200,
    "entry": 2,
    "diag": 8,
    "max": 12,
    "min": 14,
    "logsumexp": 80,
}


def prove(w: Workbench, goal: Term) -> int | None:
    """The place of the equation `goal` as a fact, or None."""
    difference = w.facts.difference(goal)
    if not difference.terms:
        return w.take({"rule": "combine", "goal": w.place(goal), "terms": []})
    if difference.constant is not None:
        found = _absurd(w)
        return quick(w, goal) if found is None else found
    for tactic in TACTICS:
        found = tactic(w, goal)
        if found is not None:
            return found
    return None


def known(w: Workbench, roots: list[Term]) -> Ideal:
    """The ideal of all equations among the facts, with the instances that `roots` call for."""
    instances.gather(w, roots)
    return plain_ideal(w, roots)


def plain_ideal(
    w: Workbench, roots: list[Term] | None = None, without: Term | None = None
) -> Ideal:
    """The ideal of all equations among the facts, save those that speak of the term `without`;
    `roots` are what it is going to reduce."""
    roots = roots or []
    kept = w.ideals.get(without)
    if kept is not None and (kept.state, kept.roots) == (w.state, tuple(roots)) and kept.is_fresh:
        return kept.ideal
    values = [
        (place, w.facts.difference(fact.relation))
        for place, fact in enumerate(w.facts.facts)
        if fact.relation.op == "eq"
        and place not in w.aside
        and (without is None or all(n is not without for n in postorder([fact.relation])))
    ]
    frames = blockwise.partitions(value for _, value in values)
    cuts = tuple(map(str, frames))
    weighed = [w.facts.difference(r) for r in roots if r.args[1:]]
    if kept is not None:
        for value in [*(v for place, v in values if place not in kept.included), *weighed]:
            weigh(w, kept.ideal, value)
    if kept is None or kept.cuts != cuts or not kept.is_fresh:
        kept = w.ideals[without] = Kept(Ideal(w.tick), cuts)
        for value in [*(v for _, v in values), *weighed]:
            weigh(w, kept.ideal, value)
    ideal, included = kept.ideal, kept.included
    for place, value in sorted(values, key=lambda item: blockwise.bulk(item[1])):
        if place in included:
            continue
        included.add(place)
        rows, cols = (frames.get(size, [None, []])[1] for size in (value.rows, value.cols))
        if (rows or cols) and blockwise.is_to_be_cut(value):
            ideal.cut(value, place, rows, cols)
            continue
        modes = ("",) if value.is_scalar or _is_random(value) else ("", "T")
        if value.is_complex:
            modes = (*modes, *{"": ("C",), "T": ("C", "H")}[modes[-1]])
        ideal.add(value, place, modes)
    kept.state, kept.roots = w.state, tuple(roots)
    return ideal


def plainly_combined(w: Workbench, goal: Term) -> int | None:
    """An equation as a combination of the known ones, without completion."""
    ideal = known(w, [goal])
    rest, used = ideal.reduce(w.facts.difference(goal))
    return None if rest.terms else w.combine(goal, ideal, used)


def plainly(w: Workbench, goal: Term, steps: int = 0) -> bool:
    """Whether an equation follows from the known ones with so many steps of completion."""
    try:
        ideal = known(w, [goal])
        for _ in range(steps):
            if not ideal.step():
                break
        return not ideal.reduce(w.facts.difference(goal))[0].terms
    except (TooLarge, StatementError):
        return False


def weigh(w: Workbench, ideal: Ideal, value: Poly) -> None:
    for monomial, word in value.terms:
        scalars = [a for a, _ in monomial]
        letters = [x for a in scalars if a.word for x in a.word]
        for x in (*letters, *word):
            if x.isometry:  # a matrix is rewritten into blocks
                ideal.weigh(x, 0)
            if L2 in (x.rows, x.cols):  # moments are rewritten into parameters
                ideal.weigh(x, 10)
        for symbol in (*letters, *word, *scalars):
            op = symbol.key.split("(", 1)[0].split("^", 1)[0]
            if symbol.key.startswith("1/(1/("):  # heavier than what it is
                ideal.weigh(symbol, 5)
            elif op == "sqrt" and _is_root_of_product(w, symbol):
                ideal.weigh(symbol, 12)
            elif op in elementary.WEIGHED:
                ideal.weigh(symbol, elementary.weight(w, symbol))
            elif op == "pinv":
                ideal.weigh(symbol, _pseudo_inverse_weight(w, symbol))
            elif op == "deriv":
                ideal.weigh(symbol, _derivative_weight(w, symbol))
            elif op == "log":
                ideal.weigh(symbol, logarithms.weight(w, symbol))
            elif op == "inv":
                ideal.weigh(symbol, _inverse_weight(w, symbol))
            elif op in ("sum", "prod"):
                ideal.weigh(symbol, sums.weight(w, symbol))
            elif symbol.key.startswith("1/(1/("):
                ideal.weigh(symbol, 4)  # above what it is the reciprocal's reciprocal of
            elif op == "logpdf":
                ideal.weigh(symbol, _density_weight(w, symbol))
            elif op in WEIGHTS:
                is_random = isinstance(symbol, Letter) and L2 in (symbol.rows, symbol.cols)
                sums_inside = symbol.key.count("+") if op in ("hadamard", "kron") else 0
                weight = WEIGHTS[op] + len(symbol.key) // 40 + 2 * sums_inside
                ideal.weigh(symbol, weight + 40 * is_random)
                node = w.raising.atoms.get(symbol) if isinstance(symbol, Atom) else None
                inside = [] if node is None else postorder([node])
                if any(n.op == "deriv" for n in inside):
                    ideal.weigh(symbol, 80)
                elif node is not None and op == "det" and _is_heavy(w, node.args[0]):
                    ideal.weigh(symbol, 60)
                elif node is not None and _is_diagonal_sum(node):  # heavier than the trace
                    ideal.weigh(symbol, 10 + 3 * len(inside))


def _is_heavy(w: Workbench, a: Term) -> bool:
    """Whether the determinant of a is by rule a product with a power: that of a kron, or of a
    multiple of the identity and something more."""
    if a.op == "kron":
        return True
    terms = w.facts.lowering.lower(a).terms
    multiples = {m: c for (m, word), c in terms.items() if not word}
    return 0 < len(multiples) < len(terms) and multiples != {(): 1}


def _is_root_of_product(w: Workbench, symbol: Atom | Letter) -> bool:
    """Whether a root is to be written by the roots of factors."""
    node = w.raising.atoms.get(symbol) if isinstance(symbol, Atom) else None
    return node is not None and node.op == "sqrt" and node.args[0].op in ("mul", "div")


def _is_diagonal_sum(node: Term) -> bool:
    """Whether a term is a sum of entries A[j, j]."""
    body = node.args[-1]
    if node.op != "sum" or body.op != "entry" or len(body.args) != 3:
        return False
    return body.args[1] is body.args[2]


def _density_weight(w: Workbench, symbol: Atom | Letter) -> int:
    """A density is heavier than the logarithm of a determinant that it is made of."""
    node = w.raising.atoms.get(symbol) if isinstance(symbol, Atom) else None
    return 60 if node is None else 60 + 3 * len(postorder([node])) ** 2


def _inverse_weight(w: Workbench, symbol: Atom | Letter) -> int:
    """The inverse of a product is heavier than the product of the inverses, that of a moment
    heavier than that of what the moment is."""
    node = w.raising.letters.get(symbol) if isinstance(symbol, Letter) else None
    if node is not None and moments.of_moments(node):
        return 60
    if ("rank one", node) in w.instanced:  # an update that is to be written out
        return 4 * len(postorder([node])) if node is not None else 1
    if node is not None and node.op == "inv" and node.args[0].op == "eye":
        return 3  # above a dimension, the trace of the identity
    if node is None or node.op != "inv" or node.args[0].op not in ("mul", "transpose", "inv"):
        return 1
    return 2 * len(postorder([node]))


def _derivative_weight(w: Workbench, symbol: Atom | Letter) -> int:
    """A derivative is heavier than those of the parts of what it differentiates."""
    node = (
        w.raising.atoms.get(symbol) if isinstance(symbol, Atom) else w.raising.letters.get(symbol)
    )
    if node is None:
        return 40
    inside = postorder([node.args[0]])
    order = 2 * natural(node) + sum(natural(n) for n in inside if n.op == "deriv")
    scalar = 10 if isinstance(symbol, Atom) else 0  # above what is inside a trace
    return 40 * (len(inside) + 40 * (order - 2) + scalar)


def _pseudo_inverse_weight(w: Workbench, symbol: Atom | Letter) -> int:
    """A pseudo-inverse of an expression is rewritten into those of names."""
    if not isinstance(symbol, Letter):
        return 1
    node = w.raising.letters.get(symbol.T if symbol.transposed else symbol)
    is_vector = ONE in (symbol.rows, symbol.cols)
    return 6 if is_vector or (node is not None and node.args[0].op != "name") else 1


def _is_random(value: Poly) -> bool:
    """Whether an equation is between random vectors and may be left as it stands; what a Gaussian
    vector is given others stands on both sides of covariances."""
    letters = [x for _, word in value.terms for x in word]
    return value.cols == L2 and all("e(Y:" not in x.key for x in letters)


def quick(w: Workbench, goal: Term) -> int | None:
    return _combination(w, goal, QUICK_PAIRS)


def _differentiated(w: Workbench, goal: Term) -> int | None:
    """A goal that is what the rules for derivatives say, before anything else is looked at."""
    for root in goal.args:
        w.learn(root)
    if not instances.differentiate(w, [goal]):
        return None
    ideal = plain_ideal(w, [goal])
    rest, used = ideal.reduce(w.facts.difference(goal))
    return None if rest.terms else w.combine(goal, ideal, used)


def _by_entries(w: Workbench, goal: Term) -> int | None:
    """A goal about matrices of small literal sizes, each of them written out by its entries."""
    words = [word for _, word in w.facts.difference(goal).terms]
    return quick(w, goal) if literals.written_out(w, words) else None


def _thorough(w: Workbench, goal: Term) -> int | None:
    """What a person asked for gets all the time there is, a step on the way doesn't."""
    return _combination(w, goal, MAX_PAIRS) if goal is w.statement.goal else None


def _combination(w: Workbench, goal: Term, pairs: int) -> int | None:
    """The goal as a combination of known equations, completed by so many pairs."""
    ideal = known(w, [goal])
    difference = w.facts.difference(goal)
    frames = blockwise.partitions(
        w.facts.difference(f.relation) for f in w.facts.facts if f.relation.op == "eq"
    )
    for tried in range(pairs):
        rest, used = blockwise.reduced(ideal, difference, frames)
        if not rest.terms:
            return w.combine(goal, ideal, used)
        if not tried and commutative.covers(ideal, difference):  # and has failed, much faster
            return None
        size = len(ideal.relations)
        while len(ideal.relations) == size:
            if not ideal.step():
                return None
    return None


def _by_sums(w: Workbench, goal: Term) -> int | None:
    """Take into the sums of a goal, once it is reduced, what stands beside them."""
    for _ in range(MAX_ROUNDS):
        size = len(w.facts.facts)
        rest, _ = known(w, [goal]).reduce(w.facts.difference(goal))
        sums.absorb(w, rest)
        sums.merge_powers(w, rest)
        if len(w.facts.facts) == size:
            return None
        found = quick(w, goal)
        if found is not None:
            return found
    return None


def _by_arguments(w: Workbench, goal: Term) -> int | None:
    """Simplify what stands inside functions and sums by the known equations, then combine."""
    _join_determinants(w, goal)
    for _ in range(MAX_ROUNDS):
        changed = False
        for node in postorder([*goal.args, *_left_over(w, goal)]):
            key = ("inside", id(node))
            if node.free or key in w.failed:
                continue
            if node.op in INSIDE:
                w.failed.add(key)
                changed = simplify_argument(w, node) or changed
            elif node.op in ("sum", "prod"):
                w.failed.add(key)
                changed = _simplify_terms(w, node) or changed
        if not changed:
            return None
        found = quick(w, goal)
        if found is not None:
            return found
    return None


def _join_determinants(w: Workbench, goal: Term) -> None:
    """det(A)*det(B) as the determinant of what A*B is by the known equations."""
    for monomial, _ in w.facts.difference(goal).terms:
        nodes = [w.raising.atoms.get(a) for a, n in monomial if n == 1]
        inside = [n.args[0] for n in nodes if n is not None and n.op == "det"]
        for i, one in enumerate(inside):
            for two in inside[:i]:
                key = ("joined", id(one), id(two))
                if w.size(one) is w.size(two) and key not in w.instanced:
                    w.instanced.add(key)
                    product = term("mul", two, one)
                    w.schema("det_product", n=w.size(one), A=two, B=one)
                    w.learn(product)
                    simplify_argument(w, term("det", product))


def _left_over(w: Workbench, goal: Term) -> list[Term]:
    """The terms of the scalars and matrices that the known equations leave of a goal."""
    ideal = known(w, [goal])
    for _ in range(5 * MAX_STEPS):
        if not ideal.step():
            break
    rest, _ = ideal.reduce(w.facts.difference(goal))
    scalars = {a: None for m, _ in rest.terms for a, _ in m}
    letters = {x.T if x.transposed else x: None for _, word in rest.terms for x in word}
    letters |= {x: None for a in scalars if a.word for x in a.word if not x.transposed}
    nodes = [w.raising.atoms.get(a) for a in scalars] + [w.raising.letters.get(x) for x in letters]
    return [n for n in nodes if n is not None]


def _absurd(w: Workbench) -> int | None:
    """1 = 0, where two inequalities among the facts exclude each other."""
    bounds = []
    for place, fact in enumerate(w.facts.facts):
        if fact.relation.op in ("gt", "ge", "lt", "le"):
            sides = fact.relation.args
            up = fact.relation.op in ("gt", "ge")
            value = w.facts.lowering.lower(term("sub", *(sides if up else sides[::-1])))
            bounds.append((place, fact.relation.op in ("gt", "lt"), value))
    zero = rational(0)
    for i, (one, strict, value) in enumerate(bounds):
        for two, also_strict, other in bounds[i:]:
            if value.rows != other.rows:
                continue
            gap = (value + other).constant
            if gap is None or gap > 0 or (gap == 0 and not (strict or also_strict)):
                continue
            terms = [["1", [one], None], ["1", [two], None]]
            if gap < 0:
                terms.append([str(-gap), [], None])
            goal = term("gt", zero, zero)
            if w.positive(goal, terms) is not None:
                return w.schema("irreflexive", x=zero)
    return None


def _inverse(w: Workbench, goal: Term) -> int | None:
    """inv(a) = y from a*y = identity."""
    for side, y in (goal.args, goal.args[::-1]):
        if side.op == "inv" and not infer(side, w.facts.scope).is_scalar:
            found = literals.inverse_is(w, side.args[0], y)
            if found is not None:
                return found
    return None


def _with_more(w: Workbench, goal: Term) -> int | None:
    """With the inverses of what is known to be invertible, and what is known on kernels."""
    size = len(w.facts.facts)
    for fact in list(w.facts.facts):
        if fact.relation.op == "forall" and w.depth == 0:
            quantified.on_a_kernel(w, fact.relation)
            quantified.coefficients(w, fact.relation)
    for fact in list(w.facts.facts):
        a = fact.relation.args[0]
        if fact.relation.op == "invertible" and not infer(a, w.facts.scope).is_scalar:
            w.schema("inv_left", n=w.size(a), A=a)
            w.schema("inv_right", n=w.size(a), A=a)
    return quick(w, goal) if len(w.facts.facts) > size else None


def _antisymmetric(w: Workbench, goal: Term) -> int | None:
    """a = b from a <= b and b <= a, where both are known."""
    a, b = goal.args
    if infer(a, w.facts.scope).is_scalar:
        if any(w.find(term("le", *sides)) is None for sides in ((a, b), (b, a))):
            return None
        return w.schema("antisymmetric", x=a, y=b)
    below, above = (w.find(_semidefinite(*sides)) for sides in ((b, a), (a, b)))
    if below is None and above is None:
        return None
    for missing, sides in ((below, (b, a)), (above, (a, b))):  # of a longer chain, say
        if missing is None and w.attempt(_semidefinite(*sides)) is None:
            return None
    place = w.schema("semidefinite_opposite", n=w.size(a), A=term("sub", b, a))
    return None if place is None else quick(w, goal)


def _semidefinite(a: Term, b: Term) -> Term:
    return term("positive_semidefinite", term("sub", a, b))


def negated(used: list[Any]) -> list[Any]:
    """The parts of a combination with the other sign."""
    return [Ideal.scaled(t, Fraction(-1)) for t in used]


def simplify_argument(w: Workbench, node: Term) -> bool:
    """Rewrite the arguments of a function by the known equations, one after the other."""
    changed = False
    for place, argument in enumerate(node.args):
        kind = infer(argument, w.facts.scope)
        try:
            ideal = known(w, [term("eq", argument, argument)])
            rest, used = ideal.reduce(w.facts.lowering.lower(argument))
            if not used:
                continue
            simpler = w.raising.poly(rest)
            if node in postorder([simpler]):
                continue
            equal = w.combine(term("eq", argument, simpler), ideal, used)
        except (NoTerm, TooLarge, StatementError):
            continue
        hole = bound(0, term("matrix_type", size_term(kind.rows), size_term(kind.cols)))
        args = (*node.args[:place], hole, *node.args[place + 1 :])
        if equal is not None and w.congruence(equal, term(node.op, *args)) is not None:
            changed = True
            node = term(node.op, *node.args[:place], simpler, *node.args[place + 1 :])
    return changed


def _simplify_terms(w: Workbench, node: Term) -> bool:
    """Rewrite the terms of a sum or product over 1..n for a fresh index."""
    low, high, body = node.args
    body = opened(body)
    (type_,) = bound_types(body, 1)
    if low is not rational(1) or type_ is None:
        return False
    names = w.fresh(1)
    try:
        with w.inside(names, (type_,)) as inner:
            term_ = instantiate(body, (name(names[0]),))
            ideal = known(inner, [term("eq", term_, term_)])
            for _ in range(MAX_STEPS):
                if not ideal.step():
                    break
            rest, used = ideal.reduce(inner.facts.lowering.lower(term_))
            if not used:
                return False
            simpler = abstract(inner.raising.poly(rest), names, (type_,))
    except (NoTerm, TooLarge, StatementError):
        return False
    x, y = (term("comprehension", high, b) for b in (body, simpler))
    rule = "sum_equal" if node.op == "sum" else "product_equal"
    return w.schema(rule, n=high, x=x, y=y) is not None


# ---------------------------------------------------------------- sums


def _by_two_bounds(w: Workbench, goal: Term) -> int | None:
    """An equation with the largest or smallest entry of a vector, from both inequalities."""
    nodes = [n for n in postorder([goal]) if n.op in softmaxes.EXTREME and not n.free]
    if goal is not w.statement.goal or not any(softmaxes.is_vector(w, n) for n in nodes):
        return None
    a, b = goal.args
    for one, two in ((a, b), (b, a)):
        wanted = term("le", one, two)
        place = w.attempt(wanted)
        if place is None:
            return None
        w.stated(wanted, place)
    return w.schema("antisymmetric", x=a, y=b)


def _sum_by_terms(w: Workbench, goal: Term) -> int | None:
    """Two sums over the same range, shown equal term by term."""
    left, right = goal.args
    if left.op != right.op or left.op not in ("sum", "prod") or left.args[:2] != right.args[:2]:
        return None
    if left.args[0].data != "1":
        return None
    high = left.args[1]
    x, y = (term("comprehension", high, s.args[2]) for s in (left, right))
    rule = "sum_equal" if left.op == "sum" else "product_equal"
    return w.schema(rule, n=high, x=x, y=y)


TACTICS = (
    by_towers,
    _inverse,
    by_penrose,
    _differentiated,
    literals.traces_by_entries,
    commutative.by_ideal,
    by_clearing,
    quick,
    by_ranges,
    by_arguments,
    by_turning,
    _by_sums,
    lambert.by_uniqueness,
    logarithms.by_logarithms,
    _by_arguments,
    _sum_by_terms,
    components.by_entries,
    components.by_entries_inside,
    components.by_terms_inside,
    _by_two_bounds,
    _antisymmetric,
    _by_entries,
    _with_more,
    scalars.without_divisors,
    scalars.by_cases,
    by_differences,
    by_induction,
    by_ranks,
    bounds.by_norm,
    _thorough,
)
