"""Cases of attention heads: log-ratios, values, and what they leave open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

from benchmarks.cases.case import Arguments, Case, Generator, Instance
from benchmarks.cases.conditioning import head_maps, seen_token, token_mean
from benchmarks.cases.digits import mp_vector
from benchmarks.cases.exact import dot, exact, minus, plus, product, times

Array = np.ndarray

HEADS, WIDTH, KEYS, VALUES, OTHERS = 2, 4, 3, 3, 5
OUTPUTS = HEADS * VALUES
SIZES = {
    "H": HEADS,
    "d": WIDTH,
    "k": KEYS,
    "v": VALUES,
    "J": OTHERS,
    "P": OTHERS + 1,
    "V_tot": OUTPUTS,
}


# ---------------------------------------------------------------- instances


def _head(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        maps = rng.normal(size=(2, count, KEYS, WIDTH))
        token, bias = rng.normal(size=(count, WIDTH)), rng.normal(size=(count, KEYS))
        if kind == "scaled":
            scale = rng.choice([1e-100, 1e100], size=(count, 1, 1))
            maps, bias = maps * scale, bias * scale[..., 0]
        elif kind == "no query":
            nothing = rng.integers(0, 2, count) == 0
            maps[0] = np.where(nothing[:, None, None], 0, maps[0])
            token = np.where(nothing[:, None], token, 0)
            bias = np.where(rng.integers(0, 2, (count, 1)) == 0, 0, bias)
        sizes = rng.integers(1, 65, count).astype(float)
        return {"c": token, "Q": maps[0], "K": maps[1], "b_Q": bias, "key_size": sizes}

    return drawn


def _tokens(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        maps = rng.normal(size=(count, HEADS, WIDTH))
        tokens, query = rng.normal(size=(count, OTHERS, WIDTH)), rng.normal(size=(count, WIDTH))
        if kind == "remote":
            tokens, query = tokens + 1e8, query + 1e8
        return {"M": maps * (1e3 if kind == "saturated" else 1), "tokens": tokens, "c": query}

    return drawn


def _rotated(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        maps = rng.normal(size=(2, count, HEADS, WIDTH)) * (1e3 if kind == "saturated" else 1)
        tokens = rng.normal(size=(2, count, WIDTH))
        return {"M_j": maps[0], "token": tokens[0], "M": maps[1], "c": tokens[1]}

    return drawn


def _law(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        arguments = head_maps("typical" if kind == "scaled" else kind)(rng, count)
        scale = rng.choice([1e-100, 1e100], size=(count, 1, 1)) if kind == "scaled" else 1
        tokens = rng.normal(size=(2, count, WIDTH))
        return {"mu": tokens[0], "c": tokens[1], "M": arguments["M"] * scale, "t": arguments["t"]}

    return drawn


def _rows(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Array:
    logits = rng.normal(size=shape)
    if kind == "saturated":
        logits[..., 0] += 40
    weights = np.exp(logits)
    return weights / weights.sum(axis=-1, keepdims=True)


def _value(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        return {
            "V": rng.normal(size=(count, VALUES, WIDTH)),
            "tokens": rng.normal(size=(count, OTHERS + 1, WIDTH)),
            "row": _rows(rng, kind, (count, OTHERS + 1)),
        }

    return drawn


def _block(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        low = -200 if kind == "saturated" else -2
        weights = 10 ** rng.uniform(low, 0, (count, OUTPUTS))
        return {"weights": weights, "V": rng.normal(size=(count, OUTPUTS, WIDTH))}

    return drawn


def _spread(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        loadings = rng.integers(-3, 4, (count, WIDTH, WIDTH)).astype(float)
        if kind == "singular":
            loadings *= np.arange(WIDTH) < rng.integers(0, WIDTH, count)[:, None, None]
        return {
            "weights": _rows(rng, kind, (count, OUTPUTS, OTHERS + 1))[..., 1:],
            "V": rng.normal(size=(count, OUTPUTS, WIDTH)),
            "residual_cov": loadings @ np.swapaxes(loadings, -1, -2),
        }

    return drawn


def _recovered(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        arguments = seen_token(kind)(rng, count)
        del arguments["mu"]
        return arguments

    return drawn


# ---------------------------------------------------------------- references


def head_map(instance: Instance) -> list[Any]:
    key_map = [mp_vector(line) for line in instance["K"]]
    token = mp_vector(instance["c"])
    query = [dot(mp_vector(line), token) for line in instance["Q"]]
    query = plus(query, mp_vector(instance["b_Q"]))
    root = mpmath.sqrt(mpf(float(instance["key_size"])))
    return [[dot(list(column), query) / root for column in zip(*key_map, strict=True)]]


def log_ratios(instance: Instance) -> list[Any]:
    maps, tokens, query = (exact(instance[name]) for name in ("M", "tokens", "c"))
    return [[times(maps, minus(token, query)) for token in tokens]]


def rotary_log_ratios(instance: Instance) -> list[Any]:
    own, token, other, query = (exact(instance[name]) for name in ("M_j", "token", "M", "c"))
    return [minus(times(own, token), times(other, query))]


def log_ratio_law(instance: Instance) -> list[Any]:
    mean, query, maps, t = (exact(instance[name]) for name in ("mu", "c", "M", "t"))
    cov = [[t**2 * dot(left, right) for right in maps] for left in maps]
    return [times(maps, minus(mean, query)), cov]


def head_value(instance: Instance) -> list[Any]:
    """The row mixes the values of the tokens, one token after another."""
    values, tokens, row = (exact(instance[name]) for name in ("V", "tokens", "row"))
    total = [0 * row[0]] * len(values)
    for share, token in zip(row, tokens, strict=True):
        total = plus(total, [share * entry for entry in times(values, token)])
    return [total]


def value_block(instance: Instance) -> list[Any]:
    weights, values = exact(instance["weights"]), exact(instance["V"])
    return [[[w * entry for entry in line] for w, line in zip(weights, values, strict=True)]]


def value_cov(instance: Instance) -> list[Any]:
    """The sum over the tokens of D_j R D_j', term by term."""
    weights, values, cov = (exact(instance[name]) for name in ("weights", "V", "residual_cov"))
    total = [[0 * cov[0][0]] * len(values) for _ in values]
    for j in range(len(weights[0])):
        block = [[line[j] * entry for entry in v] for line, v in zip(weights, values, strict=True)]
        part = product(product(block, cov), [list(column) for column in zip(*block, strict=True)])
        total = [plus(a, b) for a, b in zip(total, part, strict=True)]
    return [total]


def recovered_token(instance: Instance) -> list[Any]:
    """The mean of a token that is expected to be the query token."""
    return token_mean({**instance, "mu": instance["c"]})


# ---------------------------------------------------------------- by hand


def head_map_by_hand(c: Array, Q: Array, K: Array, b_Q: Array, key_size: Array) -> Array:
    query = (Q @ c[..., None])[..., 0] + b_Q
    return (np.swapaxes(K, -1, -2) @ query[..., None])[..., 0] / np.sqrt(key_size)[..., None]


def log_ratios_by_hand(M: Array, tokens: Array, c: Array) -> Array:
    return (tokens - c[..., None, :]) @ np.swapaxes(M, -1, -2)


def rotary_by_hand(M_j: Array, token: Array, M: Array, c: Array) -> Array:
    return (M_j @ token[..., None] - M @ c[..., None])[..., 0]


def log_ratio_law_by_hand(mu: Array, c: Array, M: Array, t: Array) -> tuple[Array, Array]:
    cov = t[..., None, None] ** 2 * (M @ np.swapaxes(M, -1, -2))
    return (M @ (mu - c)[..., None])[..., 0], cov


def head_value_by_hand(V: Array, tokens: Array, row: Array) -> Array:
    return (V @ (np.swapaxes(tokens, -1, -2) @ row[..., None]))[..., 0]


def value_block_by_hand(weights: Array, V: Array) -> Array:
    return weights[..., None] * V


def value_cov_by_hand(weights: Array, V: Array, residual_cov: Array) -> Array:
    shares = weights @ np.swapaxes(weights, -1, -2)
    return shares * (V @ residual_cov @ np.swapaxes(V, -1, -2))


def recovered_token_by_hand(c: Array, log_ratios: Array, M: Array) -> Array:
    return c + (np.linalg.pinv(M) @ log_ratios[..., None])[..., 0]


# ---------------------------------------------------------------- scales


def _sizes(*parts: Array) -> list[Any]:
    """The largest entry of each output, had all its terms one sign."""
    return [mpf(float(np.max(part, initial=0))) for part in parts]


def _of_head(i: Instance, _: list[Any]) -> list[Any]:
    query = np.abs(i["Q"]) @ np.abs(i["c"]) + np.abs(i["b_Q"])
    return _sizes(np.abs(i["K"]).T @ query / np.sqrt(i["key_size"]))


def _of_log_ratios(i: Instance, _: list[Any]) -> list[Any]:
    return _sizes(np.abs(i["tokens"] - i["c"]) @ np.abs(i["M"]).T)


def _of_rotated(i: Instance, _: list[Any]) -> list[Any]:
    return _sizes(np.abs(i["M_j"]) @ np.abs(i["token"]) + np.abs(i["M"]) @ np.abs(i["c"]))


def _of_law(i: Instance, _: list[Any]) -> list[Any]:
    maps = np.abs(i["M"])
    return _sizes(maps @ np.abs(i["mu"] - i["c"]), i["t"] ** 2 * (maps @ maps.T))


def _of_value(i: Instance, _: list[Any]) -> list[Any]:
    return _sizes(np.abs(i["V"]) @ (np.abs(i["tokens"]).T @ i["row"]))


def _of_cov(i: Instance, _: list[Any]) -> list[Any]:
    values = np.abs(i["V"])
    shares = i["weights"] @ i["weights"].T
    return _sizes(shares * (values @ np.abs(i["residual_cov"]) @ values.T))


def _of_token(i: Instance, expected: list[Any]) -> list[Any]:
    return [max(abs(mpf(e.numerator) / e.denominator) for e in expected[0]) + 1]


def _kinds(make: Callable[[str], Generator], *kinds: str) -> dict[str, Generator]:
    return {kind: make(kind) for kind in kinds}


CASES = {
    "head_map": Case(
        _kinds(_head, "typical", "scaled", "no query"),
        head_map,
        head_map_by_hand,
        sizes=SIZES,
        scales={"the products": _of_head},
    ),
    "log_ratios": Case(
        _kinds(_tokens, "typical", "remote", "saturated"),
        log_ratios,
        log_ratios_by_hand,
        exact=True,
        sizes=SIZES,
        rational="typical",
        scales={"the products": _of_log_ratios},
    ),
    "rotary_log_ratios": Case(
        _kinds(_rotated, "typical", "saturated"),
        rotary_log_ratios,
        rotary_by_hand,
        exact=True,
        sizes=SIZES,
        rational="typical",
        scales={"the products": _of_rotated},
    ),
    "log_ratio_law": Case(
        _kinds(_law, "typical", "singular", "scaled"),
        log_ratio_law,
        log_ratio_law_by_hand,
        exact=True,
        sizes=SIZES,
        rational="singular",
        scales={"the products": _of_law},
    ),
    "head_value": Case(
        _kinds(_value, "typical", "saturated"),
        head_value,
        head_value_by_hand,
        exact=True,
        sizes=SIZES,
        rational="typical",
        scales={"the products": _of_value},
    ),
    "value_block": Case(
        _kinds(_block, "typical", "saturated"),
        value_block,
        value_block_by_hand,
        exact=True,
        sizes=SIZES,
        rational="typical",
    ),
    "value_cov": Case(
        _kinds(_spread, "typical", "singular"),
        value_cov,
        value_cov_by_hand,
        exact=True,
        sizes=SIZES,
        rational="singular",
        scales={"the products": _of_cov},
    ),
    "recovered_token": Case(
        _kinds(_recovered, "typical", "ill-conditioned", "singular"),
        recovered_token,
        recovered_token_by_hand,
        exact=True,
        sizes=SIZES,
        rational="singular",
        written="singular",
        scales={"the token": _of_token},
        count=40,
    ),
}
