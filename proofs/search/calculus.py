"""Untrusted. Derivatives by the table: one rule instance for each operation, outermost first."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.checker.algebra import TooLarge
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer, polynomial
from proofs.language.sizes import ONE
from proofs.language.tree import (
    Term,
    abstract,
    bound,
    instantiate,
    name,
    natural,
    pair,
    postorder,
    rational,
    shift,
    term,
)
from proofs.language.types import Type
from proofs.search.ideal import Ideal
from proofs.search.raising import NoTerm, entry_of_sum, size_term, size_terms
from proofs.search.workbench import ARITHMETIC, Stuck, Workbench

MAX_POWER = 12
REAL = term("real_type")
HEAVY = 1000  # what a derivative weighs, above whatever stands beside it
HIGHER = {2: "diff_second", 3: "diff_third", 4: "diff_fourth"}


def differentiate(w: Workbench, node: Term) -> None:
    """Say what a derivative comes to, by the rules for the operations in it, outermost first."""
    body, point = node.args
    if node.data != 1:
        _again(w, node)
        return
    parts: list[Term] = []  # each after its own parts
    stack, seen = [(body, False)], set[int]()
    while stack:
        part, is_done = stack.pop()
        if is_done:
            parts.append(part)
        elif id(part) not in seen:
            seen.add(id(part))
            stack.append((part, True))
            stack += [(p, False) for p in _rule(w, part, point)]
    _put_together(w, node, [term("deriv", p, point, data=1) for p in parts])


def _put_together(w: Workbench, node: Term, derivatives: list[Term]) -> None:
    """One equation in place of those for the parts, of which a search then has no need."""
    ideal, lower = Ideal(w.tick), w.facts.lowering.lower
    rank: dict[str, int] = {}
    for i, derivative in enumerate(derivatives, 1):
        value = lower(derivative)
        rank[value.key] = i
        for monomial, word in value.terms:
            for symbol in (*(a for a, _ in monomial), *word):
                ideal.weigh(symbol, HEAVY * i)
    for place in w.aside:  # of products into which a derivative has been put
        left = w.facts.facts[place].relation.args[0]
        if left.op in ("kron", "hadamard"):
            rank[lower(left).key] = 0
            for _, word in lower(left).terms:
                for symbol in word:
                    ideal.weigh(symbol, HEAVY // 2)
    rules = [p for p in w.aside if lower(w.facts.facts[p].relation.args[0]).key in rank]
    for p in sorted(rules, key=lambda p: -rank[lower(w.facts.facts[p].relation.args[0]).key]):
        value = w.facts.difference(w.facts.facts[p].relation)
        ideal.add(value, p, ("",) if value.is_scalar else ("", "T"))
    before = len(w.facts.facts)
    try:
        rest, used = ideal.reduce(lower(node))
        found = w.combine(term("eq", node, w.raising.poly(rest)), ideal, used) if used else None
    except (NoTerm, TooLarge, StatementError):
        found = None
    if found is not None:
        w.aside |= set(range(before, found))
    else:
        w.aside -= set(rules)


def _take(w: Workbench, rule: str, **values: Term) -> int | None:
    """An instance of a rule for a derivative, put aside for the equation that it is a part of."""
    place = w.schema(rule, **values)
    if place is not None and place >= 0:
        w.aside.add(place)
    return place


def _rule(w: Workbench, body: Term, x: Term) -> list[Term]:
    """Take the rule for the outermost operation; what is left to differentiate."""
    op, args = body.op, body.args
    kind = _kind(w, body)
    n, k = size_term(kind.rows), size_term(kind.cols)
    if body.free == 0:
        _take(w, "diff_constant", n=n, k=k, C=body, x=x)
        return []
    if op == "bound":
        _take(w, "diff_variable", x=x)
        return []
    if op == "add":
        _take(w, "diff_sum", n=n, k=k, f=args[0], g=args[1], x=x)
        return list(args)
    if op == "sub":
        negative = term("mul", rational(-1), args[1])
        _take(w, "diff_sum", n=n, k=k, f=args[0], g=negative, x=x)
        return [args[0], negative]
    if op == "neg":
        return _multiple(w, rational(-1), args[0], x)
    if op == "div":
        return (
            _multiple(w, term("div", rational(1), args[1]), args[0], x)
            if (args[0] is not rational(1))
            else _chain(w, "diff_reciprocal", args[1], x)
        )
    if op == "mul":
        return _product(w, args[0], args[1], x)
    if op == "pow":
        return _power(w, body, x)
    if op in ("exp", "log", "sqrt", "lambertw", "sin", "cos", "tanh", "erf"):
        return _chain(w, f"diff_{op}", args[0], x)
    if op == "abs":
        if _take(w, "diff_abs", f=args[0], x=x) is None:
            return _chain(w, "diff_abs_negative", args[0], x)
        return [args[0]]
    if op == "apply" and args[1].op != "bound":
        return _composed(w, body, x)
    if op == "apply":
        _law(w, body, x)
        return []
    if op == "logpdf":
        return _density(w, body, x)
    if op == "pinv":
        return _pseudo_inverse(w, body, x)
    if op == "inv":
        _take(w, "diff_inverse", n=n, f=args[0], x=x)
        return [args[0]]
    if op == "det":
        return _determinant(w, body, x)
    if op in ("kron", "hadamard"):
        return _two_sided(w, op, args, x)
    if op == "norm2":
        square = term("mul", term("transpose", args[0]), args[0])
        if _kind(w, args[0]).cols == ONE:
            return _product(w, square.args[0], square.args[1], x)
        return _rule(w, term("tr", square), x)
    if op in ("diag", "logsumexp", "softmax"):
        rows = size_term(_kind(w, args[0]).rows)
        return [args[0]] if _take(w, f"diff_{op}", n=rows, f=args[0], x=x) is not None else []
    if op == "block" and body.data == (2, 2):
        first, second, third, _ = (_kind(w, a) for a in args)
        shape = (first.rows, third.rows, first.cols, second.cols)
        n, m, k, p = (size_term(size) for size in shape)
        f, g, h, q = args
        _take(w, "diff_block", n=n, m=m, k=k, p=p, f=f, g=g, h=h, q=q, x=x)
        return list(args)
    if op in ("transpose", "adjoint"):
        _take(w, "diff_transpose", n=k, k=n, f=args[0], x=x)
        return [args[0]]
    if op == "tr":
        _take(w, "diff_trace", n=size_term(infer(args[0], w.facts.scope).rows), f=args[0], x=x)
        return [args[0]]
    if op == "entry":
        return _entry(w, body, x)
    if op == "sum" and args[0] is rational(1):
        _take(w, "diff_sum_terms", n=args[1], f=term("comprehension", *args[1:]), x=x)
        return []
    if op == "inner":
        return _product(w, term("transpose", args[0]), args[1], x)
    return []


def _entry(w: Workbench, body: Term, x: Term) -> list[Term]:
    """An entry of a sum is a sum of entries; one of a softmax is a quotient; another is the product
    of a matrix with unit vectors."""
    vector, index = body.args[0], body.args[1:]
    if vector.op == "softmax":
        return _softmax(w, body, vector.args[0], index[0], x)
    moved = entry_of_sum(vector, index, w.facts.scope)
    if moved is not body:
        return [moved]
    kind = _kind(w, vector)
    row = term("transpose", term("unit", size_term(kind.rows), index[0]))
    if len(index) == 1:
        return _product(w, row, vector, x)
    column = term("unit", size_term(kind.cols), index[1])
    return _product(w, row, term("mul", vector, column), x)


def _softmax(w: Workbench, body: Term, logits: Term, index: Term, x: Term) -> list[Term]:
    """softmax(y)[j] = exp(y[j])/sum(exp(y[k])) at every point, so in the derivative too."""
    size = size_term(infer(logits, w.facts.scope).rows)
    place = bound(0, term("index_type", size))
    total = term(
        "sum",
        rational(1),
        size,
        term("exp", entry_of_sum(shift(logits, 1), (place,), w.facts.scope)),
    )
    quotient = term("div", term("exp", entry_of_sum(logits, (index,), w.facts.scope)), total)
    one = rational(1)
    _take(w, "diff_equal", n=one, k=one, f=body, g=quotient, x=x)
    return [quotient]


def _again(w: Workbench, node: Term) -> None:
    """A higher derivative, as that of what the one before is equal to near the point."""
    (body, x), order = node.args, natural(node)
    kind, key = _kind(w, body), ("again", id(node))
    sizes = size_terms(kind)
    if key in w.failed or order not in HIGHER:
        return
    if w.schema(HIGHER[order], **sizes, f=body, x=x) is None:
        return
    w.failed.add(key)  # sub-proofs look at the same goal
    before = term("deriv", body, bound(0, REAL), data=order - 1)
    around = list(_neighbourhoods(w, body))
    for where in (*around, None):
        if where is not None and where.op == "mul":  # a square, positive where it isn't zero
            w.schema("square_positive", x=instantiate(where.args[0], (x,)))
        simpler = _before(w, before, where)
        if simpler is None:
            continue
        if where is None:
            found = w.schema("diff_equal", **sizes, f=before, g=simpler, x=x)
        else:
            found = w.schema("diff_near", **sizes, f=before, g=simpler, p=where, x=x)
        if found is not None:
            differentiate(w, term("deriv", simpler, x, data=1))
            return


def _before(w: Workbench, derivative: Term, where: Term | None) -> Term | None:
    """A derivative as a function again, without derivatives, where p > 0 if a p is given."""
    from proofs.search.equations import known  # equations call for instances

    names = w.fresh(1)
    at = name(names[0])
    node = instantiate(derivative, (at,))
    supposed = () if where is None else (term("gt", instantiate(where, (at,)), ZERO),)
    try:
        with w.inside(names, (REAL,), supposed) as inner:
            inner.define(node)
            value = inner.facts.lowering.lower(node)
            rest, _ = known(inner, [term("eq", node, node)]).reduce(value)
            found = inner.raising.poly(rest)
    except (NoTerm, NotDefined, Stuck, TooLarge, StatementError):
        return None
    if found is node:
        return None
    return abstract(found, names, (REAL,))


def _neighbourhoods(w: Workbench, body: Term) -> Iterator[Term]:
    """Functions that are positive where what is in sight has an inverse, or a logarithm."""
    for node in postorder([body]):
        if node.op in ("det", "inv") and node.free:
            a = node.args[0]
            if _kind(w, a).is_scalar:
                yield term("mul", a, a)
            else:
                yield term("mul", term("det", a), term("det", a))
        elif node.op in ("log", "sqrt") and node.free:
            yield node.args[0]
        elif node.op == "div" and node.args[1].free:
            yield term("mul", node.args[1], node.args[1])


def _determinant(w: Workbench, body: Term, x: Term) -> list[Term]:
    """Jacobi's formula with the inverse, where there is one; else that of a product by factors."""
    inner = body.args[0]
    n = size_term(_kind(w, inner).rows)
    at, one = instantiate(inner, (x,)), rational(1)
    if at.op == "eye" or w.schema("adj_inverse", n=n, A=at) is not None:
        _take(w, "diff_determinant", n=n, f=inner, x=x)
        return [inner]
    if inner.op == "mul" and all(_kind(w, a) == _kind(w, inner) for a in inner.args):
        product = term("mul", *(term("det", a) for a in inner.args))
        if _take(w, "diff_equal", n=one, k=one, f=body, g=product, x=x) is not None:
            return [product]
    _take(w, "diff_determinant", n=n, f=inner, x=x)
    w.schema("adj_left", n=n, A=at)
    w.schema("adj_right", n=n, A=at)
    return [inner]


def _two_sided(w: Workbench, op: str, args: tuple[Term, ...], x: Term) -> list[Term]:
    """A product whose factors are no letters of a word: what the derivatives of these come to is
    put into it at once."""
    one, two = (_kind(w, a) for a in args)
    sizes = size_terms(one)
    if op == "kron":
        sizes |= {"m": size_term(two.rows), "p": size_term(two.cols)}
    if _take(w, f"diff_{op}", **sizes, f=args[0], g=args[1], x=x) is None:
        return list(args)
    for i, factor in enumerate(args):
        derivative = term("deriv", factor, x, data=1)
        differentiate(w, derivative)
        kind = _kind(w, factor)
        hole = bound(0, term("matrix_type", size_term(kind.rows), size_term(kind.cols)))
        context = [instantiate(a, (x,)) for a in args]
        context[i] = hole
        for place, fact in enumerate(w.facts.facts):
            if fact.relation.op == "eq" and fact.relation.args[0] is derivative:
                found = w.congruence(place, term(op, *context))
                w.aside |= {place} if found is None else {place, found}
    return []


def _kind(w: Workbench, node: Term) -> Type:
    return infer(node, w.facts.scope)


def _chain(w: Workbench, rule: str, inner: Term, x: Term) -> list[Term]:
    _take(w, rule, f=inner, x=x)
    return [inner]


def _multiple(w: Workbench, factor: Term, rest: Term, x: Term) -> list[Term]:
    kind = infer(rest, w.facts.scope)
    _take(w, "diff_multiple", **size_terms(kind), f=factor, g=rest, x=x)
    return [factor, rest]


def _product(w: Workbench, left: Term, right: Term, x: Term) -> list[Term]:
    scope = w.facts.scope
    one, two = infer(left, scope), infer(right, scope)
    if one.is_scalar:
        return _multiple(w, left, right, x)
    if two.is_scalar:
        return _multiple(w, right, left, x)
    _take(
        w,
        "diff_product",
        **size_terms(one),
        m=size_term(two.cols),
        f=left,
        g=right,
        x=x,
    )
    return [left, right]


def _power(w: Workbench, body: Term, x: Term) -> list[Term]:
    """A power with a number as exponent as a product, others by their rules."""
    base, exponent = body.args
    length = polynomial(exponent, w.facts.scope.dimensions)
    is_symbolic = length is not None and length.is_positive and length.value is None
    if is_symbolic and not _kind(w, base).is_scalar:
        n = size_term(_kind(w, base).rows)
        _take(w, "diff_power", n=n, p=exponent, f=base, x=x)
        return [base]
    digits = str(exponent.data).removeprefix("-") if exponent.op == "rational" else ""
    if not digits.isdigit() or not 1 <= int(digits) <= MAX_POWER:
        return _any_power(w, base, exponent, x)
    rest = rational(1) if digits == "1" else base
    for _ in range(int(digits) - 2):
        rest = term("mul", base, rest)
    if str(exponent.data).startswith("-"):
        return _reciprocal(w, base if digits == "1" else term("mul", base, rest), x)
    return _product(w, base, rest, x)


def _reciprocal(w: Workbench, base: Term, x: Term) -> list[Term]:
    if _kind(w, base).is_scalar:
        return _chain(w, "diff_reciprocal", base, x)
    _take(w, "diff_inverse", n=size_term(_kind(w, base).rows), f=base, x=x)
    return [base]


def _any_power(w: Workbench, base: Term, exponent: Term, x: Term) -> list[Term]:
    if not _kind(w, base).is_scalar:
        return []
    if base.free == 0:
        _take(w, "diff_exponential", f=exponent, c=base, x=x)
        return [exponent]
    if exponent.free:  # f^g = exp(g*log(f))
        one, power = rational(1), term("exp", term("mul", exponent, term("log", base)))
        _take(w, "diff_equal", n=one, k=one, f=term("pow", base, exponent), g=power, x=x)
        return [power]
    if _take(w, "diff_natural_power", p=exponent, f=base, x=x) is None:
        _take(w, "diff_real_power", f=base, a=exponent, x=x)
    return [base]


def _composed(w: Workbench, body: Term, x: Term) -> list[Term]:
    """The chain rule, at a name that is known to be the value of the inner function."""
    function, inner = body.args
    outer = term("apply", function, bound(0, REAL))
    at = instantiate(inner, (x,))
    for fact in w.facts.facts:
        for side, other in (
            (fact.relation.args, fact.relation.args[::-1]) if (fact.relation.op == "eq") else ()
        ):
            if side.op == "name" and w.facts.lowering.lower(other) == w.facts.lowering.lower(at):
                at = side
    kind = _kind(w, body)
    sizes = size_terms(kind)
    _take(w, "diff_chain", **sizes, f=outer, g=inner, x=x, y=at)
    return [inner]


def _law(w: Workbench, body: Term, x: Term) -> None:
    """A differential equation that a function is known to satisfy everywhere, at this point."""
    for place, fact in enumerate(list(w.facts.facts)):
        if fact.relation.op != "forall" or pair(fact.relation)[0] != 1:
            continue
        _, *conditions, law = fact.relation.args
        if law.op != "eq" or not any(
            n.op == "deriv" and n.args[0].op == "apply" and n.args[0].args[0] is body.args[0]
            for n in postorder([law])
        ):
            continue
        try:
            w.define(instantiate(law, (x,)))
            by = [w.establish(instantiate(c, (x,))) for c in conditions]
        except (Stuck, NotDefined, StatementError):
            continue
        places = [None if p == ARITHMETIC else p for p in by]
        w.take({"rule": "instantiate", "fact": place, "terms": [w.place(x)], "by": places})


def _density(w: Workbench, body: Term, x: Term) -> list[Term]:
    y, m, covariance = body.args
    n = size_term(_kind(w, y).rows)
    return _becomes(w, _take(w, "diff_log_density", n=n, y=y, m=m, S=covariance, x=x))


def _pseudo_inverse(w: Workbench, body: Term, x: Term) -> list[Term]:
    """By the Gram matrix that has an inverse; at the point, too, the pseudo-inverse is given so."""
    kind = _kind(w, body.args[0])
    sizes = size_terms(kind)
    for rule in ("diff_pinv_rows", "diff_pinv_columns"):
        place = _take(w, rule, **sizes, f=body.args[0], x=x)
        if place is not None:
            found = _becomes(w, place)
            w.attempt(term("eq", *(instantiate(f, (x,)) for f in (body, *found))))
            return found
    return []


def _becomes(w: Workbench, place: int | None) -> list[Term]:
    """What a rule says is to be differentiated instead."""
    return [] if place is None else [w.facts.facts[place].relation.args[1].args[0]]
