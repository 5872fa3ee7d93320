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
# # Frozen against exact
#
# A common shortcut treats the observed attention row as fixed numbers: the block is then linear,
# and a Gaussian posterior follows at once. But the row was computed from the very tokens that it
# weighs. What does the shortcut ignore, how wrong can it be, and when is it right?
#
# The model is that of [`01_conditioning_on_a_row.ipynb`](01_conditioning_on_a_row.ipynb).

# %%
import matplotlib.pyplot as plt
import numpy as np

from numeric.first_block import (
    AttentionBlock,
    CorruptionModel,
    QueryRowValues,
    frozen_row_difference,
    frozen_row_posterior,
    posterior,
    tower_test,
)
from proofs.explain import explain_theorem
from proofs.files import decide_text
from proofs.library import Library

library = Library()

# %% [markdown]
# ## 1. A counterexample in exact numbers
#
# Three tokens of one coordinate, one head with $QK = \log 2$ and $V = 1$, corruption
# $t = \frac12$. The query token is $c = 1$, the others are $z = (2, 0)$. The row is
# $(\frac27, \frac47, \frac17)$, the value $\frac{10}7$. Two components, equally likely:
# $\mu_1 = (\frac32, \frac98, 0)$ and $\mu_2 = (\frac12, \frac78, 1)$.
#
# The row reveals both tokens: their log-ratios are $\log 2\,(z_j - 1)$. Read as fixed numbers it
# reveals nothing, and the value gives one equation, $4 z_2 + z_3 = 8$. The contrast
# $(\frac14, -1)$ is orthogonal to $(4, 1)$. All of this is a theorem, in rational numbers and
# $\log 2$:

# %%
theorem = library.find("first_block.frozen_example")
theorem

# %% [markdown]
# The proof of the last line, the frozen row's log-odds:

# %%
explain_theorem(theorem, library).goals[-1]

# %% [markdown]
# The log-odds are 3, and 0 for the frozen row. A slip in either is refuted, with the numbers:

# %%
decide_text("""
define row = softmax(block([[0], [log(2)], [-log(2)]]))
define D = block([[row[2], row[3]]])
define z = block([[2], [0]])
define a = block([[9/8], [0]])
define b = block([[7/8], [1]])
show inner(a - b, pinv(D)*D*(z - (a + b)/2)) = inner(a - b, z - (a + b)/2)
""")

# %% [markdown]
# The same in floating point:

# %%
one = np.array([[1.0]])
block = AttentionBlock([one], [one * np.log(2)], [one], n_tokens=3)
clean = np.array([[3, 9 / 4, 0], [1, 7 / 4, 2]])[..., None]
model = CorruptionModel(clean, np.array([0.5, 0.5]), t=0.5)
state = np.array([[1.0], [2.0], [0.0]])
observed = QueryRowValues.of(block.run(state))

exact = posterior(model, block, observed)
frozen = frozen_row_posterior(model, block, observed)
for name, law in [("exact", exact), ("frozen", frozen)]:
    odds = law.log_responsibilities[0] - law.log_responsibilities[1]
    print(
        f"{name:<7} log-odds {odds:.12f}   r_1 {law.responsibilities[0]:.12f}   "
        f"noise mean {law.noise_mean[0]:+.12f}"
    )
print(f"        logistic(3) = {1 / (1 + np.exp(-3)):.12f}, -tanh(3/2) = {-np.tanh(1.5):.12f}")

# %% [markdown]
# Not only the size is at stake. With another contrast, and the same state, the frozen row takes
# the other side: log-odds $\frac{29}8$ against $-\frac4{17}$.

# %%
library.find("first_block.sign_reversal")

# %% [markdown]
# ## 2. What the shortcut ignores
#
# In the plane of the two other tokens: the value alone leaves a line of states, on which the
# frozen row takes the point that is closest to the means. The row pins down the state itself.
# Shown are the log-odds of every state (colours), the line, and the two points that the two
# readings rest on.

# %%
mu = model.mu[:, 1:, 0]
D = np.array([4 / 7, 1 / 7])
middle = mu.mean(axis=0)
closest = middle + D * (D @ (np.array([2.0, 0.0]) - middle)) / (D @ D)
axis = np.linspace(-3, 5, 200)
x, y = np.meshgrid(axis, axis)
log_odds = ((mu[0] - mu[1]) * (np.stack([x, y], axis=-1) - middle)).sum(axis=-1) / model.t**2

fig, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
shades = ax.contourf(x, y, log_odds, levels=np.linspace(-15, 15, 31), cmap="RdBu", alpha=0.6)
ax.contour(x, y, log_odds, levels=[0.0], colors="0.3", linewidths=1)
ax.plot(axis, 8 - 4 * axis, color="black", label="states with this value, row fixed")
ax.plot(2, 0, "*", ms=14, color="black", label="what row and value pin down")
ax.plot(*closest, "o", ms=8, mfc="white", color="black", label="what the frozen row rests on")
ax.plot(*mu[0], "s", color="tab:blue", label=r"mean $\mu_1$")
ax.plot(*mu[1], "s", color="tab:red", label=r"mean $\mu_2$")
ax.set(xlim=(-2, 4), ylim=(-2.2, 2.2), xlabel="$z_2$", ylabel="$z_3$", aspect="equal")
ax.set_title("log-odds of the first component, by the other tokens")
ax.legend(fontsize=8, loc="lower left")
fig.colorbar(shades, ax=ax, shrink=0.8)
plt.show()

# %% [markdown]
# In general, with $\Pi_F$ the projector on what row and values show and $\Pi_D$ on what the values
# show at a fixed row, the difference has a closed form:

# %%
explain_theorem(library.find("fibre.frozen_row"), library)

# %% [markdown]
# At 20,000 random observations the two posteriors differ by just that.

# %%
draws = model.draw(20_000, seed=1)
run = block.run(draws.state)
observed = QueryRowValues.of(run)
exact, frozen = posterior(model, block, observed), frozen_row_posterior(model, block, observed)


def odds(law):
    return law.log_responsibilities[:, 0] - law.log_responsibilities[:, 1]


closed = frozen_row_difference(model, block, observed)[:, 0, 1]
worst = np.abs(odds(exact) - odds(frozen) - closed).max()
print(f"log-odds differ by up to {np.abs(closed).max():.1f}; from the closed form by {worst:.1e}")

# %% [markdown]
# ## 3. It is not a posterior
#
# A posterior is calibrated against every function of what was observed. The tower test says
# whether a claimed one is; its z-scores should be those of a standard normal.

# %%
features = np.hstack([run.query, run.log_row[:, 0, 1:] - run.log_row[:, 0, :1], run.values])
for name, law in [("exact", exact), ("frozen", frozen)]:
    print(f"{name:<7} worst z-score {tower_test(draws, law.responsibilities, features).worst:7.2f}")

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
points = slice(0, 3000)
left.plot(exact.responsibilities[points, 0], frozen.responsibilities[points, 0], ".", ms=3)
left.plot([0, 1], [0, 1], color="0.5", lw=0.8)
left.set(xlabel="exact responsibility", ylabel="frozen row", aspect="equal", title="3,000 draws")
edges = np.linspace(0, 1, 11)
for name, law, color in [("exact", exact, "tab:blue"), ("frozen row", frozen, "tab:orange")]:
    # The log-odds of the other kind split the draws: a posterior must be calibrated in each half.
    r = law.responsibilities[:, 0]
    for half, marker in [(closed > 0, "^"), (closed <= 0, "v")]:
        cell = np.clip(np.digitize(r[half], edges) - 1, 0, 9)
        counts = np.bincount(cell, minlength=10)
        filled = counts > 30
        share = np.bincount(cell, weights=draws.label[half] == 0, minlength=10)[filled]
        share = share / counts[filled]
        mean = np.bincount(cell, weights=r[half], minlength=10)[filled] / counts[filled]
        error = 2 * np.sqrt(share * (1 - share) / counts[filled])
        sign = ">" if marker == "^" else r"\leq"
        right.errorbar(
            mean,
            share,
            error,
            fmt=marker,
            ms=5,
            capsize=2,
            color=color,
            label=rf"{name}, difference ${sign} 0$",
        )
right.plot([0, 1], [0, 1], color="0.5", lw=0.8, zorder=0)
right.set(xlabel="claimed responsibility", ylabel="share of the first component")
right.set(title="calibration by the sign of the difference")
right.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% [markdown]
# ## 4. What it costs
#
# With $m$ the noise mean given the observation and $\tilde m$ that of the frozen row, the excess
# risk is $E|m - \tilde m|^2$, at most $\big(\frac{1-t}t\big)^2 D_i^2\,E[TV^2]$, where $D_i$ is the
# largest distance between clean targets; an equality for two components. Over the corruption
# level:

# %%
levels = np.linspace(0.1, 0.95, 18)
cost, error, bound, risk = np.zeros((4, len(levels)))
for k, t in enumerate(levels):
    at = CorruptionModel(clean, np.array([0.5, 0.5]), float(t))
    sample = at.draw(20_000, seed=2)
    observed = QueryRowValues.of(block.run(sample.state))
    law, plug_in = posterior(at, block, observed), frozen_row_posterior(at, block, observed)
    square = (law.noise_mean - plug_in.noise_mean)[:, 0] ** 2
    cost[k], error[k] = square.mean(), 2 * square.std() / np.sqrt(len(square))
    variation = np.abs(law.responsibilities - plug_in.responsibilities).sum(axis=-1) / 2
    bound[k] = ((1 - t) / t * 2 * variation).var() + ((1 - t) / t * 2 * variation).mean() ** 2
    risk[k] = ((sample.noise[:, 0] - law.noise_mean) ** 2).mean()

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(levels, risk, color="0.5", label="risk of the exact posterior")
ax.errorbar(
    levels,
    cost,
    error,
    fmt="o",
    ms=4,
    capsize=2,
    color="tab:orange",
    label="excess risk of the frozen row",
)
ax.plot(levels, bound, "--", color="black", lw=1, label="bound: an equality here")
ax.set(xlabel="corruption level t", ylabel="mean square, two standard errors")
ax.legend(frameon=False)
plt.show()

# %% [markdown]
# ## 5. When it is right
#
# Exactly where both projectors agree on the contrasts: where the values show all tokens by
# themselves, and where the row says nothing of them ($M = 0$).

# %%
explain_theorem(library.find("first_block.frozen_exact_full"), library)

# %%
wide = AttentionBlock([one, -one], [one * np.log(2), one], [one, one], n_tokens=3)
blind = AttentionBlock([0 * one], [one], [one], n_tokens=3)
sample = model.draw(5000, seed=3).state
for name, other in [("two heads, two values", wide), ("M = 0", blind), ("one head", block)]:
    observed = QueryRowValues.of(other.run(sample))
    gap = posterior(model, other, observed).responsibilities
    gap = gap - frozen_row_posterior(model, other, observed).responsibilities
    print(f"{name:<22} responsibilities differ by up to {np.abs(gap).max():.1e}")

# %% [markdown]
# ## To go on
#
# | | |
# |---|---|
# | `python -m experiments run first_block.frozen_row` | cost over noise and contrast |
# | `python -m proofs check first_block.frozen_example` | certificate, instances and mutants |
# | `python -m proofs explain first_block.no_values_example` | two tokens, no values |
