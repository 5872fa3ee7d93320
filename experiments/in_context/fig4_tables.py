"""Errors against sizes, noise and layers beside the values of the second text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.in_context.estimates import EDGES, drawn, draws, error_over_draws, pick
from experiments.in_context.prompts import VARIANCES
from experiments.study import Outcome, Quantity, Table, monte_carlo

# Values stated for comparison. Limits by depth, of 200 layers, beta = 20, sigma2 = 0.5 (EB-55).
TEXT_NOMINAL = 200
TEXT_LIMITS = {
    "deviation": {0: 0.44132, 50: 0.39739, 100: 0.35009, 150: 0.30337, 200: 0.26606},
    "variance": {0: 0.49932, 50: 0.46617, 100: 0.43148, 150: 0.39827, 200: 0.37311},
}
# By noise: one-shot, nominal end, least error (EB-55).
TEXT_NOISE = {
    "deviation": {
        0.1: (0.0636, 0.0345, 0.0214), 0.25: (0.2025, 0.1079, 0.0886),
        0.5: (0.4413, 0.2661, 0.2473), 1.0: (0.8102, 0.4785, 0.4636),
    },
    "variance": {},
}  # fmt: skip
# By size, of eight draws: squared error at the nominal end and of the one-shot; then the error
# above the least at the nominal end. Reading "variance".
TEXT_SIZES = {100: (0.493, 0.519), 500: (0.439, 0.500), 1000: (0.420, 0.499), 5000: (0.389, 0.492)}
TEXT_EXCESS = {20_000: 0.016, 100_000: 0.011}


def tables(outcomes: Sequence[Outcome]) -> list[Table]:
    found = []
    for width in VARIANCES:
        own = pick(outcomes, width=width)
        if own:
            found += [
                _by_size(width, own), _by_noise(width, own), _by_layers(width, own),
                _by_ambiguity(width, own),
            ]  # fmt: skip
    own = pick(outcomes, width="variance", part="sizes")
    if own:
        found.append(_beside_the_text(pick(outcomes, width="variance")))
    return found


def stated(quantity: Quantity, *place: int) -> str:
    """A Monte Carlo mean with its standard error."""
    return f"{quantity.value[place]:.4f} +- {quantity.error[place]:.4f}"


def against(value: float, text: float | None, digits: int = 4) -> list[str]:
    """A value of the text and how far ours is from it, if there is one."""
    if text is None:
        return ["", ""]
    return [f"{text:.{digits}f}", f"{value - text:+.{digits}f}"]


def _by_size(width: str, outcomes: Sequence[Outcome]) -> Table:
    limit = pick(outcomes, part="sizes", limit=True)[0]
    at = limit.task.parameters
    rows = []
    for part in (drawn(pick(outcomes, part="sizes")), *_many(outcomes)):
        two, fresh = error_over_draws(part, "two stages"), error_over_draws(part, "fresh tokens")
        depths = part[0].task.parameters["depths"]
        for k, size in enumerate(part[0].task.parameters["sizes"]):
            cells = {depth: stated(two, k, j) for j, depth in enumerate(depths)}
            rows.append(
                [str(size), *(cells.get(d, "") for d in at["depths"]), stated(fresh, k, -1)]
            )
    values = limit["two stages"].value
    rows.append(["infinity", *(f"{x:.5f}" for x in values), f"{values[-1]:.5f}"])
    text = TEXT_LIMITS[width] if at["nominal"] == TEXT_NOMINAL else {}
    if text:
        rows.append(["text", *(f"{text[d]:.5f}" for d in at["depths"]), ""])
        rows.append(
            [
                "apart",
                *(f"{x - text[d]:+.5f}" for x, d in zip(values, at["depths"], strict=True)),
                "",
            ]
        )
    return Table(
        f"Error against the size of the prompt, width as {width}, beta = {at['beta']:g}, "
        f"sigma2 = {at['sigma2']:g}; least error {float(limit['least error']):.5f}",
        ("N", *(f"{d} layers" for d in at["depths"]), "fresh tokens, nominal end"),
        rows,
    )  # fmt: skip


def _many(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    own = pick(outcomes, part="many")
    sizes = sorted({o.task.parameters["sizes"][0] for o in own})
    return [pick(own, sizes=[size]) for size in sizes]


def _by_noise(width: str, outcomes: Sequence[Outcome]) -> Table:
    rows = []
    own = pick(outcomes, part="noise")
    for sigma2 in sorted({o.task.parameters["sigma2"] for o in own}):
        limit, some = pick(own, sigma2=sigma2, limit=True)[0], drawn(pick(own, sigma2=sigma2))
        two = error_over_draws(some, "two stages")
        text = TEXT_NOISE[width].get(sigma2, (None,) * 3)
        least = float(limit["least error"])
        row = [f"{sigma2:g}"]
        for k in (0, 1):
            value = float(limit["two stages"].value[k])
            row += [stated(two, 0, k), f"{value:.4f}", *against(value, text[k])]
        row += [f"{least:.4f}", *against(least, text[2])]
        end = two.value[0, 1] / sigma2
        rows.append([*row, f"{end:.4f}", f"{end / 2:.4f}"])
    size = drawn(own)[0].task.parameters["sizes"][0]
    return Table(
        f"Error against the noise, width as {width}, N = {size}",
        ("sigma2", "one-shot", "limit", "text", "apart", "nominal end", "limit", "text", "apart",
         "least error", "text", "apart", "end/sigma2", "end/(2 sigma2)"),
        rows,
    )  # fmt: skip


def _by_layers(width: str, outcomes: Sequence[Outcome]) -> Table:
    own, rows = pick(outcomes, part="layers"), []
    counts = sorted({o.task.parameters["nominal"] for o in own})
    most = draws(drawn(pick(own, nominal=counts[-1])), "two stages")
    for count in counts:
        some, limit = drawn(pick(own, nominal=count)), pick(own, nominal=count, limit=True)[0]
        above = monte_carlo(draws(some, "two stages") - most)
        eta = limit.task.parameters["beta"] * limit.task.parameters["sigma2"] / (2 * count)
        rows.append([
            str(count), f"{eta:.3f}", stated(error_over_draws(some, "two stages"), 0, 0),
            f"{above.value[0, 0]:+.4f} +- {above.error[0, 0]:.4f}",
            f"{float(limit['two stages'].value[0]):.4f}",
        ])  # fmt: skip
    return Table(
        f"Error at the nominal end against the number of layers that lead there, width as {width}",
        ("layers", "eta", "error", f"above {counts[-1]} layers, same draws", "limit"),
        rows,
    )


def _by_ambiguity(width: str, outcomes: Sequence[Outcome]) -> Table:
    own = drawn(pick(outcomes, part="sizes"))
    shares, bins = draws(own, "shares of bins").mean(axis=0), draws(own, "in bins")
    first, last = monte_carlo(bins[:, 0]), monte_carlo(bins[:, -1])
    gain = monte_carlo(bins[:, 0] - bins[:, -1])
    rows = [
        [f"{low:g} to {high:g}", f"{share:.3f}", stated(first, k), stated(last, k), stated(gain, k),
         f"{gain.value[k] / first.value[k]:.2f}",
         f"{share * gain.value[k] / float(np.nansum(shares * gain.value)):.2f}"]
        for k, (low, high, share) in enumerate(zip(EDGES[:-1], EDGES[1:], shares, strict=True))
    ]  # fmt: skip
    size = own[0].task.parameters["sizes"][-1]
    return Table(
        f"Squared distance from the Bayes estimate a token, by |x~ . mu|, width as {width}, "
        f"N = {size}",
        ("|x~ . mu|", "tokens", "one-shot", "nominal end", "gain", "gain/one-shot",
         "share of all gain"),
        rows,
    )  # fmt: skip


def _beside_the_text(outcomes: Sequence[Outcome]) -> Table:
    """Squared errors as they are and by distances, beside another run's of eight draws."""
    rows = []
    for part in (drawn(pick(outcomes, part="sizes")), *_many(outcomes)):
        raw, two = draws(part, "squared error"), error_over_draws(part, "two stages")
        least = float(part[0]["least error"])
        for k, size in enumerate(part[0].task.parameters["sizes"]):
            texts = TEXT_SIZES.get(size, (None, None))
            for name, place, text in (("nominal end", -1, texts[0]), ("one-shot", 0, texts[1])):
                if place == -1 and size in TEXT_EXCESS:
                    text = least + TEXT_EXCESS[size]
                if text is None:
                    continue
                values = raw[:, k, place]
                apart = (values.mean() - text) / (values.std(ddof=1) * np.sqrt(2 / len(values)))
                rows.append([
                    name, str(size), f"{values.mean():.4f} ({values.std(ddof=1):.4f})",
                    stated(two, k, place), f"{two.value[k, place] - least:.4f}",
                    f"{text:.4f}", f"{apart:+.1f}",
                ])  # fmt: skip
    return Table(
        "Beside another run of eight draws, width as variance; apart: of the squared errors, in "
        "standard errors of the difference of two such runs",
        ("", "N", "squared error (deviation)", "by the distance from Bayes", "above the least",
         "text", "apart"),
        rows,
    )  # fmt: skip
