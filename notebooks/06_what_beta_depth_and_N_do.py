# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What $\beta$, depth and $N$ do
#
# Denoising in context has three dials: the inverse bandwidth $\beta$ of the first stage, how many
# layers it has, and how many tokens the prompt has. With infinitely many tokens a large $\beta$ is
# always better. With the tokens that there are, it isn't. This notebook looks at each dial, at
# sizes that take seconds; `python -m experiments run in_context` has the same in full.
#
# [`05_in_context_empirical_bayes.ipynb`](05_in_context_empirical_bayes.ipynb) says what the stages
# are.

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

import numeric
from experiments.in_context.population import population_errors
from experiments.in_context.prompts import PAIR, draw_prompt
from experiments.pictures import BLUE, COLORS, GREEN, GREY, ORANGE, RED, plain
from numeric.particles import (
    BandwidthWarning,
    RefinedPrior,
    annealed_layers,
    cluster_count,
    denoise,
    equal_layers,
    kernel_sums,
    mean_square_error,
    posterior_mean,
    refine,
    support,
    weighted_grid,
)
from proofs.explain import explain_theorem
from proofs.files import decide_text
from proofs.library import Library

library = Library()

# %% [markdown]
# ## 1. Tokens over depth
#
# Two narrow Gaussians at $\pm1$ on a line, noise of variance $\sigma^2 = \frac12$, a prompt of
# 1,000 tokens of which 80 are shown, in the colour of the component that they came from. Fifty
# layers lead to the nominal end $t = \sigma^2/2$, the dashed line.

# %%
sigma2, n_layers = 0.5, 50
prompt = draw_prompt([[1.0], [-1.0]], 0.01, sigma2, 1000, seed=3)
right_one = prompt.clean[:80, 0] > 0

fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
for ax, beta in zip(axes, [2.0, 15.0, 150.0], strict=True):
    path = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        refine(
            prompt.tokens,
            sigma2,
            equal_layers(sigma2, beta, 75, n_layers_nominal=n_layers),
            observer=lambda layer, path=path: path.append(layer.particles[:80, 0]),
        )
    for warning in said:
        print("warning:", warning.message)
    path, depth = np.array(path), np.arange(76)
    ax.plot(depth, path[:, right_one], color=BLUE, lw=0.7, alpha=0.7)
    ax.plot(depth, path[:, ~right_one], color=ORANGE, lw=0.7, alpha=0.7)
    ax.axvline(n_layers, color="black", lw=1, ls="--")
    plain(ax, xlabel="layer", title=rf"$\beta = {beta:g}$", xlim=(0, 75))
axes[0].set(ylabel="token")
plt.show()

# %% [markdown]
# A small $\beta$ moves the tokens too little by the nominal end. A large one draws them, within a
# few layers, into more groups than there are components, and there they stay; the engine warns of
# it in advance. In the middle they gather near the two components. Some are still undecided at the
# nominal end, and some end on the wrong side, where the noise has put them.
#
# ## 2. A variance that should come down
#
# The simplest prior, $N(0, 1)$ with $\sigma^2 = \frac14$. With infinitely many tokens the variance
# follows the layers of [`04_covariance_flow.ipynb`](04_covariance_flow.ipynb): the larger $\beta$,
# the nearer to the straight line $1.25 - 2t$. Eight prompts of 1,000 tokens, each scaled to begin
# with a variance of just 1.25, solid with a band of two standard errors; dashed, the layers for
# infinitely many tokens.

# %%
warnings.simplefilter("ignore", BandwidthWarning)  # what it is about is looked at now
noise, depth, n_seeds = 0.25, 50, 8
normals = np.random.default_rng(0).standard_normal((n_seeds, 1000, 1))
scaled = normals / normals.std(axis=1, keepdims=True)
t = np.arange(depth + 1) * noise / 2 / depth


def variances(z, beta):
    path = []
    schedule = equal_layers(noise, beta, depth)
    refine(z, noise, schedule, observer=lambda layer: path.append(layer.particles.var()))
    return path


fig, ax = plt.subplots(figsize=(6.6, 4), layout="constrained")
for beta, color in zip([1.0, 10.0, 50.0, 200.0], COLORS, strict=False):
    paths = np.array([variances(np.sqrt(1.25) * z, beta) for z in scaled])
    middle, error = paths.mean(axis=0), 2 * paths.std(axis=0, ddof=1) / np.sqrt(n_seeds)
    ax.fill_between(t, middle - error, middle + error, color=color, alpha=0.2, lw=0)
    ax.plot(t, middle, color=color, label=rf"$\beta = {beta:g}$")
    ax.plot(t, numeric.depth_flow(1.25, equal_layers(noise, beta, depth).eta, beta), "--",
            color=color, lw=1)  # fmt: skip
ax.plot(t, 1.25 - 2 * t, ":", color="black", label="ideal")
plain(ax, xlabel="$t$", ylabel="variance of the tokens", xlim=(0, noise / 2))
ax.legend(fontsize=9, loc="lower left")
plt.show()

# %% [markdown]
# At $\beta = 10$ the tokens do what infinitely many would, or nearly. At $\beta = 50$ they fall
# behind, and at $\beta = 200$ hardly anything happens, though the dashed line is nearly ideal.
#
# ## 3. Ripples
#
# Why? Finitely many tokens are a density with ripples, and the first stage makes ripples grow. On a
# uniform density, one of wave vector $k$ grows in the clock $t$ at the rate
# $|k|^2 e^{-|k|^2/2\beta}$: short waves quickly, those far below the bandwidth not at all.

# %%
ripples = library.find("ripples.growth_rate_main_clock")
ripples

# %%
explain_theorem(ripples, library).goals[-1]

# %% [markdown]
# Half of that bound would be too good:

# %%
decide_text("""
let beta : positive
let k2 : nonnegative
show k2*exp(-k2/(2*beta)) <= beta*exp(-1)
""")

# %% [markdown]
# So the fastest ripple, $|k|^2 = 2\beta$, has grown by $e^{\beta\sigma^2/e}$ at the nominal end.
# Sampling noise starts at a relative size of $N^{-1/2}$, so that ripples of the size of the density
# itself are to be expected from about
#
# $$ \beta\sigma^2 \approx \tfrac{e}{2} \log N $$
#
# on. That is a rule of thumb, but both of its parts can be seen. On the left the growth rate: lines
# are the formula, and dots are what the engine does to a fine grid of tokens whose weights have a
# ripple of one part in a million. On the right, 1,000 tokens drawn uniformly from $[-3, 3]$, run
# until the fastest ripple has grown $N^{3/2}$ fold: the number of clumps in eight draws, and the
# number of waves of the fastest ripple, $6\sqrt{2\beta}/2\pi$.

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained")
waves = np.linspace(0, 40, 200)
for beta, color in zip([10.0, 50.0, 100.0], COLORS, strict=False):
    left.plot(waves, numeric.growth_rate(waves**2, beta, clock="main"), color=color)
    for k in np.arange(2.0, 40.0, 3.0):
        nodes, weights = weighted_grid(
            lambda x, k=k: np.log1p(1e-6 * np.cos(k * x)), -4.0, 4.0, 1500
        )
        crest = np.array([[np.pi / (2 * k)]])  # where the ripple's slope is steepest
        velocity = beta * kernel_sums(crest, nodes, beta, weights=weights).shift[0, 0]
        label = rf"$\beta = {beta:g}$" if k == 2 else None
        left.plot(k, -velocity * k / 1e-6, "o", ms=4, color=color, label=label)
plain(left, xlabel="$|k|$", ylabel="growth rate", title="ripples")
left.legend(fontsize=9)

betas = np.geomspace(30, 500, 7)
uniform = np.random.default_rng(1).uniform(-3, 3, (8, 1000, 1))
for beta in betas:
    end = np.e * 1.5 * np.log(1000) / beta  # so that log_amplification is 3/2 log N
    counts = [
        cluster_count(refine(z, end, equal_layers(end, beta, 50)).particles, 0.25 / np.sqrt(beta))
        for z in uniform
    ]
    right.plot(np.full(8, beta), counts, "o", ms=4, color=BLUE, alpha=0.5)
right.plot(betas, 6 * np.sqrt(2 * betas) / (2 * np.pi), color="black", label="waves of the fastest")
right.plot([], [], "o", ms=4, color=BLUE, alpha=0.5, label="clumps")
plain(right, xlabel=r"$\beta$", title="1,000 uniform tokens", xscale="log", yscale="log")
right.set_xticks([30, 100, 300], ["30", "100", "300"])
right.set_yticks([5, 10, 20, 30], ["5", "10", "20", "30"])
right.minorticks_off()
right.legend(fontsize=9)
plt.show()

# %% [markdown]
# The clumps are a little fewer than the waves, since some merge. And the onset, for the Gaussian
# prior of section 2 and two sizes of the prompt. On the left the final variance, over that of
# infinitely many tokens with the same initial variance, which takes the prompts' own luck out; the
# vertical lines are the rule of thumb. On the right the number of clusters of 1,000 tokens, for
# three widths of the cells in which they are counted: as long as the tokens are spread out, it
# depends on the width. From the onset on it doesn't: the clusters are real.

# %%
betas = np.geomspace(3, 300, 10)
fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained")
widths = (0.1, 0.25, 0.5)
counted = np.zeros((len(betas), n_seeds, len(widths)))
for size, color in [(200, ORANGE), (1000, BLUE)]:
    ratio = np.zeros((len(betas), n_seeds))
    for row, beta in enumerate(betas):
        schedule = equal_layers(noise, beta, depth)
        for seed in range(n_seeds):
            z = np.sqrt(1.25) * normals[seed, :size]
            found = refine(z, noise, schedule).particles
            ratio[row, seed] = found.var() / numeric.depth_flow(z.var(), schedule.eta, beta)[-1]
            if size == 1000:
                counted[row, seed] = [cluster_count(found, w / np.sqrt(beta)) for w in widths]
    error = 2 * ratio.std(axis=1, ddof=1) / np.sqrt(n_seeds)
    left.errorbar(
        betas, ratio.mean(axis=1), error, fmt="o-", ms=4, lw=1, capsize=2, color=color,
        label=f"$N = {size}$",
    )  # fmt: skip
    left.axvline(np.e / 2 * np.log(size) / noise, color=color, lw=1, ls="--")
left.axhline(1, color="black", lw=0.8)
plain(left, xscale="log", xlabel=r"$\beta$", title="final variance over that of the population")
left.legend(fontsize=9, loc="upper left")
for place, (width, color) in enumerate(zip(widths, [GREEN, BLUE, RED], strict=True)):
    right.plot(
        betas, counted[..., place].mean(axis=1), "o-", ms=4, lw=1, color=color,
        label=rf"cells of ${width:g}/\sqrt{{\beta}}$",
    )  # fmt: skip
right.axvline(np.e / 2 * np.log(1000) / noise, color=GREY, lw=1, ls="--")
plain(right, xscale="log", yscale="log", xlabel=r"$\beta$", title="clusters, $N = 1000$")
right.set_yticks([2, 5, 10, 20, 30], ["2", "5", "10", "20", "30"])
for ax in (left, right):
    ax.set_xticks([3, 10, 30, 100, 300], ["3", "10", "30", "100", "300"])
    ax.minorticks_off()
right.legend(fontsize=9)
plt.show()

# %% [markdown]
# ## 4. The error against $N$
#
# From here on the prior is a pair of Gaussians in the plane, at $(\pm1, 0)$, with variance $0.1$
# along each coordinate, and $\sigma^2 = \frac12$. Its Bayes estimate and the error of that are
# known in closed form.
#
# The limit of infinitely many tokens is known too. The law is a product over the coordinates, and
# attention keeps it one, so that each coordinate has a weighted grid of its own: a few hundred
# nodes with the density as weights, which the layers move as if they were tokens. The sums over
# the grid are exact to rounding.

# %%
within, sigma2, beta, n_layers = 0.1, 0.5, 20.0, 20


def log_density(x):
    """Of the first coordinate of a noisy token, up to a constant."""
    return np.logaddexp(*(-((x - c) ** 2) / (2 * (within + sigma2)) for c in (-1, 1)))


for nodes in (60, 120, 250, 500):
    grid, weights = weighted_grid(log_density, -7.5, 7.5, nodes)
    moved = refine(grid, sigma2, equal_layers(sigma2, beta, n_layers), weights=weights).particles
    print(
        f"{nodes:3d} nodes: second moment after {n_layers} layers {weights @ moved[:, 0] ** 2:.15f}"
    )

population = population_errors(within, sigma2, beta, [0, n_layers], n_layers)
print(f"Bayes {population.mmse:.5f}; above it with infinitely many tokens:")
print(f"  one shot    {population.two_stages[0] - population.mmse:.5f}")
print(f"  both stages {population.two_stages[1] - population.mmse:.5f}")

# %% [markdown]
# Eight prompts of 2,000 tokens and their first 100 to 1,000. What is shown is the error above that
# of Bayes on the same tokens, with two standard errors. Dashed are the limits.


# %%
def above_bayes(prompt, estimate):
    bayes = numeric.pair_posterior_mean(prompt.tokens, PAIR[0], within, prompt.sigma2)
    return mean_square_error(estimate, prompt.clean) - mean_square_error(bayes, prompt.clean)


prompts = [draw_prompt(PAIR, within, sigma2, 2000, seed) for seed in range(8)]
sizes = [100, 200, 500, 1000, 2000]
by_size = np.zeros((2, len(sizes), len(prompts)))
for row, size in enumerate(sizes):
    for seed, whole in enumerate(prompts):
        prompt = whole.first(size)
        for kind, layers in enumerate([0, n_layers]):
            estimate, _ = denoise(prompt.tokens, sigma2, beta, layers)
            by_size[kind, row, seed] = above_bayes(prompt, estimate)

fig, ax = plt.subplots(figsize=(6.6, 3.9), layout="constrained")
for kind, (name, color) in enumerate([("one shot", ORANGE), ("both stages", BLUE)]):
    error = 2 * by_size[kind].std(axis=1, ddof=1) / np.sqrt(len(prompts))
    ax.errorbar(
        sizes, by_size[kind].mean(axis=1), error, fmt="o-", ms=4, capsize=2, color=color, label=name
    )
    ax.axhline(population.two_stages[kind] - population.mmse, color=color, lw=1, ls="--")
plain(ax, xscale="log", yscale="log", xlabel="$N$", ylabel="above Bayes", ylim=(5e-3, 0.3))
ax.legend(fontsize=9)
plt.show()

# %% [markdown]
# More tokens bring both stages down, towards a limit that is due to the finite $\beta$. One shot
# has reached its own, much higher one, with a few hundred tokens: what it lacks is no more data.
#
# ## 5. Depth
#
# Fewer and larger layers to the same end cost little, as long as $\eta < 1$. Here the least depth
# is six:

# %%
print(f"least depth {numeric.minimal_depth(sigma2, beta)}")
for layers in (6, 10, 20, 50):
    limit = population_errors(within, sigma2, beta, [layers], layers)
    found = [
        above_bayes(p.first(500), denoise(p.first(500).tokens, sigma2, beta, layers)[0])
        for p in prompts
    ]
    print(
        f"{layers:3d} layers: above Bayes {np.mean(found):.4f} with 500 tokens, "
        f"{limit.two_stages[0] - limit.mmse:.4f} with infinitely many"
    )

# %% [markdown]
# And layers beyond the nominal end? The flow doesn't stop there. On the left components of variance
# $0.1$, on the right of $0.01$: errors over depth in units of the nominal one, for 500 and 2,000
# tokens (means over four prompts) and infinitely many.

# %%
marks = np.arange(0, 41, 4)
fig, axes = plt.subplots(1, 2, figsize=(10.5, 3.8), sharey=True, layout="constrained")
for ax, v in zip(axes, [0.1, 0.01], strict=True):
    for size, color in [(500, ORANGE), (2000, BLUE)]:
        errors = np.zeros((4, len(marks)))
        for seed in range(4):
            prompt = draw_prompt(PAIR, v, sigma2, 2000, seed).first(size)
            bayes = numeric.pair_posterior_mean(prompt.tokens, PAIR[0], v, sigma2)
            best = mean_square_error(bayes, prompt.clean)
            kept = {}
            refine(
                prompt.tokens,
                sigma2,
                equal_layers(sigma2, beta, 40, n_layers_nominal=n_layers),
                observer=lambda layer, kept=kept: kept.update({layer.index: layer.particles}),
            )
            for place, mark in enumerate(marks):
                prior = RefinedPrior(kept[mark], np.ones(size), sigma2, 0.0, 0.0)
                estimate = posterior_mean(prior, prompt.tokens)
                errors[seed, place] = mean_square_error(estimate, prompt.clean) - best
        ax.plot(marks / n_layers, errors.mean(axis=0), color=color, label=f"$N = {size}$")
    limit = population_errors(v, sigma2, beta, range(41), n_layers)
    ax.plot(np.arange(41) / n_layers, limit.two_stages - limit.mmse, "k--", label=r"$N = \infty$")
    ax.axvline(1, color=GREY, lw=0.8)
    plain(ax, xlabel="depth over the nominal one", title=f"variance ${v:g}$", xlim=(0, 2))
axes[0].set(ylabel="both stages, above Bayes", ylim=(0, 0.22))
axes[0].legend(fontsize=9)
plt.show()

# %% [markdown]
# It is not true in general that the error saturates. With infinitely many tokens, and components of
# some width, going on destroys that width, and the error rises again. Where they are nearly points
# there is little to destroy. With 500 or 2,000 tokens the rise isn't seen: what the finite sample
# leaves to be gathered outweighs it.
#
# ## 6. $\beta$, and the first stage alone
#
# The first stage moves each token to somewhere near its clean place. Why not stop there? Because it
# carries one law into the other, which is not the posterior mean (section 4 of notebook 05), and
# because where a token ends depends on which clump it falls into. With 500 tokens, 25 layers or as
# many as it takes; dashed with infinitely many, as far as the grid can say: rounding grows by
# $e^{\beta\sigma^2/e}$ like any ripple, so that it ends at $\beta = 80$.

# %%
betas = np.array([2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0])
loss = np.zeros((2, len(betas), len(prompts)))
limits = np.full((2, len(betas)), np.nan)
for row, other in enumerate(betas):
    layers = max(25, numeric.minimal_depth(sigma2, other) + 2)
    if other <= 80:
        limit = population_errors(within, sigma2, other, [layers], layers)
        limits[:, row] = limit.stage_one[0] - limit.mmse, limit.two_stages[0] - limit.mmse
    for seed, whole in enumerate(prompts):
        prompt = whole.first(500)
        estimate, prior = denoise(prompt.tokens, sigma2, other, layers)
        loss[0, row, seed] = above_bayes(prompt, prior.particles)
        loss[1, row, seed] = above_bayes(prompt, estimate)

fig, ax = plt.subplots(figsize=(6.6, 3.9), layout="constrained")
for kind, (name, color) in enumerate([("stage 1 alone", RED), ("both stages", BLUE)]):
    error = 2 * loss[kind].std(axis=1, ddof=1) / np.sqrt(len(prompts))
    ax.errorbar(
        betas, loss[kind].mean(axis=1), error, fmt="o-", ms=4, capsize=2, color=color, label=name
    )
    ax.plot(betas, limits[kind], "--", lw=1, color=color)
ax.axvline(np.e / 2 * np.log(500) / sigma2, color=GREY, lw=1, ls="--")
ax.text(np.e / 2 * np.log(500) / sigma2 * 1.05, 0.0025, "onset of clusters", color=GREY, fontsize=9)
plain(ax, xscale="log", yscale="log", xlabel=r"$\beta$", ylabel="above Bayes", ylim=(1e-3, 1))
ax.legend(fontsize=9, loc="lower left")
plt.show()

# %% [markdown]
# Both stages are better at every $\beta$, and far less sensitive to it.
#
# With infinitely many tokens the first stage alone can come near Bayes, if one goes on: its slope
# is too large at the nominal end, and right at a later time, which is known for a Gaussian.

# %%
library.find("depth.bayes_time")

# %%
depths = list(range(20, 41, 2))
alone = population_errors(within, sigma2, beta, depths, n_layers).stage_one - population.mmse
best = int(alone.argmin())
print(f"above Bayes at the nominal end {alone[0]:.4f}, at best {alone[best]:.4f}")
print(f"reached at {depths[best] / n_layers:.1f} times the nominal depth")
print(f"both stages at the nominal end {population.two_stages[1] - population.mmse:.4f}")

# %% [markdown]
# ## 7. A few clusters are enough
#
# A large $\beta$ gathers the tokens in clusters, near to where they started. So does a depth far
# beyond the nominal one, nearer to the components. What do the two stages make of it? With 500
# tokens, means over the prompts:

# %%
print("above Bayes:              clusters  stage 1  both stages")
tokens_alone = np.mean([above_bayes(p.first(500), p.first(500).tokens) for p in prompts])
print(f"no layers                           {tokens_alone:.3f}    {by_size[0, 2].mean():.3f}")
for other, multiple in [(20.0, 1), (80.0, 1), (160.0, 1), (5.0, 1), (5.0, 2), (5.0, 4)]:
    nominal = max(25, numeric.minimal_depth(sigma2, other) + 2)
    schedule = equal_layers(sigma2, other, multiple * nominal, n_layers_nominal=nominal)
    found = []
    for whole in prompts:
        prompt = whole.first(500)
        prior = refine(prompt.tokens, sigma2, schedule)
        estimate = posterior_mean(prior, prompt.tokens)
        count = cluster_count(prior.particles, 0.25 / np.sqrt(other))
        losses = (above_bayes(prompt, z) for z in (prior.particles, estimate))
        found.append([count, *losses])
    count, alone, both = np.mean(found, axis=0)
    print(f"beta {other:3g}, depth x {multiple}  {count:14.1f}    {alone:.3f}    {both:.3f}")

# %% [markdown]
# At $\beta = 160$ the first stage alone is hardly better than no denoising. Both stages have the
# error of one shot, no worse: the second stage averages over a distance of $\sigma$, and clumps
# that are smaller than that are as good to it as the tokens that they were made of. At $\beta = 5$
# and twice the nominal depth the first stage alone is at its best here, and both stages are far
# better still. At four times the nominal depth about three points are left. That is too much even
# for the second stage, but it only loses what it had gained since the nominal end.
#
# How few points would be enough? Take a good prior, of 2,000 tokens at $\beta = 10$, and merge the
# tokens in each cell of a grid, put down at random, into one of the weight of all.

# %%
fig, ax = plt.subplots(figsize=(6.6, 3.7), layout="constrained")
refined = [denoise(p.tokens, sigma2, 10.0, n_layers)[1] for p in prompts]
whole = [above_bayes(p, posterior_mean(r, p.tokens)) for p, r in zip(prompts, refined, strict=True)]
for width in (0.1, 0.2, 0.4, 0.6, 0.8, 1.2, 1.6, 2.4, 4.0):
    counts, losses = [], []
    corners = np.random.default_rng(0).uniform(0, width, (len(prompts), 2))
    for prompt, prior, corner in zip(prompts, refined, corners, strict=True):
        cells = np.floor((prior.particles - corner) / width)
        _, cell, mass = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        merged = np.zeros((len(mass), 2))
        np.add.at(merged, cell.ravel(), prior.particles)
        few = RefinedPrior(merged / mass[:, None], mass.astype(float), sigma2, 0.0, 0.0)
        counts.append(len(mass))
        losses.append(above_bayes(prompt, posterior_mean(few, prompt.tokens)))
    error = 2 * np.std(losses, ddof=1) / np.sqrt(len(losses))
    ax.errorbar(np.mean(counts), np.mean(losses), error, fmt="o", ms=5, capsize=2, color=BLUE)
    ax.annotate(f"{width:g}", (np.mean(counts), np.mean(losses)), (5, 6),
                textcoords="offset points", fontsize=8, color=GREY)  # fmt: skip
ax.axhline(np.mean(whole), color="black", lw=1, ls="--", label="all 2,000")
plain(ax, xscale="log", yscale="log", xlabel="points that are left", ylabel="above Bayes")
ax.set(xlim=(3, 1500), ylim=(0.008, 0.7))
ax.legend(fontsize=9)
ax.set_title(r"cells of the given width, $\sigma = 0.71$")
plt.show()

# %% [markdown]
# About a dozen points do, in cells twice as wide as $\sigma$; with wider ones it depends on where
# the grid happens to fall. That some dozens are even better than 2,000 is no accident here: the
# components are narrow, and merging undoes some of the spread that the first stage left.
#
# ## 8. What a layer keeps, and schedules
#
# A layer never leaves the convex hull of the tokens, as each new place is an average of old ones.
# In two steps, for any number of tokens and any direction, along which the tokens reach up to `hi`:
# the kernel mean stays below, and so does what a layer takes of it.

# %%
decide_text("""
let N : dimension
let p, z : vector(N)
let hi : real
assume for all j : index(N) : p[j] >= 0
assume sum(p[j], j, 1, N) = 1
assume for all j : index(N) : z[j] <= hi
show sum(p[j]*z[j], j, 1, N) <= hi
""")

# %%
decide_text("""
let z, F, hi : real
let eta : nonnegative
assume eta <= 1
assume z <= hi
assume F <= hi
show (1 - eta)*z + eta*F <= hi
""")

# %% [markdown]
# With $\eta > 1$ it may:

# %%
decide_text("""
let z, F, hi : real
let eta : nonnegative
assume z <= hi
assume F <= hi
show (1 - eta)*z + eta*F <= hi
""")

# %% [markdown]
# Two tokens keep their mean; from three on a layer doesn't. Three tokens in one place and one
# apart:

# %%
decide_text("""
let a, b : real
let beta, eta : positive
define p = 1/(1 + exp(-beta/2*(b - a)^2))
define first = (1 - eta)*a + eta*(p*a + (1 - p)*b)
define second = (1 - eta)*b + eta*(p*b + (1 - p)*a)
show first + second = a + b
""")

# %%
decide_text("""
let beta, eta : positive
define w = exp(-beta/2)
define at_zero = eta*w/(3 + w)
define at_one = 1 - eta + eta/(1 + 3*w)
show 3*at_zero + at_one = 1
""")

# %% [markdown]
# What else both stages together respect: a turn of the plane, another unit of length (noise and
# bandwidth go with it), tokens that are repeated, which are the same as weights, and a token far
# away, which neither moves nor moves others. The largest deviations, on 300 tokens:

# %%
z = prompts[0].first(300).tokens
settings = {"sigma2": sigma2, "beta": 10.0, "n_layers": 20}
plain_run = denoise(z, **settings)[0]
turn = np.array([[0.6, -0.8], [0.8, 0.6]])
turned = denoise(z @ turn.T, **settings)[0]
longer = denoise(3 * z, sigma2=9 * sigma2, beta=10 / 9, n_layers=20)[0]
twice = denoise(np.vstack([z, z[:100]]), **settings)[0][:300]
heavy = denoise(z, **settings, weights=np.repeat([2.0, 1.0], [100, 200]))[0]
apart = denoise(np.vstack([z, [[1e6, 0.0]]]), **settings)[0]
for name, deviation in [
    ("turned", turned - plain_run @ turn.T),
    ("three times as long", longer / 3 - plain_run),
    ("repeated, or weighted", twice - heavy),
    ("with a token far away", apart[:-1] - plain_run),
    ("that token itself", apart[-1] - [1e6, 0.0]),
]:
    print(f"{name:<22} {np.abs(deviation).max():.0e}")

# %% [markdown]
# The bandwidth may change from layer to layer, as long as the times $\eta_\ell/\beta_\ell$ add up
# to $\sigma^2/2$. Twenty-five layers of equal time, eight prompts of 500 tokens, and by how much
# the tokens' reach along eight directions shrinks:

# %%
layers = 25
compass = np.pi / 4 * np.arange(8)
directions = np.stack([np.cos(compass), np.sin(compass)], axis=1)
upwards = np.geomspace(4, 20, layers)
table = {}
for name, bandwidths in [
    ("beta = 4", np.full(layers, 4.0)),
    ("beta = 9", np.full(layers, 9.0)),
    ("beta = 20", np.full(layers, 20.0)),
    ("from 20 down to 4", upwards[::-1]),
    ("from 4 up to 20", upwards),
]:
    schedule = annealed_layers(sigma2, bandwidths * sigma2 / 2 / layers, bandwidths)
    grown = -np.inf
    for whole in prompts:
        prompt = whole.first(500)
        prior = refine(prompt.tokens, sigma2, schedule)
        table.setdefault(name, []).append(above_bayes(prompt, posterior_mean(prior, prompt.tokens)))
        reach = support(prior.particles, directions) - support(prompt.tokens, directions)
        grown = max(grown, reach.max())
    print(
        f"{name:<18} above Bayes {np.mean(table[name]):.4f}, reach shrinks by {-grown:.0e} or more"
    )
for name, values in table.items():
    more = np.array(values) - table["from 4 up to 20"]
    if more.any():
        error = more.std(ddof=1) / np.sqrt(len(more))
        print(f"{name:<18} more than upwards by {more.mean():+.4f} +- {error:.4f}")

# %% [markdown]
# It is better to begin with a wide kernel, which sees the large structure through the noise, and to
# narrow it, than the other way round. Against the best of the constant widths the gain is small; it
# can be seen at all since the difference is taken on the same tokens.
#
# ## To go on
#
# | | |
# |---|---|
# | `python -m experiments run in_context.fig2` | the variance, with 5,000 tokens and 200 layers |
# | `python -m experiments run in_context.fig4` | the error over $N$ and over $\sigma^2$ |
# | `python -m experiments run in_context.fig5` | the error over depth and over $\beta$ |
# | `python -m experiments run in_context.clusters` | clusters and errors over $\beta$ and depth |
# | `python -m experiments run in_context.scale` | a million tokens |
