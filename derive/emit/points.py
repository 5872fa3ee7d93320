"""Forms for clouds of points: squared distances, softmax rows of them, averages that cancel."""

from __future__ import annotations

from sympy import Add, Basic, Expr, Indexed, IndexedBase, Integer, Mul, Pow, Sum, exp

from derive.emit.body import Body
from derive.emit.nodes import ExcessDistances, SquaredDistances
from derive.emit.rows import softmax_parts
from derive.emit.rules import Form


def _pair(expression: Basic) -> tuple[Indexed, Indexed] | None:
    """The entries x[i, a] and y[j, a] of sum_a (x[i, a] - y[j, a])^2, or None."""
    if not isinstance(expression, Sum) or len(expression.args) != 2:
        return None
    square, limits = expression.args
    if not isinstance(square, Pow) or square.exp != 2 or not isinstance(square.base, Add):
        return None
    terms = square.base.args
    entries = [term if isinstance(term, Indexed) else -term for term in terms]
    signs = [isinstance(term, Indexed) for term in terms]
    if sorted(signs) != [False, True] or not all(isinstance(e, Indexed) for e in entries):
        return None
    plus, minus = entries if signs[0] else entries[::-1]
    places = [(*entry.indices,) for entry in (plus, minus)]
    if any(len(place) != 2 or place[1] != limits.args[0] for place in places):
        return None
    return (plus, minus) if places[0][0] != places[1][0] else None


def _distances(x: Indexed, y: Indexed, body: Body) -> Indexed:
    i, j = x.indices[0], y.indices[0]
    return body.let("distances", SquaredDistances.on((x.base, y.base), (i, j)), (i, j))  # type: ignore[return-value]


def _squared_distances(expression: Basic, body: Body) -> Basic | None:
    pair = _pair(expression)
    return None if pair is None else _distances(*pair, body)


def _nearest_first(expression: Basic, body: Body) -> Basic | None:
    """A softmax over j whose logits have a multiple of |x_i - y_j|^2, free of j."""
    parts = softmax_parts(expression)
    if parts is None:
        return None
    logit, index, bound = parts
    found = [(node, pair) for node in logit.atoms(Sum) if (pair := _pair(node)) is not None]
    if len(found) != 1:
        return None
    node, pair = found[0]
    own = [entry for entry in pair if entry.indices[0] == index]
    factor = logit.coeff(node)
    rest = (logit - factor * node).expand()
    if len(own) != 1 or factor.has(index) or rest.has(node):
        return None
    other = next(entry for entry in pair if entry is not own[0])
    distances = _distances(other, own[0], body)
    families = (distances.base, other.base, own[0].base)
    excess = body.let("excess", ExcessDistances.on(families, distances.indices), distances.indices)
    shifted: Expr = rest + factor * excess  # type: ignore[operator]
    limits = next(f.base for f in expression.args if isinstance(f, Pow)).args[1]  # type: ignore[union-attr]
    return exp(shifted) / Sum(exp(shifted.subs(index, bound)), limits)


def _common_origin(expression: Basic, body: Body) -> Basic | None:
    """sum_j s_j x_j - y or y - sum_j s_j x_j with weights s of sum one."""
    if type(expression) is not Add or len(expression.args) != 2:
        return None
    sums = [t for t in expression.args if isinstance(t if t.func == Sum else -t, Sum)]
    if len(sums) != 1:
        return None
    sign = 1 if isinstance(sums[0], Sum) else -1
    average, other = sign * sums[0], -sign * (expression - sums[0])
    product, limits = average.args
    if not isinstance(other, Indexed) or not isinstance(product, Mul) or len(product.args) != 2:
        return None
    weights = [f for f in product.args if isinstance(f, Indexed) and str(f.base) in body.rows]
    if len(weights) != 1:
        return None
    entry = product / weights[0]
    if not isinstance(entry, Indexed) or len(entry.indices) != 2 or str(entry.base) in body.centred:
        return None
    index, coordinate = entry.indices
    if index != limits.args[0] or other.indices[-1] != coordinate:
        return None
    centred = _less_origin(entry, entry.base, body, "centred")
    if other.base == entry.base:
        offset = centred.base[other.indices]  # type: ignore[attr-defined]
    else:
        offset = _less_origin(other, entry.base, body, "offset")
    return sign * (Sum(weights[0] * centred, limits) - offset)


def _less_origin(entry: Indexed, points: IndexedBase, body: Body, name: str) -> Basic:
    """An entry less that of the first point, computed once."""
    coordinate = entry.indices[-1]
    found = body.let(name, entry - points[Integer(0), coordinate], entry.indices)
    body.centred.add(str(found.base))  # type: ignore[attr-defined]
    return found


FORMS = (
    Form(
        "nearest_first",
        "exp(l_j - c D_j)/sum_k exp(l_k - c D_k) = the same with E_j for D_j, D_j = |q - z_j|^2, "
        "E_j = D_j - |q - z|^2 = sum_a (z_ja - z_a)((z_ja - q_a) + (z_a - q_a)), z any one point",
        "any real l and c; z is the nearest particle",
        "far from all particles the distances agree in their leading digits, and c times their "
        "rounding is an error of the exponents.",
        _nearest_first,
        ("forms.nearest_first",),
    ),
    Form(
        "squared_distances",
        "sum_a (x_ia - y_ja)^2 for all i and j = one coordinate added after another",
        "any real x and y",
        "all differences at once are an array as many times larger as there are coordinates, and "
        "|x|^2 + |y|^2 - 2 x'y loses its digits far from the origin.",
        _squared_distances,
        ("forms.squared_distances",),
    ),
    Form(
        "common_origin",
        "sum_j s_j z_j - y = sum_j s_j (z_j - o) - (y - o), o the first point",
        "weights s of sum one",
        "far from the origin of the coordinates the two terms cancel.",
        _common_origin,
        ("forms.common_origin",),
    ),
)
