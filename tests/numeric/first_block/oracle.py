"""An independent first block: one observation, 40 digits, from the definitions alone.

It knows no structure: logits and values are computed as attention is defined, the observation's
matrix is read off from them one unit vector at a time (given the query the logits are affine in the
other tokens, and given the row so are the values), and the Gaussian is the joint one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mpmath
import numpy as np
from mpmath import mp, mpf

from numeric.first_block.block import AttentionBlock
from numeric.first_block.model import CorruptionModel

DIGITS = 40


class Exact(NamedTuple):
    """Posterior, noise mean and log evidence of one observation, and its matrix F."""

    log_r: list[Any]
    noise_mean: list[Any]
    log_evidence: Any
    F: Any
    open_contrasts: Any  # |P_ker F Delta_nm| / t


def matrix(array: Any) -> Any:
    array = np.asarray(array, dtype=object)
    return mpmath.matrix(array.tolist()) if array.size else mpmath.matrix(len(array), 0)


def logits(block: AttentionBlock, h: int, tokens: list[Any], query: Any) -> list[Any]:
    """Logits of head h for every token, by the definition; `query` is the target's token."""

    def place(z: Any, j: int) -> Any:
        return z if block.positions is None else z + matrix(block.positions[j])

    asked = matrix(block.query_maps[h]) * place(query, block.target)
    if block.query_biases is not None:
        asked += matrix(block.query_biases[h])
    if block.rotations is not None:
        asked = matrix(block.rotations[h][block.target]) * asked
    found = []
    for j, z in enumerate(tokens):
        key = matrix(block.key_maps[h]) * place(z, j)
        if block.key_biases is not None:
            key += matrix(block.key_biases[h])
        if block.rotations is not None:
            key = matrix(block.rotations[h][j]) * key
        found.append((asked.T * key)[0] / mpmath.sqrt(len(asked)))
    return found


def row_of(block: AttentionBlock, h: int, tokens: list[Any], query: Any) -> list[Any]:
    weights = [
        mpmath.exp(x) if seen else mpf(0)
        for x, seen in zip(logits(block, h, tokens, query), block.visible, strict=True)
    ]
    total = mpmath.fsum(weights)
    return [w / total for w in weights]


def values_of(block: AttentionBlock, rows: list[list[Any]], tokens: list[Any]) -> list[Any]:
    """All values, for given rows."""
    found: list[Any] = []
    for h, row in enumerate(rows):
        if len(block.value_maps[h]) == 0:
            continue
        mixed = mpmath.zeros(block.width, 1)
        for j, z in enumerate(tokens):
            placed = z if block.positions is None else z + matrix(block.positions[j])
            mixed += row[j] * placed
        value = matrix(block.value_maps[h]) * mixed
        if block.value_biases is not None:
            value += matrix(block.value_biases[h])
        found += list(value)
    return found


def observation_map(
    block: AttentionBlock,
    state: np.ndarray,
    *,
    values: bool,
    projected: bool,
    rows: bool = True,
    anchor: int | None = None,
) -> tuple[Any, list[int]]:
    """F of FB-13 at a state, in the order of the tokens other than the target."""
    tokens = [matrix(z) for z in state]
    query = tokens[block.target]
    others = [j for j in range(block.n_tokens) if j != block.target]
    visible = [j for j in range(block.n_tokens) if block.visible[j]]
    if anchor is None:
        anchor = block.target if block.visible[block.target] else visible[0]
    true_rows = [row_of(block, h, tokens, query) for h in range(block.n_heads)]

    def observed(at: list[Any]) -> list[Any]:
        found = []
        for h in range(block.n_heads) if rows else []:
            x = logits(block, h, at, query)
            found += [x[j] - x[anchor] for j in visible if j != anchor]
        if values:
            out = matrix(values_of(block, true_rows, at))
            if projected and block.w_out is not None:
                out = matrix(block.w_out) * out
            found += list(out)
        return found

    zero = mpmath.zeros(block.width, 1)

    def moved(j: int, a: int) -> list[Any]:
        at = [query if k == block.target else zero for k in range(block.n_tokens)]
        at[j] = mpmath.matrix([mpf(int(b == a)) for b in range(block.width)])
        return observed(at)

    base = observed([query if k == block.target else zero for k in range(block.n_tokens)])
    columns = [
        [x - y for x, y in zip(moved(j, a), base, strict=True)]
        for j in others
        for a in range(block.width)
    ]
    return (
        mpmath.matrix(columns).T if columns and base else mpmath.matrix(len(base), len(columns))
    ), others


def projector(F: Any) -> Any:
    """Projector on the rows of F, by the eigenvectors of the normalized Gram matrix."""
    n, m = F.rows, F.cols
    if n == 0 or m == 0:
        return mpmath.zeros(m)
    unit = F.copy()
    for a in range(n):
        size = mpmath.norm(F[a, :].T)
        for b in range(m):
            unit[a, b] = F[a, b] / size if size > mpf(10) ** -(DIGITS // 2) else mpf(0)
    sizes, vectors = mpmath.eigsy(unit.T * unit)
    found = mpmath.zeros(m)
    for k in range(m):
        if sizes[k] > mpf(10) ** -(DIGITS // 2):
            found += vectors[:, k] * vectors[:, k].T
    return found


def exact_posterior(
    model: CorruptionModel,
    block: AttentionBlock,
    state: np.ndarray,
    *,
    values: bool = True,
    projected: bool = False,
    rows: bool = True,
    anchor: int | None = None,
) -> Exact:
    """The posterior given the observation that the state makes."""
    with mp.workdps(DIGITS):
        F, others = observation_map(
            block, state, values=values, projected=projected, rows=rows, anchor=anchor
        )
        i, t = block.target, mpf(model.t)
        clean, keep = matrix_of(model.clean), 1 - t
        c = matrix(state[i])
        z = stacked([matrix(state[j]) for j in others])
        means = [stacked([keep * clean[n][j] for j in others]) for n in range(model.n_components)]
        targets = [keep * clean[n][i] for n in range(model.n_components)]
        masses = [mpf(m) for m in model.masses]
        if others:
            P = projector(F)
            squares = [mpmath.norm(P * (z - mu)) ** 2 for mu in means]
            open_ = mpmath.matrix(len(means), len(means))
            for n, mu in enumerate(means):
                for m, nu in enumerate(means):
                    gap = mu - nu
                    open_[n, m] = mpmath.norm(gap - P * gap) / t
        else:
            squares, open_ = [mpf(0)] * len(means), mpmath.zeros(len(means))
        scores = [
            mpmath.log(w) - (mpmath.norm(c - mu) ** 2 + q) / (2 * t**2)
            for w, mu, q in zip(masses, targets, squares, strict=True)
        ]
        top = max(scores)
        total = top + mpmath.log(mpmath.fsum(mpmath.exp(s - top) for s in scores))
        log_r = [s - total for s in scores]
        mean = (c - sum((mpmath.exp(x) * mu for x, mu in zip(log_r, targets, strict=True)),
                        mpmath.zeros(block.width, 1))) / t  # fmt: skip
        evidence = total - mpf(block.width) / 2 * mpmath.log(2 * mpmath.pi * t**2)
        evidence = evidence - log_size(F, t) if F.rows and F.cols else evidence
        return Exact(log_r, list(mean), evidence, F, open_)


def log_size(F: Any, t: Any) -> Any:
    """``log sqrt(det(2 pi t^2 F F'))`` for a full row rank; nan otherwise."""
    if F.rows > F.cols:
        return mpf("nan")
    det = mpmath.det(2 * mpmath.pi * t**2 * F * F.T)
    return mpmath.log(det) / 2 if det > 0 else mpf("nan")


def matrix_of(clean: np.ndarray) -> list[list[Any]]:
    return [[matrix(z) for z in array] for array in clean]


def stacked(tokens: list[Any]) -> Any:
    return mpmath.matrix([x for z in tokens for x in z]) if tokens else mpmath.matrix(0, 1)
