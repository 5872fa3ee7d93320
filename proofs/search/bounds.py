"""Untrusted. Inequalities by name: Cauchy-Schwarz, A <= tr(A)*I, and norms that vanish."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from proofs.checker.algebra import ONE, Poly, TooLarge, Word, identity, trace_of, turns
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import equations
from proofs.search.raising import NoTerm, factors_of, product_of, size_term, size_terms
from proofs.search.squares import Center, centers
from proofs.search.workbench import Stuck, Workbench

MAX_TRIES = 24
MAX_FACTORS = 4  # of a product whose norm is bounded by those of two parts
SEMIDEFINITE = ("positive_semidefinite", "positive_definite")


def gather(w: Workbench, relation: Term) -> list[int]:
    """The places of inequalities that the names in one call for."""
    size = len(w.facts.facts)
    with suppress(NoTerm, TooLarge, StatementError):
        _schwarz(w, relation)
        _squares(w, relation)
    _traces(w, relation)
    _products(w, relation)
    new = range(size, len(w.facts.facts))
    return [i for i in new if w.facts.facts[i].relation.op in ("le", "ge")]


def _schwarz(w: Workbench, relation: Term) -> None:
    """(x.T*A*y)^2 <= (x.T*A*x)*(y.T*A*y), for the traces of which the sides are products."""
    difference = w.facts.difference(relation)
    metrics = centers(w, difference)
    tries = 0
    for monomial, _ in difference.terms:
        words = [a.word for a, n in monomial if a.word is not None for _ in range(n)]
        if not any(c < 0 for c in difference.terms.values()):
            return
        if len(words) != 2 or words[0] is None or words[1] is None:
            continue
        for x, one in _halves(words[0], metrics):
            for y, two in _halves(words[1], metrics):
                tries += 1
                if tries > MAX_TRIES or (x.rows, x.cols) != (y.rows, y.cols):
                    continue
                _instance(w, difference, (x, one), (y, two))


def _squares(w: Workbench, relation: Term) -> None:
    """tr(X.T*Y)^2 <= tr(X.T*X)*tr(Y.T*Y), for the ways to cut a trace whose square is below."""
    words: dict[Word, None] = {}
    difference, _ = equations.known(w, [relation]).reduce(w.facts.difference(relation))
    for (monomial, _), c in difference.terms.items():
        words |= {a.word: None for a, n in monomial if a.word and n == 2 and c < 0}
    tries = 0
    for word in words:
        for turned in [word] if word[0].rows == ONE else dict.fromkeys(turns(word)):
            for cut in range(len(turned)):
                x, y = turned[:cut], turned[cut:]
                tries += 1
                if tries > MAX_TRIES or (word[0].rows == ONE and not x):
                    continue
                n = size_term(y[0].rows)
                left = w.raising.word(tuple(a.T for a in reversed(x))) if x else term("eye", n)
                k = size_term(y[-1].cols)
                values = {"A": term("eye", n), "X": left, "Y": w.raising.word(y)}
                w.schema("trace_schwarz", n=n, k=k, **values)


def _instance(
    w: Workbench, difference: Poly, first: tuple[Poly, Center], second: tuple[Poly, Center]
) -> None:
    """The instance in the metric of the first; where the second's is its inverse, with that."""
    (x, one), (y, two) = first, second
    square = (x.T * one.value * y).trace()
    if one is not two and (one.node is not None or two.node is not None):
        if one.inverse is None or two.letter is not one.inverse:
            return
        square, y = (x.T * y).trace(), two.value * y
    if not any(m == p for m in (square * square).terms for p in difference.terms):
        return
    n = size_term(x.rows)
    metric = term("eye", n) if one.node is None else one.node
    values = {"A": metric, "X": w.raising.poly(x), "Y": w.raising.poly(y)}
    w.schema("trace_schwarz", n=n, k=size_term(x.cols), **values)


def _halves(word: Word, metrics: list[Center]) -> Iterator[tuple[Poly, Center]]:
    """X and a metric A, where the word is a rotation of X.T*A*X."""
    for turned in dict.fromkeys(turns(word)):
        size, odd = divmod(len(turned), 2)
        x, mirror = turned[:size], turned[size + odd :]
        if not turned or tuple(a.T for a in reversed(x)) != mirror:
            continue
        value = identity(turned[size].rows) if odd and not x else None
        if value is None:
            unit = identity(ONE).terms[(), ()]
            value = Poly(mirror[0].rows, mirror[-1].cols, {((), mirror): unit})
        if not odd:
            yield value, Center(None, identity(value.rows))
        for c in metrics:
            if odd and c.letter is turned[size] and len(c.value.terms) == 1:
                yield value, c


def _products(w: Workbench, relation: Term) -> None:
    """norm2(A*B) <= norm2(A)*norm2(B), for each place where a product may be cut, and for all."""
    inside = [n.args[0] for n in postorder([relation]) if n.op == "norm2" and not n.free]
    for product in dict.fromkeys(inside):
        factors = factors_of(product)
        if product.op != "mul" or len(factors) > MAX_FACTORS:
            continue
        for cut in range(1, len(factors)):
            _cut(w, product_of(factors[:cut]), product_of(factors[cut:]))
        if len(factors) > 2:
            _cut_everywhere(w, factors)


def _cut(w: Workbench, left: Term, right: Term) -> int | None:
    if any(infer(x, w.facts.scope).is_scalar for x in (left, right)):
        return None
    sizes = {**w.sizes(left), "m": w.sizes(right)["k"]}
    return w.schema("norm_product", **sizes, A=left, B=right)


def _cut_everywhere(w: Workbench, factors: list[Term]) -> tuple[int, Term] | None:
    """norm2(A*B*..) <= norm2(A)*norm2(B)*..: the fact, and its right side."""
    if len(factors) == 1:
        return None
    first, rest = factors[0], product_of(factors[1:])
    place = _cut(w, first, rest)
    inner = _cut_everywhere(w, factors[1:])
    if place is None or inner is None:
        above = term("mul", term("norm2", first), term("norm2", rest))
        return None if place is None else (place, above)
    above = term("mul", term("norm2", first), inner[1])
    positive = w.schema("norm_nonnegative", A=first, **w.sizes(first))
    goal = term("le", term("norm2", product_of(factors)), above)
    found = w.positive(goal, [["1", [place], None], ["1", [inner[0], positive], None]])
    return None if found is None else (found, above)


def _traces(w: Workbench, relation: Term) -> None:
    """tr(A)*tr(B) >= tr(A*B), for semidefinite A and B of which both traces are there."""
    inside = [n.args[0] for n in postorder([relation]) if n.op == "tr" and not n.free]
    known = [a for a in dict.fromkeys(inside) if _is_semidefinite(w, a)]
    pairs = [(a, b) for a in known for b in known if w.size(a) is w.size(b)]
    with suppress(NoTerm, TooLarge, StatementError):
        pairs += _gram_pairs(w, w.facts.difference(relation))
        _contractions(w, w.facts.difference(relation))
    for a, b in dict.fromkeys(pairs):
        n = w.size(a)
        if w.schema("order_trace", n=n, A=a) is None:
            continue
        gap = term("sub", term("mul", term("tr", a), term("eye", n)), a)
        w.schema("order_says", n=n, A=a, B=term("mul", term("tr", a), term("eye", n)))
        w.schema("trace_product", n=n, A=gap, B=b)


def _gram_pairs(w: Workbench, difference: Poly) -> Iterator[tuple[Term, Term]]:
    """P and Q of a term tr(P)*tr(Q), turned so that the term tr(P*Q) is there as well."""
    traces = {m[0][0] for m, _ in difference.terms if len(m) == 1 and m[0][1] == 1}
    tries = 0
    for monomial, _ in difference.terms:
        words = [a.word for a, n in monomial if a.word is not None for _ in range(n)]
        if len(words) != 2 or sum(n for _, n in monomial) != 2:
            continue
        one, two = (list(filter(_is_mirrored, dict.fromkeys(turns(x)))) for x in words if x)
        for x in one:
            for y in two:
                if x[0].rows != y[0].rows or x[0].rows == ONE:
                    continue
                both = trace_of((*x, *y), x[0].rows).terms
                tries += 1
                if tries > MAX_TRIES or not any(m[0][0] in traces for m, _ in both if m):
                    continue
                yield w.raising.word(x), w.raising.word(y)


def _contractions(w: Workbench, difference: Poly) -> None:
    """tr(A) >= tr(A*B) for semidefinite A and I - B, where both traces are there."""
    traces = {m[0][0].word for m, _ in difference.terms if len(m) == 1 and m[0][1] == 1}
    for monomial, _ in difference.terms:
        for a, _ in monomial if difference.terms[monomial, ()] < 0 else ():
            word = a.word or ()
            if len(word) != 2 or word[0].rows != word[0].cols:
                continue
            for x, y in (word, word[::-1]):
                if (x,) not in traces or any(z.transposed for z in word):
                    continue
                one, two = w.raising.letter(x), w.raising.letter(y)
                n = w.size(one)
                w.schema("trace_product", n=n, A=one, B=term("sub", term("eye", n), two))


def _is_mirrored(word: Word) -> bool:
    """Whether a word is X*S*X.T with at most one letter S."""
    half = len(word) // 2
    return all(word[i] is word[-1 - i].T for i in range(half))


def _is_semidefinite(w: Workbench, a: Term) -> bool:
    if infer(a, w.facts.scope).is_scalar or infer(a, w.facts.scope).is_complex:
        return False
    return any(w.find(term(prop, a)) is not None for prop in SEMIDEFINITE)


def by_norm(w: Workbench, goal: Term) -> int | None:
    """a = b, where the squared norm of a - b is seen not to be positive."""
    kind = infer(goal.args[0], w.facts.scope)
    if goal is not w.statement.goal or kind.is_scalar:
        return None
    if not any(f.relation.op in ("positive_semidefinite", "le", "ge") for f in w.facts.facts):
        return None
    gap = term("sub", *goal.args)
    norm = term("norm2", gap)
    sizes = size_terms(kind)
    try:
        w.learn(norm)
        above, below = term("ge", norm, ZERO), term("le", norm, ZERO)
        if w.attempt(below) is None or w.schema("norm_nonnegative", **sizes, A=gap) is None:
            return None
        w.stated(above, w.establish(above))
        if w.schema("antisymmetric", x=norm, y=ZERO) is None:
            return None
        if w.schema("norm_zero", **sizes, A=gap) is None:
            return None
        return w.find(goal) or w.attempt(goal)
    except (Stuck, NotDefined, StatementError, TooLarge):
        return None


def root(w: Workbench, a: Term, b: Term) -> int | None:
    """a <= b for semidefinite matrices with a^2 <= b^2: (b - a)*S + S*(b - a), S = a + b, is
    2*(b^2 - a^2), and the range of b - a lies in that of S."""
    n = w.size(a)
    two = rational(2)
    if w.find(term("le", term("pow", a, two), term("pow", b, two))) is None:
        return None
    s, d = term("add", a, b), term("sub", b, a)
    squares = term("sub", term("pow", b, two), term("pow", a, two))
    both = term("add", term("mul", s, d), term("mul", d, s))
    w.schema("order_says", n=n, A=term("pow", a, two), B=term("pow", b, two))
    w.schema("semidefinite_sum", n=n, A=a, B=b)
    w.schema("semidefinite_hermitian", n=n, A=s)
    w.schema("semidefinite_scale", n=n, A=squares, c=two)
    w.schema("semidefinite_equal", n=n, A=term("mul", two, squares), B=both)
    # On the kernel of S both summands vanish.
    x = term("sub", term("eye", n), term("mul", term("pinv", s), s))
    adjoint = term("adjoint", x)
    for rule in ("penrose_1", "penrose_2", "penrose_3", "penrose_4"):
        w.schema(rule, n=n, k=n, A=s)
    shapes = [term("mul", adjoint, term("mul", m, x)) for m in (a, b)]
    for m in (a, b):
        w.schema("semidefinite_congruence", n=n, k=n, A=m, B=adjoint)
    w.schema("semidefinite_equal", n=n, A=shapes[1], B=term("neg", shapes[0]))
    w.schema("semidefinite_opposite", n=n, A=shapes[0])
    w.schema("semidefinite_kernel", n=n, k=n, A=a, X=x)
    w.schema("semidefinite_kernel", n=n, k=n, A=b, X=x)
    return w.schema("semidefinite_lyapunov", n=n, S=s, D=d)
