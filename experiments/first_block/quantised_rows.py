r"""Rows known to cells of b bits: what the cell loses, and what reading its midpoint costs besides.

Two tokens of width 1, the query token given. With r_Z the responsibility of the state, r_cell that
of the cell and r_plug that of the cell's midpoint read as exact,

.. math:: E(r_Z - r_{plug})^2 = E(r_Z - r_{cell})^2 + E(r_{plug} - r_{cell})^2,

information and calibration. Cells are summed with their probabilities in closed form; expectations
inside a cell are by Gauss-Legendre quadrature in the other token.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from experiments.study import Condition, Outcome, Quantity, Study, Task, exact
from numeric.first_block import (
    AttentionBlock,
    CorruptionModel,
    FullState,
    QuantisedRow,
    QueryOnly,
    QueryRow,
    posterior,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUADRATURE = 1e-10  # what the error of the quadrature may be
REACH, PANEL, NODES = 12.0, 0.5, 24  # of the quadrature, in standard deviations
ONE = np.ones((1, 1))
SHOWN, SHOWN_BITS = "near", 2  # in the picture of the estimators


class Setting(NamedTuple):
    """Two components, equally likely, with the query token at c: l = slope * (z - c)."""

    targets: tuple[float, float]  # clean
    others: tuple[float, float]  # clean
    t: float
    query: float
    slope: float


SETTINGS = {
    "far apart": Setting((3.0, 1.0), (0.0, -4.0), 0.5, 1.0, float(np.log(2))),
    "near": Setting((3.0, 1.0), (0.5, -0.5), 0.5, 0.8, 2.0),
    "saturated": Setting((3.0, 1.0), (1.0, -1.0), 0.4, 1.0, 4.0),
}


def tasks(quick: bool, seed: int) -> list[Task]:
    """No random draws: the seed changes nothing."""
    most = 6 if quick else 10
    return [
        Task(f"{name}, {bits} bits", {"setting": name, "bits": bits})
        for name in SETTINGS
        for bits in range(1, most + 1)
    ]


def parts(setting: Setting) -> tuple[CorruptionModel, AttentionBlock]:
    """Model and block; the measurement matrix is ``slope`` at the setting's query token."""
    clean = np.stack([setting.targets, setting.others], axis=-1)[..., None]
    model = CorruptionModel(clean, np.array([0.5, 0.5]), setting.t)
    block = AttentionBlock([ONE], [ONE * setting.slope / setting.query], [ONE], n_tokens=2)
    return model, block


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """Information, calibration and total of one number of bits."""
    setting, bits = SETTINGS[parameters["setting"]], parameters["bits"]
    model, block = parts(setting)
    by_cell, plugged, mass = estimators(setting, bits)
    z, weight = _nodes(model, setting, bits)
    states = np.stack([np.full_like(z, setting.query), z], axis=-1)[..., None]
    full = posterior(model, block, FullState(states))
    alone = posterior(model, block, QueryOnly(np.array([setting.query])))
    weight = weight * np.exp(full.log_evidence - alone.log_evidence)
    r = full.responsibilities[:, 0]
    row = expit(setting.slope * (z - setting.query))
    cell = np.minimum((row * 2**bits).astype(int), 2**bits - 1)

    def over_cells(values: np.ndarray) -> np.ndarray:
        return np.bincount(cell, weights=weight * values, minlength=2**bits)

    information = float(weight @ (r - by_cell[cell]) ** 2)
    calibration = float(mass @ (plugged - by_cell) ** 2)
    total = float(weight @ (r - plugged[cell]) ** 2)
    curve = {}
    if (parameters["setting"], bits) == (SHOWN, SHOWN_BITS):
        order = np.argsort(z)
        chosen = order[np.abs(z[order] - model.mu[:, 1].mean()) < 5 * setting.t]
        curve = {
            "z": exact(z[chosen]), "r of the state": exact(r[chosen]),
            "r of the cell": exact(by_cell[cell[chosen]]),
            "r of the midpoint": exact(plugged[cell[chosen]]),
        }  # fmt: skip
    return {
        "information": exact(information),
        "calibration": exact(calibration),
        "total": exact(total),
        "split": exact(abs(total - information - calibration)),
        "mass error": exact(np.abs(over_cells(np.ones_like(z)) - mass).max()),
        "tower error": exact(np.abs(over_cells(r) - mass * by_cell).max()),
        "probable cells": exact((mass > 1e-6).sum()),
        **curve,
    }


def estimators(setting: Setting, bits: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Responsibilities given each cell, and its midpoint read as exact; probability of the cell."""
    model, block = parts(setting)
    middle = ((np.arange(2**bits) + 0.5) / 2**bits)[:, None]
    query = np.full((2**bits, 1), setting.query)
    cells = posterior(model, block, QuantisedRow.of_two_tokens(query, middle, bits))
    row = np.log(np.stack([1 - middle, middle], axis=-1))
    plugged = posterior(model, block, QueryRow(query, row))
    alone = posterior(model, block, QueryOnly(np.array([setting.query])))
    mass = np.exp(cells.log_evidence - alone.log_evidence)
    return cells.responsibilities[:, 0], plugged.responsibilities[:, 0], mass


def _nodes(model: CorruptionModel, setting: Setting, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights in the other token; no panel goes over the edge of a cell."""
    means = model.mu[:, 1, 0]
    low, high = means.min() - REACH * model.t, means.max() + REACH * model.t
    edges = setting.query + logit(np.arange(1, 2**bits) / 2**bits) / setting.slope
    panels = np.arange(low, high, PANEL * model.t)
    cuts = np.unique([*panels, high, *edges[(edges > low) & (edges < high)]])
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(cuts) / 2
    z = (cuts[:-1] + half)[:, None] + half[:, None] * nodes
    return z.ravel(), (half[:, None] * weights).ravel()


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    rises = [
        float(fine["information"]) - float(coarse["information"])
        for coarse, fine in itertools.pairwise(outcomes)
        if coarse.task.parameters["setting"] == fine.task.parameters["setting"]
    ]

    def worst(name: str) -> float:
        return max(float(outcome[name]) for outcome in outcomes)

    return [
        Condition("one bit more raises the loss of information by", max(rises), "<=", 1e-12),
        Condition("total less information and calibration", worst("split"), "<=", QUADRATURE),
        Condition("probabilities of cells: closed form against quadrature", worst("mass error"),
                  "<=", QUADRATURE),
        Condition("mean of the state's responsibility in a cell less the cell's own",
                  worst("tower error"), "<=", QUADRATURE),
        Condition("control: the midpoint is miscalibrated at one bit",
                  max(float(o["calibration"]) for o in outcomes if o.task.parameters["bits"] == 1),
                  ">=", 1e-3),
    ]  # fmt: skip


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    from experiments.pictures import BLACK, BLUE, COLORS, GREY, RED, plain

    left, right = figure.subplots(1, 2)
    for name, color in zip(SETTINGS, COLORS, strict=False):
        own = [o for o in outcomes if o.task.parameters["setting"] == name]
        bits = [o.task.parameters["bits"] for o in own]
        left.semilogy(bits, [float(o["information"]) for o in own], "o-", ms=4, color=color,
                      label=name)  # fmt: skip
        left.semilogy(bits, [float(o["calibration"]) for o in own], "s--", ms=4, mfc="white",
                      color=color)  # fmt: skip
    left.plot([], [], "o-", color=GREY, label="information lost")
    left.plot([], [], "s--", mfc="white", color=GREY, label="cost of reading the midpoint")
    left.legend(frameon=False, fontsize=9)
    plain(left, xlabel="bits of the row", ylabel="mean square of a responsibility",
          title="Two different costs", xticks=sorted(set(bits)))  # fmt: skip
    shown = next(o for o in outcomes if "z" in o.results)
    z = shown["z"].value
    right.plot(z, shown["r of the state"].value, color=BLACK, lw=1.5, label="of the state")
    right.plot(z, shown["r of the cell"].value, color=BLUE, label="of the cell")
    right.plot(z, shown["r of the midpoint"].value, "--", color=RED,
               label="of the cell's midpoint,\nread as exact")  # fmt: skip
    right.legend(frameon=False, fontsize=9)
    plain(right, xlabel="other token", ylabel="responsibility of the first component",
          title=f"{SHOWN}, {SHOWN_BITS} bits")  # fmt: skip


STUDY = Study(
    name="first_block.quantised_rows",
    item="FB-30 E4",
    title="rows known to b bits: information lost, and the cost of reading the midpoint",
    shows=("FB-29",),
    tasks=tasks,
    run=run,
    conditions=conditions,
    draw=draw,
    size=(11.0, 4.2),
)
