"""Untrusted. Limits at infinity: what a function tends to is worked out from its parts.

Each method finds some limit of a function, as a fact; that it is the one which is asked for is an
equation like any other. Sums, products and quotients go by the limits of their parts; a function
of a convergent one by continuity; quotients of polynomials by their leading coefficients
(`ratios`), and what lies between functions with one limit by these (`squeezing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from proofs.checker.algebra import TooLarge
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.tree import (
    Term,
    abstract,
    bound,
    instantiate,
    name,
    names_in,
    postorder,
    rational,
    replace,
    term,
)
from proofs.search import ratios, squeezing
from proofs.search.raising import NoTerm
from proofs.search.workbench import Stuck, Workbench

MAX_DEPTH = 12  # of functions within functions
REAL = term("real_type")
X = bound(0, REAL)
INSIDE, OUTSIDE = "\0x", "\0y"  # stand for variables that are bound
MAX_LAYERS = 6
MAX_FACTORS = 200  # of a product
ONE = rational(1)
FAILURES = (Stuck, NotDefined, NoTerm, TooLarge, StatementError)
BINARY = {"add": "limit_sum", "sub": "limit_difference", "mul": "limit_product"}
CONTINUOUS = frozenset(
    {"neg", "exp", "log", "sqrt", "abs", "sin", "cos", "tanh", "erf", "lambertw", "inv"}
)


def prove(w: Workbench, relation: Term) -> int | None:
    """That a function tends to a number."""
    body, value = relation.args
    place = find(w, body, 0)
    if place is None:
        return None
    found = w.find(relation)
    if found is not None:
        return found
    at = tends_to(w, place)
    return w.schema("limit_equal", f=body, a=at, b=value)


def order(w: Workbench, relation: Term) -> int | None:
    """b >= a for what two functions tend to, one of which is known to stay below the other."""
    large, small = relation.args
    known = [f.relation for f in w.facts.facts if f.relation.op == "limit"]
    known += [term("limit", x, x) for x in (small, large)]  # a constant, which is its own limit
    below, above = ([r.args for r in known if _is(w, r.args[1], x)] for x in (small, large))
    for f, a in below:
        for g, b in above:
            for start in squeezing.starts(w) if (f, a) != (g, b) else ():
                place = w.schema("limit_order", f=f, g=g, a=a, b=b, c=start)
                if place is not None:
                    return place
    return None


def unique(w: Workbench, relation: Term) -> int | None:
    """a = b for what one function tends to, or two functions that stay below each other."""
    a, b = relation.args
    if not any(f.relation.op == "limit" for f in w.facts.facts):
        return None
    if any(order(w, term("ge", *sides)) is None for sides in ((a, b), (b, a))):
        return None
    return w.schema("antisymmetric", x=a, y=b)


def _is(w: Workbench, a: Term, b: Term) -> bool:
    return a is b or w.facts.lowering.lower(a).key == w.facts.lowering.lower(b).key


def find(w: Workbench, body: Term, depth: int) -> int | None:
    """The place of a fact that says what a function tends to."""
    known = _known(w, body)
    key = ("limit", body)
    if known is not None or key in w.failed or depth > MAX_DEPTH:
        return known
    w.failed.add(key)
    w.tick()
    for method in METHODS:
        try:
            found = method(w, body, depth)
        except FAILURES:
            found = None
        if found is not None:
            w.failed.discard(key)
            return found
    return None


def tends_to(w: Workbench, place: int) -> Term:
    """The limit that a fact speaks of, in its normal form."""
    value = w.facts.facts[place].relation.args[1]
    w.learn(value)
    try:
        short = w.raising.poly(w.facts.lowering.lower(value))
        w.define(short)
    except FAILURES:
        return value
    return short


def _known(w: Workbench, body: Term) -> int | None:
    for place, fact in enumerate(w.facts.facts):
        if fact.relation.op == "limit" and fact.relation.args[0] is body:
            return place
    return None


# ---------------------------------------------------------------- parts


def _constant(w: Workbench, body: Term, depth: int) -> int | None:
    return None if body.free else w.schema("limit_constant", c=body)


def _of_two(w: Workbench, body: Term, depth: int) -> int | None:
    """A sum, difference or product of functions with limits."""
    rule = BINARY.get(body.op)
    places = [find(w, a, depth + 1) for a in body.args] if rule else []
    if rule is None or None in places:
        return None
    a, b = (tends_to(w, p) for p in places if p is not None)
    return w.schema(rule, f=body.args[0], g=body.args[1], a=a, b=b)


def _quotient(w: Workbench, body: Term, depth: int) -> int | None:
    """A quotient, both parts divided by a power of x, so that the lower one has a limit that is
    not 0."""
    if body.op != "div":
        return None
    f, g = body.args
    for h in _scales(g):
        over = _over_one if h is ONE else _over
        below = over(w, g, h, depth)
        if below is None or w.attempt(term("ne", tends_to(w, below), ZERO)) is None:
            continue
        above = over(w, f, h, depth)
        if above is not None:
            values = {"a": tends_to(w, above), "b": tends_to(w, below)}
            return w.schema("limit_quotient", f=f, g=g, h=h, **values)
    return None


def _scales(g: Term) -> list[Term]:
    """1, x, and the powers of x in a function."""
    powers = [n for n in postorder([g]) if n.op == "pow" and n.args[0] is X and not n.args[1].free]
    return [ONE, X, *powers] if g.free else [ONE]


def _over(w: Workbench, f: Term, h: Term, depth: int) -> int | None:
    """The limit of f/h, a sum divided term by term."""
    if f.op not in ("add", "sub"):
        return find(w, term("div", f, h), depth + 1)
    if any(_over(w, part, h, depth + 1) is None for part in f.args):
        return None
    apart = term(f.op, *(term("div", part, h) for part in f.args))
    return squeezing.same(w, apart, term("div", f, h), depth + 1)


def _over_one(w: Workbench, f: Term, _h: Term, depth: int) -> int | None:
    """The limit of f/1, from that of f."""
    return composed(w, term("div", X, ONE), f, depth + 1)


def _apart(w: Workbench, body: Term, depth: int) -> int | None:
    """A sum divided by a function, term by term."""
    if body.op != "div" or body.args[0].op not in ("add", "sub"):
        return None
    return _over(w, body.args[0], body.args[1], depth)


def composed(w: Workbench, g: Term, f: Term, depth: int) -> int | None:
    """The limit of g(f(x)) for a function g that is smooth where f tends to."""
    place = find(w, f, depth)
    if place is None:
        return None
    return w.schema("limit_continuous", f=f, g=g, a=tends_to(w, place))


def _of_one(w: Workbench, body: Term, depth: int) -> int | None:
    """An elementary function of a function with a limit, or a power of it."""
    if body.op == "pow" and not body.args[1].free:
        return composed(w, term("pow", X, body.args[1]), body.args[0], depth + 1)
    if body.op not in CONTINUOUS:
        return None
    return composed(w, term(body.op, X), body.args[0], depth + 1)


def _through(w: Workbench, body: Term, depth: int) -> int | None:
    """F(g(x)), where x stands in g alone: F at the limit of g, or at infinity."""
    for g, outer in _layers(body):
        found = composed(w, outer, g, depth + 1) if find(w, g, depth + 1) is not None else None
        if found is not None:
            return found
        place = find(w, outer, depth + 1)
        if place is None or find(w, term("div", ONE, g), depth + 1) is None:
            continue
        for start in squeezing.starts(w):
            values = {"a": tends_to(w, place), "b": start}
            found = w.schema("limit_substitution", f=outer, g=g, **values)
            if found is not None:
                return found
    return None


def _shorter(w: Workbench, body: Term, depth: int) -> int | None:
    """A function as its normal form, where that is shorter."""
    (n,) = w.fresh(1)
    x = name(n)
    at = instantiate(body, (x,))
    with w.inside((n,), (REAL,), (term("gt", x, ZERO),)) as inner:
        inner.learn(at)
        short = inner.raising.poly(inner.facts.lowering.lower(at))
    if len(postorder([short])) >= len(postorder([at])):
        return None
    return squeezing.same(w, abstract(short, (n,), (REAL,)), body, depth + 1)


def _layers(body: Term) -> Iterator[tuple[Term, Term]]:
    """The ways to write a function as F(g(x)), as g and F; inner functions first."""
    at = instantiate(body, (name(INSIDE),))
    count = 0
    for g in postorder([at]):
        if INSIDE not in names_in(g) or g in (at, name(INSIDE)) or count >= MAX_LAYERS:
            continue
        outer = replace(at, g, name(OUTSIDE))
        if INSIDE not in names_in(outer):
            count += 1
            yield abstract(g, (INSIDE,), (REAL,)), abstract(outer, (OUTSIDE,), (REAL,))


# ---------------------------------------------------------------- powers, logarithms, exponentials


def _fading(w: Workbench, body: Term, depth: int) -> int | None:
    """c*x^p, c*x^p*log(x) for p < 0, and c*x^p*exp(-r*x) for r > 0, however it is written."""
    if (
        body.op == "pow"
        and body.args[0] is X
        and body.args[1].op == "neg"
        and not body.args[1].free
    ):
        return w.schema("limit_power", p=body.args[1].args[0])
    shape = _Shape.of(body)
    if shape is None or shape.logs > 1:
        return None
    plain = _plain(w, shape)
    if plain is None:
        return None
    if plain is body or not shape.factors:
        return squeezing.same(w, plain, body, depth)
    scaled = term("mul", _product(shape.factors), plain)
    found = _of_two(w, scaled, depth)
    return None if found is None else squeezing.same(w, scaled, body, depth)


def _plain(w: Workbench, shape: _Shape) -> Term | None:
    """The function without its constant factors, once its limit is known."""
    p = shape.power
    if shape.rate is None:
        if p >= 0:
            return None
        rule = "limit_logarithm" if shape.logs else "limit_power"
        place = w.schema(rule, p=rational(-p))
        return None if place is None else w.facts.facts[place].relation.args[0]
    if shape.logs or w.attempt(term("gt", shape.rate, ZERO)) is None:
        return None
    place = w.schema("limit_exponential", p=rational(p))
    if place is None:
        return None
    f = w.facts.facts[place].relation.args[0]
    if shape.rate is ONE:
        return f
    g = term("mul", shape.rate, X)
    if find(w, term("div", ONE, g), 0) is None:
        return None
    place = w.schema("limit_substitution", f=f, g=g, a=ZERO, b=ZERO)
    if place is None:
        return None
    shape.factors.append(term("pow", shape.rate, rational(-p)))
    return w.facts.facts[place].relation.args[0]


class _Shape:
    """factors*x^power*log(x)^logs*exp(-rate*x)."""

    def __init__(self) -> None:
        self.factors: list[Term] = []
        self.power = Fraction(0)
        self.logs = 0
        self.count = 0
        self.rate: Term | None = None

    @staticmethod
    def of(body: Term) -> _Shape | None:
        """The shape of a product, where it has one."""
        found = _Shape()
        return found if found._take(body, 1) else None

    def _take(self, node: Term, turn: int) -> bool:
        """Multiply by a factor, or divide by it where `turn` is -1."""
        op, args = node.op, node.args
        self.count += 1
        if self.count > MAX_FACTORS:
            return False
        if not node.free:
            self.factors.append(node if turn > 0 else term("div", ONE, node))
            return True
        if node is X:
            self.power += turn
            return True
        if op in ("mul", "div"):
            return self._take(args[0], turn) and self._take(args[1], turn if op == "mul" else -turn)
        if op == "neg":
            self.factors.append(rational(-1))
            return self._take(args[0], turn)
        if op == "sqrt" and args[0] is X:
            self.power += Fraction(turn, 2)
            return True
        exponent = _number(args[1]) if op == "pow" else None
        if exponent is not None and args[0] is X:
            self.power += turn * exponent
            return True
        if op == "log" and args[0] is X and turn > 0:
            self.logs += 1
            return True
        if op == "exp" and self.rate is None:
            rate = ratios.slope(args[0])
            self.rate = None if rate is None else (_opposite(rate) if turn > 0 else rate)
            return self.rate is not None
        return False


def _number(node: Term) -> Fraction | None:
    if node.op == "rational":
        return Fraction(str(node.data))
    inside = _number(node.args[0]) if node.op == "neg" else None
    return None if inside is None else -inside


def _opposite(a: Term) -> Term:
    if a.op == "neg":
        return a.args[0]
    return rational(-Fraction(str(a.data))) if a.op == "rational" else term("neg", a)


def _product(factors: list[Term]) -> Term:
    total = factors[0]
    for factor in factors[1:]:
        total = term("mul", total, factor)
    return total


METHODS: tuple[Callable[[Workbench, Term, int], int | None], ...] = (
    _constant,
    ratios.limit,
    _fading,
    _of_two,
    _quotient,
    _apart,
    _of_one,
    _shorter,
    _through,
    squeezing.between,
)
