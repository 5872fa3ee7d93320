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
# # The fibre test
#
# An attention block shows a row and the values that it mixes, and the query token $c$. When is
# that as good as the whole state? The posterior given the observation $o$ and the posterior given
# the state $Z$ are two random variables; this notebook decides when they are the same, and
# computes what is lost if they aren't. The model is that of
# [`01_conditioning_on_a_row.ipynb`](01_conditioning_on_a_row.ipynb).

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

import derive
from experiments.catalogue import find
from experiments.record import read_record
from experiments.runner import RECORD, run_study
from numeric.first_block import (
    AttentionBlock,
    CorruptionModel,
    FullState,
    QueryRowValues,
    fibre_twins,
    information_loss,
    posterior,
    posterior_variance,
    posterior_variance_bound,
    sufficiency,
    unresolved_contrasts,
    zero_one_law,
)
from proofs.explain import explain_theorem
from proofs.files import decide_text
from proofs.library import Library

library = Library()

# %% [markdown]
# ## 1. The fibre
#
# Given $o$, row and values are a linear system $F z = b$ for the other tokens. The states with the
# same observation are an affine space: one solution, and the kernel of $F$ around it.

# %%
explain_theorem(library.find("first_block.fibre"), library)

# %% [markdown]
# A head that sees the first coordinate of every token, and nothing of the second:

# %%
t = 0.5
first_coordinate = np.array([[1.0, 0.0]])
block = AttentionBlock([np.array([[0.7, 0.5]])], [first_coordinate], [first_coordinate], n_tokens=3)


def pair(contrast):
    """Two components whose second tokens differ by a contrast."""
    clean = np.zeros((2, 3, 2))
    clean[:, 0] = [[1.0, 0.3], [-1.0, 0.3]]
    clean[1, 1] = contrast
    return CorruptionModel(clean, np.array([0.5, 0.5]), t)


seen, unseen = pair([1.3, 0.0]), pair([0.0, 1.3])
state = unseen.draw(1, seed=4).state
twins = np.concatenate(
    [fibre_twins(unseen, block, state, QueryRowValues, seed=k) for k in range(300)]
)
same, moved = block.run(state), block.run(twins)
print(f"rows differ by   {np.abs(moved.log_row - same.log_row).max():.1e}")
print(f"values differ by {np.abs(moved.values - same.values).max():.1e}")

# %% [markdown]
# ## 2. The test
#
# On the fibre the log-odds of two components are affine, and their gradient is the part of the
# contrast $\Delta_{nm}$ that lies in the kernel of $F$, over $t^2$. So the posteriors agree if and
# only if $P_{\ker F}\,\Delta_{nm} = 0$ for all pairs. One direction:

# %%
explain_theorem(library.find("fibre.sufficient"), library)

# %% [markdown]
# and the other:

# %%
explain_theorem(library.find("first_block.sufficiency_converse"), library)

# %% [markdown]
# It is not enough that the values don't see the contrast, if the row does; and it is not enough
# that the contrast is orthogonal to *some* direction of the kernel. A false neighbour is refuted:

# %%
decide_text("""
let k, q : dimension
let F : matrix(k, q)
let z, a, b, w : vector(q)
let t : nonzero
assume F*w = zeros(k, 1)
assume norm2(w) > 0
assume inner(w, a - b) = 0
show inner(a - b, z - (a + b)/2)/t^2 = inner(a - b, pinv(F)*F*(z - (a + b)/2))/t^2
""")

# %% [markdown]
# The states of one fibre, and the log-odds on it. For a contrast along the first coordinate they
# don't move; for one along the second they do.

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.plot(*twins[:, 1].T, ".", ms=4, color="tab:blue", label="states with\nthis observation")
left.plot(*state[0, 1], "o", color="tab:red", label="the state")
left.set(xlim=(state[0, 1, 0] - 2, state[0, 1, 0] + 2), xlabel="first coordinate")
left.set(ylabel="second coordinate", title="the second token on the fibre")
left.legend(frameon=False, fontsize=9, loc="center left")
for model, color, name in [
    (seen, "tab:green", "contrast along the first"),
    (unseen, "tab:orange", "contrast along the second"),
]:
    log_r = posterior(model, block, FullState(twins)).log_responsibilities
    order = np.argsort(twins[:, 1, 1])
    right.plot(twins[order, 1, 1], (log_r[:, 0] - log_r[:, 1])[order], ".", color=color, label=name)
right.set(xlabel="second coordinate of the second token", ylabel="log-odds of the full state")
right.set(title="log-odds along the fibre")
right.legend(frameon=False, fontsize=9)
plt.show()

# %% [markdown]
# The verdict comes with its margins: the singular values behind the ranks, and the largest
# unresolved contrast in units of the noise, $|P_{\ker F}\Delta|/t = 1.3\,(1-t)/t$ for the second
# pair.

# %%
for name, model in [("seen", seen), ("unseen", unseen)]:
    observed = QueryRowValues.of(block.run(model.draw(1, seed=5).state))
    verdict = sufficiency(model, block, observed)
    print(f"{name}: sufficient {bool(verdict.is_sufficient[0])}")
    print(
        f"  worst contrast {verdict.worst_contrast[0]:.6f}, ranks "
        f"{verdict.margins.row_rank[0]} and {verdict.margins.value_rank[0]}"
    )
    print(
        f"  singular values {verdict.margins.row_singular_values[0].round(3)} of the row, "
        f"{verdict.margins.value_singular_values[0].round(3)} of the values"
    )

# %% [markdown]
# The ranks at stake are maximal off a null set, so that one random observation decides for almost
# all. Three must agree; if they don't, the rank tolerance is at fault.

# %%
print("agree:", zero_one_law(unseen, block, QueryRowValues, seed=6).agrees)

# %% [markdown]
# ## 3. What is lost
#
# Given $o$ the log-odds of the full state have a known variance, the same under every component.

# %%
derive.find("fibre.unresolved")

# %%
library.find("fibre.fibre_law")

# %% [markdown]
# For two components they are a mixture of two normal laws around the log-odds $\Lambda_o$ of the
# observation, half their variance above and below:
#
# $$ r_1\, N(\Lambda_o + \varsigma^2/2,\ \varsigma^2)
# + r_2\, N(\Lambda_o - \varsigma^2/2,\ \varsigma^2),
# \qquad \varsigma^2 = |P_{\ker F}\Delta|^2/t^2. $$

# %%
library.find("first_block.mixture_variance")

# %% [markdown]
# Simulated: draw many states, keep those whose observation leads to nearly the same $\Lambda_o$,
# and look at their full log-odds.

# %%
draws = unseen.draw(400_000, seed=7)
observed = QueryRowValues.of(block.run(draws.state))
log_r = posterior(unseen, block, observed).log_responsibilities
given = log_r[:, 0] - log_r[:, 1]
log_r = posterior(unseen, block, FullState(draws.state)).log_responsibilities
full = log_r[:, 0] - log_r[:, 1]
variance = float(unresolved_contrasts(unseen, block, QueryRowValues.of(same))[0, 0, 1] ** 2)

centre = 0.5
near = full[np.abs(given - centre) < 0.05]
axis = np.linspace(-5, 6, 400)


def normal(mean):
    return np.exp(-((axis - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


r = expit(centre)
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.hist(near, bins=40, density=True, color="0.8", label=f"{len(near)} simulated states")
mixture = r * normal(centre + variance / 2) + (1 - r) * normal(centre - variance / 2)
left.plot(axis, mixture, color="tab:red", label="mixture of two normal laws")
left.set(xlabel="log-odds of the full state", title=rf"given log-odds {centre} of the observation")
left.legend(frameon=False, fontsize=9, loc="upper left")

spread = np.linspace(0, 16, 200)
for log_odds, color in [(0.0, "tab:blue"), (2.0, "tab:orange"), (4.0, "tab:green")]:
    right.plot(
        spread,
        posterior_variance(log_odds, spread),
        color=color,
        label=rf"$\Lambda_o = {log_odds:g}$",
    )
    right.plot(spread, posterior_variance_bound(log_odds, spread), "--", lw=1, color=color)
right.plot([], [], "--", color="0.5", label="bound")
right.set(
    xlabel=r"$\varsigma^2$", ylabel=r"$\psi$", title="variance of the responsibility, given $o$"
)
right.legend(frameon=False, fontsize=9, loc=(0.66, 0.46))
plt.show()

# %% [markdown]
# That variance $\psi$ is the loss of the responsibility, a one-dimensional integral whatever the
# number of tokens, and with a factor it is the loss of the noise mean. Against the mean square
# over the simulated states:

# %%
loss = information_loss(unseen, block, observed)
direct = (
    posterior(unseen, block, FullState(draws.state)).noise_mean
    - posterior(unseen, block, observed).noise_mean
)
direct = (direct**2).sum(axis=-1)
error = (loss - direct).std() / np.sqrt(len(loss))
print(
    f"by the integral {loss.mean():.5f}, by the states {direct.mean():.5f}, "
    f"difference {(loss - direct).mean() / error:+.2f} standard errors"
)

# %% [markdown]
# That a loss is at most a sixteenth of the variance of the log-odds, as far as it is small, is a
# theorem about numbers that move at most a quarter as far as others:

# %%
library.find("first_block.loss_bound")

# %% [markdown]
# ## 4. Over sizes
#
# The study `first_block.fibre_test` does the same for random blocks: heads of one block of four
# tokens in four dimensions, with more and more of their values. It states in advance what must
# hold.

# %%
study = find("first_block.fibre_test")
with tempfile.TemporaryDirectory() as folder:
    run_study(study, Path(folder), quick=True)
    record = read_record(Path(folder) / RECORD)
for condition in record.conditions:
    print(condition)

# %%
figure = plt.figure(figsize=study.size, layout="constrained")
study.draw(figure, record.outcomes)
plt.show()

# %% [markdown]
# Read the table from below. One head leaves three dimensions of each token open, and its values
# close one dimension each of all of them together, three at most: never enough for a contrast in
# general position. With three heads, one value each is enough. Four heads show everything by their
# rows alone.
#
# ## To go on
#
# | | |
# |---|---|
# | `python -m experiments run first_block.fibre_test` | four instances, more draws |
# | `python -m proofs explain first_block.two_groups` | more components: when the mean survives |
# | [`03_frozen_against_exact.ipynb`](03_frozen_against_exact.ipynb) | the row read as a constant |
