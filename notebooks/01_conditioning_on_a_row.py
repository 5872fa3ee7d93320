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
# # Conditioning on a learned row
#
# One of $N$ clean arrays $X^{(n)}$ of $P$ tokens is chosen, with probability $\pi_n$, and seen
# through noise:
#
# $$ Z = (1-t)\,X^{(J)} + t\,\varepsilon, \qquad \mu_n = (1-t)\,X^{(n)}. $$
#
# An attention block reads $Z$ at token $i$. It returns a row of weights for each head and the
# values that the rows mix. Which $n$ was it, given the token $c = Z_i$, the rows and the values?
#
# The rows depend on the data that they weigh, through a softmax. The answer is a Gaussian
# posterior all the same. This notebook follows the steps: derivation, theorem, kernel, picture.

# %%
import matplotlib.pyplot as plt
import numpy as np

import derive
from numeric import condition_on_log_ratios, fibre_posterior, fibre_system, log_ratio_law
from numeric.first_block import (
    AttentionBlock,
    CorruptionModel,
    QueryOnly,
    QueryRow,
    QueryRowValues,
    fibre_twins,
    measurability_gap,
    posterior,
    tower_test,
)
from proofs.explain import explain_theorem
from proofs.files import decide_text
from proofs.library import Library

library = Library()

# %% [markdown]
# ## 1. The row is a linear measurement in disguise
#
# Given the query token, log-ratios of a row to the query's own entry are *linear* in the other
# tokens: $l_{hj} = \log(s_{hj}/s_{hi}) = M_h (z_j - c)$, where row $h$ of $M$ is
# $c^\top Q_h^\top K_h / \sqrt{k_h}$. The normalization, which mixes all tokens, cancels.

# %%
derive.find("attention.log_ratios")

# %%
library.find("attention.log_ratios")

# %% [markdown]
# Nothing is lost on the way: the row is recovered from its log-ratios, for any number of tokens.

# %%
library.find("logratio.row_round_trip")

# %% [markdown]
# ## 2. The law of the log-ratios
#
# So, given $c$ and the component, the log-ratios are Gaussian.

# %%
library.find("attention.log_ratio_law")

# %% [markdown]
# A small block: three tokens in the plane, one head with one value, two components.

# %%
clean = np.array([[[1.2, 0.4], [2.0, -1.0], [-0.5, 1.5]], [[0.4, 1.0], [-0.5, 1.0], [1.5, 0.0]]])
model = CorruptionModel(clean, np.array([0.6, 0.4]), t=0.4)
block = AttentionBlock(
    query_maps=[np.array([[1.0, 0.5], [0.0, 1.0]])],
    key_maps=[np.array([[1.0, 0.0], [0.5, 1.0]])],
    value_maps=[np.array([[0.3, 1.0]])],
    n_tokens=3,
)
draws = model.draw(200_000, seed=1)
c = np.array([0.5, 0.4])
states = draws.state.copy()
states[:, 0] = c  # the other tokens don't depend on it, given the component
run = block.run(states)
M = block.measurement(c).matrix[0]

# %% [markdown]
# Log-ratios of simulated rows, against the law of the theorem.

# %%
log_ratio = run.log_row[:, 0, 1] - run.log_row[:, 0, 0]
axis = np.linspace(-1.6, 1.6, 300)
fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
for n, color in enumerate(["tab:blue", "tab:orange"]):
    own = log_ratio[draws.label == n]
    ax.hist(own, bins=120, range=(-1.6, 1.6), density=True, color=color, alpha=0.35, lw=0)
    law = log_ratio_law(model.mu[n, 1], c, M, model.t)
    sd = np.sqrt(law.cov[0, 0])
    density = np.exp(-(((axis - law.mean[0]) / sd) ** 2) / 2) / (np.sqrt(2 * np.pi) * sd)
    ax.plot(axis, density, color=color, label=f"component {n + 1}")
ax.set(xlabel="log-ratio of the second token", ylabel="density", title="200,000 rows, and the law")
ax.legend(frameon=False)
plt.show()

# %% [markdown]
# ## 3. A token, given its log-ratios
#
# Conditioning a Gaussian on a linear measurement, at any rank: $M$ is $H \times d$, and $M M^\top$
# is singular as soon as $H > d$ or two heads agree. The pseudo-inverse needs no case distinction.

# %%
derive.find("conditioning.token_mean")

# %%
explain_theorem(library.find("conditioning.residual_covariance"), library).goals[1]

# %% [markdown]
# With the transpose in place of the pseudo-inverse the covariance is wrong, and exact numbers say
# so:

# %%
decide_text("""
let h, d : dimension
let M : matrix(h, d)
let mu, c : vector(d)
let t : nonzero
let Z : gaussian(mu, t^2*eye(d))
define log_ratios = M*(Z - c)
show cov(Z, Z | log_ratios) = t^2*(eye(d) - M.T*M)
""")

# %% [markdown]
# One head sees one direction of the plane. What is left of the token is a Gaussian on a line: it
# has a mean, and a covariance of rank 1. The dots are simulated tokens whose log-ratio came within
# 0.01 of the one observed.

# %%
n, seen = 0, 0.35
token = condition_on_log_ratios(model.mu[n, 1], c, np.array([seen]), M, model.t)
near = states[(draws.label == n) & (np.abs(log_ratio - seen) < 0.01), 1]
angle = np.linspace(0, 2 * np.pi, 200)
circle = np.stack([np.cos(angle), np.sin(angle)])
values, vectors = np.linalg.eigh(token.cov)
along = vectors[:, -1] * np.sqrt(values[-1])

fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.plot(*(model.mu[n, 1][:, None] + 2 * model.t * circle), color="0.6", label="before: two s.d.")
ax.plot(*near[:400].T, ".", ms=3, color="tab:blue", alpha=0.5, label="simulated, row observed")
ends = token.mean + np.array([[-2], [2]]) * along
ax.plot(*ends.T, color="tab:red", lw=2, label="after: two s.d.")
ax.plot(*token.mean, "o", color="tab:red")
ax.set(aspect="equal", title="one token, given its log-ratio", xlabel="$z_1$", ylabel="$z_2$")
ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
print("mean    ", token.mean, "against", near.mean(axis=0))
print("eigenvalues of the covariance", values, "against", np.linalg.eigvalsh(np.cov(near.T)))

# %% [markdown]
# ## 4. The values
#
# Given the row, the weights are constants, so that the values are linear in what is left of the
# tokens. This is the point of the order *first the row, then the values*: no Jacobian is needed.

# %%
library.find("attention.value_law")

# %% [markdown]
# ## 5. The posterior
#
# Row and values together are one linear system for the other tokens, $F z = b$, whose matrix
# depends on the observation only. What it shows of the tokens is the projector $\Pi_F = F^+ F$,
# and
#
# $$ r_n(o) \propto \pi_n
# \exp\Big\{ -\frac{|c - \mu_{n,i}|^2 + |F^+(b - F\mu_{n,-i})|^2}{2t^2} \Big\}. $$

# %%
explain_theorem(library.find("fibre.seen_part"), library)

# %% [markdown]
# `numeric.first_block.posterior` takes an observation by its type, so that an estimator can't be
# given what was not observed, and uses the block structure of $F$. The dense system is a second
# way to the same numbers.

# %%
run = block.run(draws.state)
observed = QueryRowValues.of(run)
law = posterior(model, block, observed)

few = slice(0, 1000)
ratios = np.swapaxes(run.log_row[few, :, 1:] - run.log_row[few, :, :1], -1, -2)
system = fibre_system(
    ratios,
    block.measurement(run.query[few]).matrix[:, 0],
    run.query[few],
    V=np.stack(block.value_maps),
    values=run.values[few, None, :],
)
dense = fibre_posterior(
    model.masses, model.mu[:, 0], model.mu[:, 1:], run.query[few], system, model.t
)
print("F is", system.F.shape[1:], "of rank", np.linalg.matrix_rank(system.F[0]))
print(f"largest difference: {np.abs(dense - law.responsibilities[few]).max():.1e}")

# %% [markdown]
# ## 6. Two tests that need not know the derivation
#
# A posterior is calibrated against every function of the observation: the *tower test*. Its
# z-scores are standard normal if the posterior is right. And it is a function of the observation:
# states with the same observation get the same answer. Here is the exact posterior, and one that
# takes the noise to be a tenth larger than it is.

# %%
count = 50_000
part = slice(0, count)
sample = model.draw(count, seed=2)
run = block.run(sample.state)
observed = QueryRowValues.of(run)
features = np.hstack([run.query, run.log_row[:, 0, 1:] - run.log_row[:, 0, :1], run.values])
exact = posterior(model, block, observed)
# The same means mu, and a noise level that is a tenth too large.
off = CorruptionModel(model.mu / (1 - 1.1 * model.t), model.masses, 1.1 * model.t)
wrong = posterior(off, block, observed)
for name, found in [("exact", exact), ("noise off by a tenth", wrong)]:
    print(
        f"{name:<22}worst z-score {tower_test(sample, found.responsibilities, features).worst:6.2f}"
    )

state = sample.state[:200]
twins = fibre_twins(model, block, state, QueryRowValues, seed=3)


def estimate(states):
    return posterior(model, block, QueryRowValues.of(block.run(states))).responsibilities


print(f"states moved by up to {np.abs(twins - state).max():.2f}, with the same observation:")
print(f"the posterior moves by {measurability_gap(estimate, state, twins):.1e}")

# %% [markdown]
# **What each observation adds.** Calibration curves say that each is a posterior of its own
# observation: of the draws that get probability $p$ for the first component, a share $p$ is of the
# first component. What differs is how far the posteriors spread towards 0 and 1.

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
edges = np.linspace(0, 1, 11)
first = sample.label == 0
for kind, color in [
    (QueryOnly, "tab:green"),
    (QueryRow, "tab:orange"),
    (QueryRowValues, "tab:blue"),
]:
    r = posterior(model, block, kind.of(run)).responsibilities[:, 0]
    name = {"QueryOnly": "query", "QueryRow": "query, row"}.get(kind.__name__, "query, row, values")
    cell = np.clip(np.digitize(r, edges) - 1, 0, 9)
    counts = np.bincount(cell, minlength=10)
    filled = counts > 20
    share = np.bincount(cell, weights=first, minlength=10)[filled] / counts[filled]
    mean = np.bincount(cell, weights=r, minlength=10)[filled] / counts[filled]
    error = 2 * np.sqrt(mean * (1 - mean) / counts[filled])
    left.errorbar(mean, share, error, fmt="o", ms=4, capsize=2, color=color, label=name)
    right.hist(r, bins=40, range=(0, 1), histtype="step", lw=1.5, color=color, label=name)
left.plot([0, 1], [0, 1], color="0.6", lw=0.8, zorder=0)
left.set(xlabel="responsibility of the first component", ylabel="share of the first component")
left.set(title="calibration, two standard errors")
left.legend(frameon=False)
right.set(yscale="log", xlabel="responsibility of the first component", ylabel="draws")
right.set(title="spread")
right.legend(frameon=False, loc="upper center")
plt.show()

# %% [markdown]
# ## To go on
#
# | | |
# |---|---|
# | `python -m proofs explain fibre.log_odds` | the log-odds, with the kernel that computes them |
# | `python -m experiments run first_block.posteriors` | six readings of the same draws |
# | [`02_fibre_test.ipynb`](02_fibre_test.ipynb) | when nothing is lost, and else how much |
# | [`03_frozen_against_exact.ipynb`](03_frozen_against_exact.ipynb) | why the row is no constant |
