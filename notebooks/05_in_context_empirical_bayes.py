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
# # In-context empirical Bayes
#
# A prompt of $N$ noisy tokens, $y_i = x_i + \epsilon_i$ with $x_i \sim P_0$ and
# $\epsilon_i \sim N(0, \sigma^2 I)$. The best estimate of $x_i$ is the posterior mean, which needs
# the prior $P_0$. Nobody gives it; but the other tokens were drawn from it too. Two stages of
# attention use them:
#
# 1. **Refine.** Layers of attention move all tokens, which start at $Z = Y$, until they look like
#    draws from $P_0$ (inverse bandwidth $\beta$, step $\eta$).
# 2. **Denoise.** One more layer of attention, with inverse bandwidth $1/\sigma^2$, in which the
#    original tokens are the queries and $Z$ the keys and values: the posterior mean under the
#    prior $\frac1N \sum_j \delta_{z_j}$.
#
# Nothing is learned, there are no weights. The Gaussian case, where all is known in closed form,
# is in [`04_covariance_flow.ipynb`](04_covariance_flow.ipynb).

# %%
import inspect
import warnings

import matplotlib.pyplot as plt
import numpy as np

import numeric
from experiments.pictures import BLUE, GREEN, GREY, ORANGE, RED, plain
from numeric.kernels import gaussian_kernel as kernels
from numeric.particles import (
    BandwidthWarning,
    RefinedPrior,
    denoise,
    energies,
    equal_layers,
    flow,
    kernel_sums,
    mean_square_error,
    posterior_mean,
    refine,
)
from proofs.explain import explain_theorem
from proofs.files import decide_text
from proofs.library import Library

library = Library()

# %% [markdown]
# ## 1. One layer, three readings
#
# With weights $a_j = \mathrm{softmax}_j(-\frac\beta2 |q - z_j|^2)$ and the kernel mean
# $F(q) = \sum_j a_j z_j$, a layer takes each $q = z_i$ to $(1 - \eta)\,q + \eta F(q)$.
#
# **(i) A step along a score.** $F$ is a regression of the identity at $q$, and $\beta(F(q) - q)$
# the score of the tokens smoothed by $N(0, I/\beta)$. So the layer is a step of length
# $\eta/\beta$ along that score, or one of length $\eta$ down the slope of the energy
# $E(q) = -\frac1\beta \log \sum_j e^{-\frac\beta2|q - z_j|^2}$. For any number of tokens and
# coordinates, with weights too:

# %%
readings = explain_theorem(library.find("gaussian_kernel.score_step"), library)
library.find("gaussian_kernel.score_step")

# %% [markdown]
# The proofs are long, because they begin at the beginning: a logarithm of a sum is differentiated
# along any direction, term by term. What each of the goals rests on:

# %%
for goal in readings.goals:
    rules = sorted(goal.judgement.rules)
    print(f"{len(goal.lines):3d} lines, {', '.join(rules) or 'algebra'}")

# %% [markdown]
# The length of the step is where one slips: $\eta$ along the score is too long.

# %%
decide_text("""
let N, d : dimension
let beta, eta : positive
let w : positive for j in 1..N
let z : vector(d) for j in 1..N
let q : vector(d)
define density = sum(w[j]*exp(-beta/2*norm2(q - z[j])), j, 1, N)
define F = sum(w[j]*exp(-beta/2*norm2(q - z[j]))*z[j], j, 1, N)/density
show (1 - eta)*q + eta*F = q + eta*grad(log(density), q)
""")

# %% [markdown]
# **(ii) Tweedie's formula.** With $\beta = 1/\sigma^2$ the kernel mean is the posterior mean of a
# prior of atoms $z_j$, seen through noise of variance $\sigma^2$. That is the second stage: one
# full step, $\eta = 1$, of the same layer.

# %%
library.find("mixture.tweedie")

# %% [markdown]
# **(iii) Attention by dot products.** The norm of the query drops out of the softmax, and those of
# the keys stay as a bias, which one more coordinate of queries and keys can carry:

# %%
bias = explain_theorem(library.find("gaussian_kernel.key_norm_bias"), library)
bias.goals[2]

# %%
bias.goals[3]

# %% [markdown]
# Without the bias the weights are others, unless all keys have one norm:

# %%
decide_text("""
let N, d : dimension
let beta : positive
let q : vector(d)
let z : vector(d) for j in 1..N
define distances = softmax(vector(-beta/2*norm2(q - z[k]), k, 1, N))
define products = softmax(vector(beta*inner(q, z[k]), k, 1, N))
show distances = products
""")

# %% [markdown]
# The kernel that computes a layer takes distances from differences, and from the nearest token
# where they are large:

# %%
source = inspect.getsource(kernels.attention_step)
print(source[source.index("    xp = namespace") :])

# %% [markdown]
# All readings at once on random tokens in three dimensions, the slope of the energy by central
# differences:

# %%
rng = np.random.default_rng(0)
z, beta, eta = rng.standard_normal((40, 3)), 3.0, 0.3
layer = numeric.attention_step(z, z, beta, eta)
logits = beta * z @ z.T - beta / 2 * (z**2).sum(axis=1)
by_products = np.exp(logits - logits.max(axis=1, keepdims=True))
by_products = by_products / by_products.sum(axis=1, keepdims=True) @ z
h = 1e-5
slope = np.stack(
    [
        (numeric.kernel_energy(z + h * e, z, beta) - numeric.kernel_energy(z - h * e, z, beta))
        / (2 * h)
        for e in np.eye(3)
    ],
    axis=1,
)
for name, other in [
    ("along the score", z + eta / beta * numeric.kernel_score(z, z, beta)),
    ("down the energy, by differences", z - eta * slope),
    ("dot products with a bias", (1 - eta) * z + eta * by_products),
]:
    print(f"{name:<33} differs by up to {np.abs(layer - other).max():.0e}")

# %% [markdown]
# ## 2. A prompt
#
# The prior is a mixture of seven narrow Gaussians, a hexagon and its centre, as far apart as three
# standard deviations of the noise. The prompt has 5,000 tokens. Below: what was drawn, what is
# seen, and the tokens after the nominal depth, twenty layers to $t = \sigma^2/2$.

# %%
angle = np.pi / 2 + np.pi / 3 * np.arange(6)
centres = np.vstack([2.3 * np.stack([np.cos(angle), np.sin(angle)], axis=1), [[0.0, 0.0]]])
within, sigma2, beta, n_layers = 0.02, 0.5, 10.0, 20
prior_law = numeric.gaussian_mixture(
    np.full(7, 1 / 7), centres, np.broadcast_to(within * np.eye(2), (7, 2, 2))
)


def draw(count, rng):
    """Clean tokens and what is seen of them."""
    x = centres[rng.integers(7, size=count)]
    x = x + np.sqrt(within) * rng.standard_normal((count, 2))
    return x, x + np.sqrt(sigma2) * rng.standard_normal((count, 2))


clean, tokens = draw(5000, np.random.default_rng(0))
seen = {}
refine(
    tokens,
    sigma2,
    equal_layers(sigma2, beta, n_layers),
    observer=lambda layer: seen.update({layer.index: layer}),
)
priors = {
    k: RefinedPrior(layer.particles, np.ones(len(tokens)), sigma2, layer.time, layer.theta)
    for k, layer in seen.items()
}
prior = priors[n_layers]

fig, axes = plt.subplots(1, 3, figsize=(10.5, 3.7), sharex=True, sharey=True, layout="constrained")
for ax, points, title in zip(
    axes,
    [clean, tokens, prior.particles],
    ["clean", "the prompt", f"after {n_layers} layers"],
    strict=True,
):
    ax.plot(*points.T, ".", ms=2.5, color=BLUE, alpha=0.6, mew=0)
    ax.plot(*centres.T, "+", ms=9, mew=1.5, color="black")
    ax.set(aspect="equal", xlim=(-4.2, 4.2), ylim=(-4.2, 4.2), xticks=[], yticks=[], title=title)
plt.show()

# %% [markdown]
# ## 3. The energy landscape
#
# The second stage takes a full step down the slope of $E(Z; q)$, the energy of the refined tokens
# at $\beta = 1/\sigma^2$. What does the first stage do to that landscape? Take the simplest case,
# two tokens $\pm a$ on a line:

# %%
library.find("mixture.pair_curvature")

# %% [markdown]
# So there are two wells if $\beta a^2 > 1$, with a ridge at $q = 0$, and one if $\beta a^2 \leq 1$:

# %%
explain_theorem(library.find("mixture.pair_convex"), library)

# %% [markdown]
# Without that hypothesis a token in the middle sits on a ridge:

# %%
decide_text("""
let beta : positive
let a, q : real
show 1 - beta*a^2*(1 - tanh(beta*a*q)^2) >= 0
""")

# %% [markdown]
# In general the curvature is $I - \beta\,\mathrm{Cov}$, with the covariance of the tokens under the
# weights at $q$: tokens that a query can't tell apart, but which are far apart, make a ridge.

# %%
library.find("gaussian_kernel.curvature")

# %% [markdown]
# The wells are counted by letting queries descend. Full steps of attention can't go uphill:

# %%
explain_theorem(library.find("mixture.descent"), library).goals[-1]


# %%
def wells(prior, starts):
    """Places at which full steps of attention from the starts come to rest."""
    q, step = starts, np.inf
    while step > 1e-6:
        moved = posterior_mean(prior, q)
        q, step = moved, np.abs(moved - q).max()
    found = q[:1]
    for place in q[1:]:
        if np.hypot(*(found - place).T).min() > 0.05:
            found = np.vstack([found, place])
    return found


marks = [0, 5, 10, 20]
bottoms = {k: wells(priors[k], tokens[::50]) for k in marks}
for k in marks:
    curvature = numeric.kernel_energy_hessian(bottoms[k], priors[k].particles, 1 / sigma2)
    least = np.linalg.eigvalsh(curvature).min()
    print(f"layer {k:2d}: {len(bottoms[k])} well(s), least curvature at a bottom {least:.3f}")

# %% [markdown]
# The landscape over depth, light is low, with the tokens on top and crosses at the bottoms of the
# wells. It begins with one shallow well: the tokens carry the noise once, and the energy's kernel
# smooths by as much again. At the nominal depth there is a well for each component.

# %%
axis = np.linspace(-3.9, 3.9, 90)
grid = np.stack(np.meshgrid(axis, axis), axis=-1)
levels = np.linspace(0, 1.2, 25)

fig, axes = plt.subplots(2, 2, figsize=(8.6, 7.6), sharex=True, sharey=True, layout="constrained")
for ax, k in zip(axes.flat, marks, strict=True):
    height = energies(priors[k], grid.reshape(-1, 2)).reshape(grid.shape[:2])
    height = height - height.min()
    shades = ax.contourf(axis, axis, height, levels=levels, cmap="Blues", extend="max")
    ax.contour(axis, axis, height, levels=levels[1:13], colors=BLUE, linewidths=0.6)
    ax.plot(*priors[k].particles[::5].T, ".", ms=2.5, color="black", alpha=0.6, mew=0)
    ax.plot(*bottoms[k].T, "x", ms=9, mew=2.5, color=RED)
    title = f"layer {k}: {len(bottoms[k])} well" + "s" * (len(bottoms[k]) > 1)
    ax.set(
        aspect="equal", xlim=axis[[0, -1]], ylim=axis[[0, -1]], xticks=[], yticks=[], title=title
    )
fig.colorbar(shades, ax=axes, shrink=0.7, label="energy above its least")
plt.show()

# %% [markdown]
# ## 4. Estimates
#
# Sixty tokens and where they are sent: by the second stage alone, by both, and by Bayes, who knows
# the prior.

# %%
no_layers = priors[0]
bayes = numeric.mixture_posterior_mean(prior_law, tokens, sigma2)
some = slice(0, 60)

fig, axes = plt.subplots(1, 3, figsize=(11, 3.9), sharex=True, sharey=True, layout="constrained")
for ax, (name, estimate), color in zip(
    axes,
    [
        ("one shot", posterior_mean(no_layers, tokens)),
        ("both stages", posterior_mean(prior, tokens)),
        ("Bayes", bayes),
    ],
    [ORANGE, BLUE, GREEN],
    strict=True,
):
    start, moved = tokens[some], estimate[some] - tokens[some]
    ax.quiver(*start.T, *moved.T, angles="xy", scale_units="xy", scale=1, width=0.004, color=color)
    ax.plot(*start.T, ".", ms=3, color=GREY)
    ax.plot(*centres.T, "+", ms=9, mew=1.5, color="black")
    ax.set(aspect="equal", xlim=(-4.2, 4.2), ylim=(-4.2, 4.2), xticks=[], yticks=[])
    ax.set_title(f"{name}: {mean_square_error(estimate, clean):.3f}")
plt.show()

# %% [markdown]
# The titles have the mean square errors on all tokens. One shot, with no layers at all, pulls too
# little, and more tokens don't help: its prior carries the noise. For a Gaussian prior and any
# number of tokens that is a theorem, with what it costs,

# %%
explain_theorem(library.find("depth.one_shot"), library).goals[1]

# %%
decide_text("""
let s : nonnegative
let sigma2 : positive
show (s + sigma2)/(s + 2*sigma2) = s/(s + sigma2)
""")

# %% [markdown]
# and neither is the first stage alone the posterior mean. It transports one law into the other:
# where it has recovered the prior, its slope is the root of the right one.

# %%
explain_theorem(library.find("depth.stage_one"), library).goals[0]

# %% [markdown]
# Six prompts. All estimates are compared with Bayes on the same tokens, so that the draws' own luck
# cancels: the errors of the differences are smaller than that of a mean square error. *One step* is
# Tweedie's formula with the score of the smoothed tokens,
# $y + \sigma^2 \beta\,(F_\beta(y) - y)$, which needs no second stage either.


# %%
def estimates(tokens, beta):
    one_step = sigma2 * beta * kernel_sums(tokens, tokens, beta).shift
    no_layers = RefinedPrior(tokens, np.ones(len(tokens)), sigma2, 0.0, 0.0)
    both, prior = denoise(tokens, sigma2, beta, n_layers)
    return {
        "the tokens": tokens,
        "stage 1": prior.particles,
        "one shot": posterior_mean(no_layers, tokens),
        "one step": tokens + one_step,
        "both stages": both,
    }


def show(values):
    values = np.array(values)
    return f"{values.mean():.4f} +- {values.std(ddof=1) / np.sqrt(len(values)):.4f}"


prompts = [draw(5000, np.random.default_rng(seed)) for seed in range(6)]
floor = [
    mean_square_error(numeric.mixture_posterior_mean(prior_law, y, sigma2), x) for x, y in prompts
]
losses = {}
for (x, y), best in zip(prompts, floor, strict=True):
    for name, estimate in estimates(y, beta).items():
        losses.setdefault(name, []).append(mean_square_error(estimate, x) - best)

print(f"Bayes        {show(floor)}, and above it")
for name, values in losses.items():
    print(f"{name:<12} {show(values)}")

# %% [markdown]
# One step is as good here as both stages, with the right $\beta$. But which $\beta$ is right
# depends on the unknown prior and on $N$, and to miss it costs one step much more. With fewer
# tokens:

# %%
warnings.simplefilter("ignore", BandwidthWarning)  # clusters, which the next notebook looks at
print("500 tokens; above Bayes")
for other in (2.0, 5.0, 10.0, 20.0, 40.0):
    losses = {"one step": [], "both stages": []}
    for x, y in prompts:
        x, y = x[:500], y[:500]
        best = mean_square_error(numeric.mixture_posterior_mean(prior_law, y, sigma2), x)
        found = estimates(y, other)
        for name, values in losses.items():
            values.append(mean_square_error(found[name], x) - best)
    shown = ", ".join(f"{name} {show(values)}" for name, values in losses.items())
    print(f"beta {other:4g}: {shown}")

# %% [markdown]
# ## 5. A query that wasn't in the prompt
#
# The refined tokens are a prior; nothing binds it to the prompt's own queries. New tokens are
# denoised at the price of one layer.

# %%
new_clean, new = draw(20_000, np.random.default_rng(100))
new_bayes = numeric.mixture_posterior_mean(prior_law, new, sigma2)
for name, law in [("one shot", no_layers), ("both stages", prior)]:
    inside = ((posterior_mean(law, tokens) - clean) ** 2 - (bayes - clean) ** 2).sum(axis=1)
    outside = ((posterior_mean(law, new) - new_clean) ** 2 - (new_bayes - new_clean) ** 2).sum(1)
    print(
        f"{name:<12} above Bayes: prompt {inside.mean():.4f} +- "
        f"{inside.std() / np.sqrt(len(inside)):.4f}, new queries {outside.mean():.4f} +- "
        f"{outside.std() / np.sqrt(len(outside)):.4f}"
    )

# %% [markdown]
# A token of the prompt finds itself among the keys, and a new query doesn't; that is no advantage.
# The estimate's coordinate along two lines through the centre. The vertical one meets two more
# components, the horizontal one passes between them.

# %%
line = np.linspace(-4, 4, 200)
fig, panels = plt.subplots(1, 2, figsize=(10.5, 3.8), sharey=True, layout="constrained")
for ax, along, name in zip(panels, np.eye(2), ["horizontal", "vertical"], strict=True):
    queries = line[:, None] * along
    ax.plot(line, line, color=GREY, lw=0.8)
    for label, estimate, color in [
        ("one shot", posterior_mean(no_layers, queries), ORANGE),
        ("both stages", posterior_mean(prior, queries), BLUE),
        ("Bayes", numeric.mixture_posterior_mean(prior_law, queries, sigma2), "black"),
    ]:
        style = "--" if label == "Bayes" else "-"
        ax.plot(line, estimate @ along, style, color=color, label=label)
    plain(ax, xlabel="query", title=f"along the {name} axis", ylim=(-3, 3))
panels[0].set(ylabel="estimate")
panels[0].legend(fontsize=9)
plt.show()

# %% [markdown]
# A query far from everything gets its nearest particle, without a 0/0 on the way; Bayes, with
# Gaussian components, would follow it out by $s/(s + \sigma^2)$ of the distance.

# %%
for distance in (1e1, 1e3, 1e300):
    far = np.array([[distance, 0.0]])
    print(f"{distance:6.0e} to {posterior_mean(prior, far)[0].round(4)}")
rightmost = prior.particles[prior.particles[:, 0].argmax()]
print(f"the particle furthest to the right is {rightmost.round(4)}")

# %% [markdown]
# ## 6. Depth as time
#
# Layers are Euler steps of a flow, $\frac{d}{d\theta} z_i = F(z_i) - z_i$ for $\theta$ from 0 to
# $\beta\sigma^2/2$. An adaptive Runge-Kutta method follows it, and the layers come near it at the
# rate $1/L$: the largest distance of a particle halves as the depth doubles, and the risk is that
# of the flow well before.

# %%
small_clean, small = draw(600, np.random.default_rng(2))
limit = flow(small, sigma2, beta)
risk = mean_square_error(posterior_mean(limit, small), small_clean)
print(f"flow: risk {risk:.5f}")
for depth in (5, 10, 20, 40, 80, 160):
    found = refine(small, sigma2, equal_layers(sigma2, beta, depth))
    apart = np.abs(found.particles - limit.particles).max()
    less = mean_square_error(posterior_mean(found, small), small_clean) - risk
    print(f"{depth:4d} layers: particles within {apart:.4f}, risk {less:+.5f}")

# %% [markdown]
# ## To go on
#
# | | |
# |---|---|
# | `python -m proofs explain gaussian_kernel.score_step` | the readings, with their proofs |
# | `python -m proofs explain mixture.spread` | how far apart tokens may be without a ridge |
# | `python -m experiments run in_context.fig3` | landscapes, in full |
# | [`06_what_beta_depth_and_N_do.ipynb`](06_what_beta_depth_and_N_do.ipynb) | how to choose |
