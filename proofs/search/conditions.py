"""Untrusted. Establishing relations: signs of scalars, invertibility, definiteness, quantifiers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.algebra import ONE, Atom, Poly, TooLarge, multiply
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, instantiate, name, pair, rational, term
from proofs.search import equations
from proofs.search.ideal import divide
from proofs.search.raising import NoTerm, factors_of, opened, product_of, size_term
from proofs.search.units import pushed_through
from proofs.search.workbench import ARITHMETIC, Stuck, Workbench

MAX_REPAIRS = 6
MAX_PAIRS = 60  # completion steps on the way to a sign


def establish(w: Workbench, relation: Term) -> int:
    """The place of a fact that gives `relation`, or ARITHMETIC.

    Raises:
        Stuck: nothing that this search knows shows it.
    """
    found = w.find(relation)
    if found is not None:
        return found
    try:
        key = w.facts.key(relation)
        if key in w.failed:
            raise Stuck(relation)
        w.failed.add(key)  # also while it is under way, so that no search runs in a circle
        w.learn(relation)
        w.define(relation)
        place = from_quantified(w, relation) if relation.op in ("gt", "ge", "ne", "eq") else None
        if place is None:
            place = _dispatch(w, relation)
    except (TooLarge, StatementError, NoTerm, NotDefined):
        raise Stuck(relation) from None
    if place is None:
        raise Stuck(relation)
    w.failed.discard(key)
    return place


def attempt(w: Workbench, relation: Term) -> int | None:
    """Like `establish`, with None for a failure."""
    try:
        return establish(w, relation)
    except Stuck:
        return None


def _dispatch(w: Workbench, relation: Term) -> int | None:
    op = relation.op
    if op in ("lt", "le"):
        return _sign(w, term("gt" if op == "lt" else "ge", *reversed(relation.args)))
    if op in ("gt", "ge"):
        return _sign(w, relation)
    if op == "eq":
        return equations.prove(w, relation)
    if op == "ne":
        return _nonzero(w, relation)
    if op == "forall":
        return _for_all(w, relation)
    method = PROPERTIES.get(op)
    return method(w, relation.args[0]) if method else None


# ---------------------------------------------------------------- signs


def _sign(w: Workbench, relation: Term) -> int | None:
    """left > right or left >= right, from the signs of the monomials of the difference."""
    difference = w.facts.difference(relation)
    if not difference.is_scalar:
        return None
    terms = _nonnegative(w, difference, relation.op == "gt")
    rows: list[Any] = []
    if terms is None:
        found = _reduced_sign(w, relation, difference)
        if found is None:
            return None
        terms, rows = found
    return w.take(
        {"rule": "positive", "goal": w.place(relation), "terms": terms, "equations": rows}
    )


def _reduced_sign(w: Workbench, relation: Term, difference: Poly) -> tuple[Any, Any] | None:
    """The signs of what a difference is equal to by the known equations."""
    ideal = equations.known(w, [relation])
    tried = difference.key
    for _ in range(MAX_PAIRS):
        reduced, used = ideal.reduce(difference)
        if reduced.key != tried:
            tried = reduced.key
            terms = _nonnegative(w, reduced, relation.op == "gt")
            if terms is not None:
                return terms, [w.row(t) for t in used]
        if not ideal.step():
            return None
    return None


def _nonnegative(w: Workbench, value: Poly, strict: bool) -> list[Any] | None:
    """Terms of a `positive` step that add up to `value`."""
    terms: list[Any] = []
    sure = False
    for _ in range(MAX_REPAIRS):
        negative = [
            (m, c) for (m, _), c in value.terms.items() if c < 0 and _monomial(w, m, -c) is not None
        ]
        negative += [(m, c) for (m, _), c in value.terms.items() if _monomial(w, m, c) is None]
        if not negative:
            break
        repair = _repair(w, value, negative)
        if repair is None:
            return None
        row, value, is_strict = repair
        terms.append(row)
        sure = sure or is_strict
    else:
        return None
    for (monomial, _), coefficient in value.terms.items():
        row = _monomial(w, monomial, coefficient)
        if row is None:
            return None
        terms.append(row)
        sure = sure or (
            row[2] is None
            and all(p == ARITHMETIC or w.facts.facts[p].relation.op in ("gt", "lt") for p in row[1])
        )
    return terms if sure or not strict else None


def _repair(w: Workbench, value: Poly, negative: list[Any]) -> tuple[Any, Poly, bool] | None:
    """Take off a multiple of a known inequality that accounts for a bad monomial."""
    for place, fact in enumerate(w.facts.facts):
        op = fact.relation.op
        if op not in ("gt", "ge", "lt", "le"):
            continue
        sides = fact.relation.args if op in ("gt", "ge") else tuple(reversed(fact.relation.args))
        excess = w.facts.lowering.lower(term("sub", *sides))
        if not excess.is_scalar or len(excess.terms) < 2:
            continue
        for monomial, coefficient in negative:
            for (m, _), c in excess.terms.items():
                rest = divide(monomial, m)
                if rest is None or (c < 0) != (coefficient < 0):
                    continue
                factor = coefficient / c
                row = _monomial(w, rest, factor)
                if row is None or row[2] is not None:
                    continue
                multiple = Poly(ONE, ONE, {(rest, ()): factor}) * excess
                strict = op in ("gt", "lt") and all(
                    w.facts.facts[p].relation.op in ("gt", "lt") for p in row[1]
                )
                return [row[0], [*row[1], place], None], value - multiple, strict
    return None


def _monomial(w: Workbench, monomial: Any, coefficient: Fraction) -> list[Any] | None:
    """coefficient*monomial >= 0 as a row `[coefficient, facts, square]`."""
    if coefficient < 0:
        return None
    facts: list[int] = []
    root: Any = ()
    for a, power in monomial:
        known = _atom_sign(w, a)
        if known is not None:
            facts += [known] * power
        elif power % 2 == 0 and (square := _square_sign(w, a)) is not None:
            facts += [square] * (power // 2)
        elif power % 2 == 0 and not a.is_complex:
            root = multiply(root, ((a, power // 2),))[1]
        else:
            return None
    square = None
    if root:
        try:
            square = w.place(w.raising.poly(Poly(ONE, ONE, {(root, ()): Fraction(1)})))
        except NoTerm:
            return None
    return [str(coefficient), facts, square]


def _atom_sign(w: Workbench, a: Atom) -> int | None:
    """The place of a fact a > 0 or a >= 0."""
    if a.is_complex:
        return None
    try:
        node = w.raising.scalar(a)
    except NoTerm:
        return None
    for op in ("gt", "ge"):
        relation = term(op, node, ZERO)
        found = w.find(relation)
        if found is not None and found != ARITHMETIC:
            return w.stated(relation, found)
    key = ("sign", a.key)
    if key in w.failed:
        return None
    w.failed.add(key)
    place = _shown_sign(w, node)
    for op in ("gt", "ge"):
        if place is None:
            place = from_quantified(w, term(op, node, ZERO))
    if place is not None:
        w.failed.discard(key)
    return place


def _square_sign(w: Workbench, a: Atom) -> int | None:
    """The place of a fact a^2 > 0, for a number that is known not to be zero."""
    try:
        node = w.raising.scalar(a)
    except NoTerm:
        return None
    if a.is_complex or w.find(term("ne", node, ZERO)) is None:
        return None
    return w.schema("square_positive", x=node)


def _shown_sign(w: Workbench, node: Term) -> int | None:
    """a > 0 or a >= 0 by the rule for what a is."""
    op, args = node.op, node.args
    if op == "exp":
        return w.schema("exp_positive", x=args[0])
    if op == "div" and attempt(w, term("gt", args[1], ZERO)) is not None:
        return w.schema("reciprocal_positive", x=args[1])
    if op == "lambertw":
        if attempt(w, term("gt", args[0], ZERO)) is not None:
            return w.schema("lambertw_positive", x=args[0])
        return w.schema("lambertw_nonnegative", x=args[0])
    if op == "sqrt":
        if attempt(w, term("gt", args[0], ZERO)) is not None:
            return w.schema("sqrt_positive", x=args[0])
        return w.schema("sqrt_nonnegative", x=args[0])
    if op in ("sum", "prod"):
        return _ranged_sign(w, node)
    if op == "det":
        return w.schema("det_definite", n=size_term(infer(args[0], w.facts.scope).rows), A=args[0])
    if op == "entry":
        return _entry_sign(w, node)
    if op == "norm2":
        kind = infer(args[0], w.facts.scope)
        return w.schema(
            "norm_nonnegative", A=args[0], n=size_term(kind.rows), k=size_term(kind.cols)
        )
    if op == "name" and infer(node, w.facts.scope).domain in ("dimension", "index"):
        at_least_one = w.find(term("ge", node, term("rational", data="1")))
        if at_least_one is not None:
            goal = term("gt", node, ZERO)
            return w.take(
                {
                    "rule": "positive",
                    "goal": w.place(goal),
                    "equations": [],
                    "terms": [["1", [at_least_one], None], ["1", [], None]],
                }
            )
    return None


def _ranged_sign(w: Workbench, node: Term) -> int | None:
    """A sum or product over 1..n of positive terms."""
    low, high, body = node.args
    if low.data != "1":
        return None
    vector = term("comprehension", high, body)
    rule = "sum_positive" if node.op == "sum" else "product_positive"
    return w.schema(rule, n=high, x=vector)


def _entry_sign(w: Workbench, node: Term) -> int | None:
    """An entry of a softmax, or of a vector all of whose entries are known to be positive."""
    vector, index = node.args[0], node.args[1:]
    if vector.op == "softmax":
        rows = infer(vector, w.facts.scope).rows
        return w.schema("softmax_positive", n=size_term(rows), x=vector.args[0], j=index[0])
    return None


def from_quantified(w: Workbench, relation: Term) -> int | None:
    """A relation as an instance of a quantified fact, its bound names found by trying."""
    wanted = w.facts.key(relation)
    indices = [*_indices(relation), rational(1)]
    for place, fact in enumerate(w.facts.facts):
        if fact.relation.op != "forall":
            continue
        count, conditions = pair(fact.relation)
        if count != 1 or conditions:
            continue
        for value in indices:
            try:
                if w.facts.key(instantiate(fact.relation.args[1], (value,))) != wanted:
                    continue
            except (StatementError, TooLarge):
                continue
            return w.take(
                {"rule": "instantiate", "fact": place, "terms": [w.place(value)], "by": []}
            )
    return None


def _indices(root: Term) -> list[Term]:
    """What stands as an index of an entry."""
    found: dict[Term, None] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node.op == "entry":
            found.update(dict.fromkeys(node.args[1:]))
        stack.extend(node.args)
    return list(found)


def _nonzero(w: Workbench, relation: Term) -> int | None:
    """x != 0: by its sign, or as a product of what is not zero."""
    x, zero = relation.args
    if zero is not ZERO:
        return None
    for op in ("gt", "lt"):
        if attempt(w, term(op, x, ZERO)) is not None:
            return w.find(relation)
    if x.op == "mul":
        return w.schema("product_nonzero", x=x.args[0], y=x.args[1])
    if x.op == "pow":
        return _nonzero_power(w, x)
    if x.op == "neg":
        return w.schema("product_nonzero", x=term("rational", data="-1"), y=x.args[0])
    if x.op == "div":
        one = term("rational", data="1")
        if x.args[0] is one:
            return w.schema("reciprocal_nonzero", x=x.args[1])
        return w.schema("product_nonzero", x=x.args[0], y=term("div", one, x.args[1]))
    if x.op == "det":
        kind = infer(x.args[0], w.facts.scope)
        return w.schema("det_unit", n=size_term(kind.rows), A=x.args[0])
    if x.op in ("add", "sub") and pushed_through(w, x) is not None:
        return w.schema("unit_nonzero", A=x)
    return None


def _nonzero_power(w: Workbench, x: Term) -> int | None:
    base, exponent = x.args
    if exponent.op != "rational" or not str(exponent.data).isdigit():
        return None
    power = base
    for _ in range(int(str(exponent.data)) - 1):
        if w.schema("product_nonzero", x=base, y=power) is None:
            return None
        power = term("mul", base, power)
    return w.find(term("ne", x, ZERO))


# ---------------------------------------------------------------- quantifiers


def _for_all(w: Workbench, relation: Term) -> int | None:
    """A relation for all values: shown for fresh names."""
    count, conditions = pair(relation)
    if conditions:
        return None
    names = w.fresh(count)
    goal = opened(instantiate(relation.args[-1], tuple(map(name, names))))
    return w.for_all(names, relation.args[:count], goal)


# ---------------------------------------------------------------- properties of matrices


def _size(w: Workbench, a: Term) -> Term:
    return size_term(infer(a, w.facts.scope).rows)


def _invertible(w: Workbench, a: Term) -> int | None:
    if infer(a, w.facts.scope).is_scalar:
        if attempt(w, term("ne", a, ZERO)) is None:
            return None
        return w.schema("nonzero_unit", x=a)
    n = _size(w, a)
    found = w.schema("definite_unit", n=n, A=a)
    if found is None:
        found = _invertible_by_form(w, a, n)
    if found is None:
        found = _factor_of_unit(w, a, n)
    if found is None:
        found = _invertible_simplified(w, a, n)
    return _inverse_in_goal(w, a, n) if found is None else found


def _factor_of_unit(w: Workbench, a: Term, n: Term) -> int | None:
    """invertible(a), where a product of square matrices that begins or ends with a is."""
    for fact in list(w.facts.facts):
        product = fact.relation.args[0]
        if fact.relation.op != "invertible" or product.op != "mul":
            continue
        factors = factors_of(product)
        first, rest = factors[0], factors[1:]
        last, front = factors[-1], factors[:-1]
        if first is a:
            return w.schema("unit_factor", n=n, A=a, B=product_of(rest))
        if last is a:
            return w.schema("unit_factor_right", n=n, A=product_of(front), B=a)
    return None


def _inverse_in_goal(w: Workbench, a: Term, n: Term) -> int | None:
    """invertible(a), where the goal itself says what its inverse is."""
    goal = w.statement.goal
    if goal.op != "eq":
        return None
    for side, other in (goal.args, goal.args[::-1]):
        if side.op == "inv" and side.args[0] is a:
            found = w.schema("one_sided_unit", n=n, A=a, B=other)
            if found is not None:
                return found
    return None


def _invertible_simplified(w: Workbench, a: Term, n: Term) -> int | None:
    """invertible(a) from what a is equal to by the known equations."""
    ideal = equations.known(w, [term("eq", a, a)])
    rest, used = ideal.reduce(w.facts.lowering.lower(a))
    if not used:
        return None
    simpler = w.raising.poly(rest)
    if w.combine(term("eq", simpler, a), ideal, equations.negated(used)) is None:
        return None
    return w.schema("unit_equal", n=n, A=simpler, B=a)


def _invertible_by_form(w: Workbench, a: Term, n: Term) -> int | None:
    op, args = a.op, a.args
    if op == "mul":
        x, y = (infer(b, w.facts.scope) for b in args)
        if x.is_scalar:
            return w.schema("unit_scale", n=n, A=args[1], c=args[0])
        if x.rows == x.cols and y.rows == y.cols:
            return w.schema("unit_product", n=n, A=args[0], B=args[1])
    if op == "div":
        return w.schema(
            "unit_scale", n=n, A=args[0], c=term("div", term("rational", data="1"), args[1])
        )
    if op == "neg":
        return w.schema("unit_scale", n=n, A=args[0], c=term("rational", data="-1"))
    if op == "transpose":
        return w.schema("unit_transpose", n=n, A=args[0])
    if op == "adjoint":
        return w.schema("unit_adjoint", n=n, A=args[0])
    if op == "inv":
        return w.schema("unit_inverse", n=n, A=args[0])
    if op == "block" and a.data == (2, 2):
        return _block_unit(w, a)
    if op == "name":
        return _isometry(w, a, n)
    if op == "kron":
        x, y = args
        return w.schema("unit_kron", n=_size(w, x), k=_size(w, y), A=x, B=y)
    if op == "diag":
        return w.schema("unit_diag", n=n, x=args[0])
    if op in ("add", "sub"):
        return pushed_through(w, a)
    return None


def _block_unit(w: Workbench, a: Term) -> int | None:
    p, q, r, s = a.args
    n, k = _size(w, p), _size(w, s)
    for rule in ("unit_block", "unit_block_corner"):
        found = w.schema(rule, n=n, k=k, A=p, B=q, C=r, D=s)
        if found is not None:
            return found
    return None


def _isometry(w: Workbench, a: Term, n: Term) -> int | None:
    """A square matrix with a.H*a = identity, as an orthogonal or unitary one has."""
    for prop, rule, turned in (
        ("orthogonal", "orthogonal_says", "transpose"),
        ("unitary", "unitary_says", "adjoint"),
    ):
        if w.find(term(prop, a)) is not None:
            w.schema(rule, n=n, Q=a)
            w.schema("one_sided", n=n, A=term(turned, a), B=a)
            return w.schema("one_sided_unit", n=n, A=a, B=term(turned, a))
    return None


def _definite(w: Workbench, a: Term) -> int | None:
    part = _definite_part(w, term("positive_definite", a))
    if part is not None:
        return part
    if infer(a, w.facts.scope).is_scalar:
        return w.schema("definite_scalar", x=a)
    n, op, args = _size(w, a), a.op, a.args
    if op == "eye":
        return w.schema("definite_eye", n=n)
    if op == "add":
        for x, y in (args, args[::-1]):
            if attempt(w, term("positive_definite", x)) is not None:
                return w.schema("definite_sum", n=n, A=x, B=y)
    if op == "mul" and infer(args[0], w.facts.scope).is_scalar:
        return w.schema("definite_scale", n=n, A=args[1], c=args[0])
    if op == "div":
        return w.schema(
            "definite_scale", n=n, A=args[0], c=term("div", term("rational", data="1"), args[1])
        )
    if op == "inv":
        return w.schema("definite_inverse", n=n, A=args[0])
    if op == "mul":
        return _definite_product(w, a, n)
    return None


def _definite_part(w: Workbench, wanted: Term) -> int | None:
    """A diagonal block or Schur complement of a block matrix that is known to be definite."""
    for fact in list(w.facts.facts):
        whole = fact.relation.args[0]
        if fact.relation.op != "positive_definite" or whole.op != "block" or whole.data != (2, 2):
            continue
        s, c, _, r = whole.args
        sizes = {"n": _size(w, s), "k": _size(w, r)}
        for rule in ("definite_block_first", "definite_block_last", "definite_block_schur"):
            w.schema(rule, **sizes, S=s, C=c, R=r)
        found = w.find(wanted)
        if found is not None:
            return found
    return None


def _definite_product(w: Workbench, a: Term, n: Term) -> int | None:
    """B*B.H, or B*S*B.H with S definite, for B of full row rank."""
    factors = factors_of(a)
    half = len(factors) // 2
    lower = w.facts.lowering.lower
    b = product_of(factors[:half])
    middle = factors[half : len(factors) - half]
    adjoint = term("adjoint", b)
    rest = term("mul", middle[0], adjoint) if middle else adjoint
    if lower(term("mul", b, rest)) != lower(a):
        return None
    cols = size_term(infer(b, w.facts.scope).cols)
    if middle:
        return w.schema("definite_congruence", n=cols, k=n, A=middle[0], B=b)
    found = w.schema("definite_gram_rows", n=n, k=cols, A=b)
    if found is None:  # b = c.H with c of full column rank
        c = b.args[0] if b.op in ("transpose", "adjoint") else adjoint
        found = w.schema("definite_gram_columns", n=cols, k=n, A=c)
    return found


def _semidefinite(w: Workbench, a: Term) -> int | None:
    if infer(a, w.facts.scope).is_scalar:
        return w.schema("semidefinite_scalar", x=a)
    n, op, args = _size(w, a), a.op, a.args
    found = w.schema("definite_semidefinite", n=n, A=a)
    if found is not None:
        return found
    if op == "add":
        return w.schema("semidefinite_sum", n=n, A=args[0], B=args[1])
    congruent = _congruence(w, a, n)
    if congruent is not None:
        return congruent
    if op == "mul" and infer(args[0], w.facts.scope).is_scalar:
        return w.schema("semidefinite_scale", n=n, A=args[1], c=args[0])
    if op == "div":
        return w.schema(
            "semidefinite_scale", n=n, A=args[0], c=term("div", term("rational", data="1"), args[1])
        )
    return None


def _congruence(w: Workbench, a: Term, n: Term) -> int | None:
    """B*S*B.H with S semidefinite, or a Gram matrix B*B.H."""
    factors = factors_of(a)
    lower = w.facts.lowering.lower
    for size in range(len(factors) // 2, 0, -1):
        outer, inner = factors[:size], factors[size : len(factors) - size]
        b = product_of(outer)
        adjoint = term("adjoint", b)
        middle = term("mul", product_of(inner), adjoint) if inner else adjoint
        if lower(term("mul", b, middle)) != lower(a):
            continue
        cols = size_term(infer(b, w.facts.scope).cols)
        if inner:
            return w.schema("semidefinite_congruence", n=cols, k=n, A=product_of(inner), B=b)
        return w.schema("semidefinite_gram", n=n, k=cols, B=adjoint)
    return None


def _symmetric(w: Workbench, a: Term) -> int | None:
    return w.schema("symmetric_shown", n=_size(w, a), A=a)


PROPERTIES = {
    "invertible": _invertible,
    "positive_definite": _definite,
    "positive_semidefinite": _semidefinite,
    "symmetric": _symmetric,
}
