"""Forms for softmax rows and averages over blocks, of any length."""

from __future__ import annotations

from sympy import Add, Basic, Eq, Expr, Indexed, KroneckerDelta, Mul, Pow, Sum, exp, log

from derive.emit.body import Body
from derive.emit.nodes import AtLargest, Indicator, InsertZero, MaxOver, SumOfOthers, Where
from derive.emit.rules import Form
from derive.indices import bound_indices
from derive.notation import Extended


def softmax_parts(expression: Basic) -> tuple[Expr, Basic, Basic] | None:
    """The logit x_j, its index j and the bound index of exp(x_j)/sum_m exp(x_m), or None."""
    if not isinstance(expression, Mul) or len(expression.args) != 2:
        return None
    tops = [factor for factor in expression.args if isinstance(factor, exp)]
    sums = [
        factor.base
        for factor in expression.args
        if isinstance(factor, Pow) and factor.exp == -1 and isinstance(factor.base, Sum)
    ]
    if not tops or not sums or len(sums[0].args) != 2:
        return None
    logit, bound = tops[0].args[0], sums[0].args[1].args[0]
    if not logit.atoms(Indexed, Extended):
        return None
    for index in sorted(logit.free_symbols, key=str):
        if index.is_integer and sums[0].args[0] == exp(logit.subs(index, bound)):
            return logit, index, bound
    return None


def _shifted(logit: Expr, index: Basic, bound: Basic, body: Body) -> Indexed:
    """The logits less their largest, named and stored with the batch last."""
    if not isinstance(logit, Indexed):
        logit = body.let("logits", logit, body.axes_of(logit))  # type: ignore[assignment]
    axes = body.axes_of(logit)
    body.store_batch_last(str(logit.base), len(axes))  # type: ignore[attr-defined]
    largest = MaxOver(logit.subs(index, bound), bound)
    shifted = body.let("logits_shifted", logit - largest, axes)
    body.shifted.add(str(shifted.base))  # type: ignore[attr-defined]
    return shifted  # type: ignore[return-value]


def _extended(expression: Basic, body: Body) -> Basic | None:
    """A vector with a zero put in at the anchor, computed once."""
    if not isinstance(expression, exp) and not isinstance(expression, Mul):
        return None
    found = sorted(expression.atoms(Extended), key=str)
    if not found:
        return None
    family, anchor, _ = found[0].args
    index = next(
        (node.args[2] for node in found if node.args[2] not in bound_indices(expression)), None
    )
    if index is None:
        return None
    named = body.let("logits", InsertZero(family, anchor, index), (index,))
    return expression.xreplace({node: named.base[node.args[2]] for node in found})


def _log_max_shift(expression: Basic, body: Body) -> Basic | None:
    if not isinstance(expression, log):
        return None
    parts = softmax_parts(expression.args[0])
    if parts is None:
        return None
    _, index, bound = parts
    shifted = _shifted(*parts, body)
    summed = log(Sum(exp(shifted.subs(index, bound)), _limits(expression)))
    rest = tuple(axis for axis in body.axes_of(shifted) if axis != index)
    return shifted - body.let("log_total", summed, rest)


def _log_sum_exp(expression: Basic, body: Body) -> Basic | None:
    """log sum_j exp(x_j)."""
    if not isinstance(expression, log) or not isinstance(expression.args[0], Sum):
        return None
    weight, *limits = expression.args[0].args
    if len(limits) != 1 or not isinstance(weight, exp):
        return None
    index, logit = limits[0].args[0], weight.args[0]
    if isinstance(logit, Indexed) and str(logit.base) in body.shifted:
        return None
    if not isinstance(logit, Indexed):
        logit = body.let("logits", logit, body.axes_of(logit))
    axes = body.axes_of(logit)
    body.store_batch_last(str(logit.base), len(axes))  # type: ignore[attr-defined]
    rest = tuple(axis for axis in axes if axis != index)
    largest = body.let("largest", MaxOver(logit, index), rest)
    shifted = body.let("logits_shifted", logit - largest, axes)  # type: ignore[operator]
    body.shifted.add(str(shifted.base))  # type: ignore[attr-defined]
    return largest + log(Sum(exp(shifted), *limits))  # type: ignore[operator]


def _unit_diagonal(expression: Basic, body: Body) -> Basic | None:
    """delta_ab + x_ab."""
    if type(expression) is not Add:  # a sum of matrices is one by inheritance
        return None
    deltas = [term for term in expression.args if isinstance(term, KroneckerDelta)]
    if len(deltas) != 1 or not all(index.is_Symbol for index in deltas[0].args):
        return None
    rest = body.let("added", expression - deltas[0], body.axes_of(expression))
    return Where(Eq(*deltas[0].args), 1 + rest, rest)  # type: ignore[operator]


def _max_shift(expression: Basic, body: Body) -> Basic | None:
    parts = softmax_parts(expression)
    if parts is None:
        return None
    _, index, bound = parts
    shifted = _shifted(*parts, body)
    weights = body.let("weights", exp(shifted), shifted.indices, positive=True)
    return weights / Sum(weights.subs(index, bound), _limits(expression))


def _limits(expression: Basic) -> Basic:
    return next(iter(sorted(expression.atoms(Sum), key=str))).args[1]


def _complement(expression: Basic, body: Body) -> Basic | None:
    """s_j (delta_jk - s_k) where the entries of s are known to sum to one."""
    if not isinstance(expression, Mul) or len(expression.args) != 2:
        return None
    own = [f for f in expression.args if isinstance(f, Indexed) and str(f.base) in body.rows]
    if len(own) != 1:
        return None
    own_entry, difference = own[0], expression / own[0]
    deltas = [term for term in difference.args if isinstance(term, KroneckerDelta)]
    if len(deltas) != 1:
        return None
    other = deltas[0] - difference
    index = own_entry.indices[0]
    if (
        other.func != Indexed
        or other.base != own_entry.base
        or deltas[0] != KroneckerDelta(index, other.indices[0])
    ):
        return None
    others = body.let("others", SumOfOthers(own_entry.base, index), (index,))
    return own_entry * Where(Eq(index, other.indices[0]), others, -other)


def _mean_deviation(expression: Basic, body: Body) -> Basic | None:
    """x_j - sum_k s_k x_k where the entries of s are known to sum to one."""
    if not isinstance(expression, Add) or len(expression.args) != 2:
        return None
    means = [term for term in expression.args if isinstance(-term, Sum)]
    own = [term for term in expression.args if isinstance(term, Indexed)]
    if len(means) != 1 or len(own) != 1 or len(own[0].indices) != 1:
        return None
    mean, limits = (-means[0]).args
    bound = limits.args[0]
    weights = [f for f in mean.args if isinstance(f, Indexed) and str(f.base) in body.rows]
    index = own[0].indices[0]
    if len(weights) != 1 or mean != weights[0] * own[0].subs(index, bound):
        return None
    body.store_batch_last(str(own[0].base), 1)
    center = body.let("center", AtLargest(weights[0].base, own[0].base))
    centered = body.let("centered", own[0] - center, (index,))
    return centered - body.let("mean", Sum(weights[0] * centered.subs(index, bound), limits))


def _block_average(expression: Basic, body: Body) -> Basic | None:
    """sum_p [same label] w_p v_p / sum_p [same label] w_p."""
    if not isinstance(expression, Mul) or len(expression.args) != 2:
        return None
    bottoms = [
        factor.base
        for factor in expression.args
        if isinstance(factor, Pow) and factor.exp == -1 and isinstance(factor.base, Sum)
    ]
    if len(bottoms) != 1 or not bottoms[0].args[0].has(KroneckerDelta):
        return None
    share, limits = bottoms[0].args
    top = expression * bottoms[0]
    bound = limits.args[0]
    alike = next(iter(share.atoms(KroneckerDelta)))
    index = next(label.indices[0] for label in alike.args if label.indices[0] != bound)
    weight, values = share / alike, top.args[0] / share
    if not isinstance(weight, Indexed) or not isinstance(values, Indexed):
        return None
    suffix = str(alike.args[0].base).rpartition("_")[2]
    weighted = body.let("weighted", weight * values, values.indices)
    same = body.let(f"same_{suffix}", Indicator(alike, weight), (index, bound), nonnegative=True)
    mass = body.let(f"mass_{suffix}", Sum(same * weight, limits), (index,), nonnegative=True)
    return Sum(same * weighted, limits) / Where(mass > 0, mass, 1)


FORMS = (
    Form(
        "anchor_zero",
        "1 + sum_{j != i} exp(l_j) = sum_j exp(l_j) with l_i = 0",
        "any real l",
        "the anchor is one more logit, so that the shift covers it too.",
        _extended,
        ("forms.anchor_zero",),
    ),
    Form(
        "log_max_shift",
        "log(exp(x_j)/sum_k exp(x_k)) = (x_j - m) - log sum_k exp(x_k - m), m = max x",
        "any real x",
        "a probability that underflows has a finite logarithm.",
        _log_max_shift,
        ("forms.log_max_shift",),
    ),
    Form(
        "max_shift",
        "exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x",
        "any real x",
        "no exponential overflows, and the sum is at least 1. Stored with the batch last, since "
        "reductions over a short axis are slow.",
        _max_shift,
        ("forms.max_shift",),
    ),
    Form(
        "log_sum_exp",
        "log sum_j exp(x_j) = m + log sum_j exp(x_j - m), m = max x",
        "any real x",
        "no exponential overflows, and not all of them underflow.",
        _log_sum_exp,
        ("forms.log_sum_exp",),
    ),
    Form(
        "unit_diagonal",
        "delta_ab + x_ab = 1 + x_ab on the diagonal and x_ab elsewhere",
        "any real x",
        "the mask of the diagonal is no number.",
        _unit_diagonal,
        (),
        "The definition of Kronecker's delta.",
    ),
    Form(
        "complement",
        "s_j (delta_jk - s_k) = s_j sum_{k != j} s_k on the diagonal",
        "entries that sum to one",
        "1 - s_j loses every digit once s_j rounds to 1; the others' sum keeps them.",
        _complement,
        ("forms.complement",),
    ),
    Form(
        "mean_deviation",
        "x_j - sum_k s_k x_k = (x_j - c) - sum_k s_k (x_k - c), c = x where s is largest",
        "entries s_k that sum to one",
        "x_j cancels against its own share of the mean where s_j is near 1; the difference from c "
        "is small there from the start.",
        _mean_deviation,
        ("forms.mean_deviation",),
    ),
    Form(
        "block_average",
        "E[v | block of i] = sum_{p~i} w_p v_p / sum_{p~i} w_p, and 0 over a block without mass",
        "w >= 0",
        "a block without mass would read 0/0, and no expectation sees it.",
        _block_average,
        ("forms.block_average", "forms.block_without_mass"),
    ),
)
