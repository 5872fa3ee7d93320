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
# # The covariance flow
#
# Clean data have a covariance $\Sigma_0$, of any rank. The tokens are the data with noise:
# $\Gamma_0 = \Sigma_0 + \sigma^2 I$. Layers of Gaussian attention draw the tokens together, and in
# the limit of many tokens and thin layers the covariance follows a flow. Where does it lead, when
# is the noise gone, and what is left of it if one stops at a fixed time?
#
# The [tour](00_tour.ipynb) follows a single eigenvalue. Here it is the whole covariance: both
# clocks, directions without any variance, finite depth, and the posterior mean that the result is
# used for.

# %%
import inspect

import matplotlib.pyplot as plt
import mpmath
import numpy as np

import derive
import numeric
from experiments.pictures import BLUE, COLORS, GREEN, GREY, ORANGE, RED, SKY, plain
from numeric.kernels import depth as depth_kernels
from numeric.kernels import flow as kernels
from numeric.particles import equal_layers, moments, refine, weighted_grid
from proofs.explain import explain_theorem
from proofs.files import decide_text
from proofs.library import Library

library = Library()

# %% [markdown]
# ## 1. From a velocity to eigenvalues
#
# Attention sees the law $f$ of the tokens through its kernel, $G_\beta = N(0, I/\beta)$: it moves
# a token along the score of $G_\beta * f$. For $f = N(m, \Gamma)$ that law is
# $N(m, \Gamma + I/\beta)$, and its score is affine. Along one direction:

# %%
explain_theorem(library.find("transport.slope_main_clock"), library)

# %% [markdown]
# The score of $f$ itself would be $-(z - m)/v$, which is the exact reverse of the diffusion. All
# that follows comes from the difference between the two. To take one for the other is refuted:

# %%
decide_text("""
let beta, v : positive
let z, m : real
show diff(logpdf(z; m, v + 1/beta), z) = -(z - m)/v
""")

# %% [markdown]
# An affine velocity keeps a Gaussian Gaussian, and moves its covariance by
#
# $$ \dot\Gamma = -2\,\Gamma\,(\Gamma + I/\beta)^{-1}. $$
#
# A solution stays one in any orthonormal basis. So the eigenvectors of $\Sigma_0$ are those of
# $\Gamma$ at all times, singular or not, and each eigenvalue moves on its own. The theorem is
# stated in the other clock, $\theta = \beta t$:

# %%
explain_theorem(library.find("flow.matrix_form"), library)

# %% [markdown]
# ## 2. An eigenvalue in closed form
#
# In the clock $t$, where the noise is undone by $t = \sigma^2/2$ if $\beta$ is large:

# %%
derive.find("flow.eigenvalue_main_clock")

# %% [markdown]
# What makes this work is a quantity that the flow keeps. That is proved for whatever solves the
# equation, whether or not one knows the solution:

# %%
explain_theorem(library.find("flow.invariant"), library)

# %% [markdown]
# With $\beta$ in the wrong place nothing is kept. The counterexample is a path through a point
# with the right slope there.

# %%
decide_text("""
let beta : positive
let v : function(real)
let t : real
assume v(t) > 0
assume diff(v(t), t) = -2*v(t)/(v(t) + 1/beta)
show diff(v(t) + beta*log(v(t)) + 2*t, t) = 0
""")

# %% [markdown]
# That the closed form is a solution, in this clock, is the theorem `flow.main_clock`; its kernel
# works with $\omega(x) = W(e^x)$, since $e^{\beta\lambda_0}$ overflows.

# %%
library.find("flow.main_clock")

# %%
print(inspect.getsource(kernels.eigenvalue_main_clock))

# %% [markdown]
# A check that knows nothing of $W$: the time from $\lambda_0$ down to $v$ is an integral,
#
# $$ t = \int_v^{\lambda_0} \frac{u + 1/\beta}{2u}\,du. $$
#
# It is taken with 30 digits, and the flow is asked, on each clock, what is left after that time.


# %%
def elapsed(beta, start, end):
    with mpmath.workdps(30):
        return float(mpmath.quad(lambda u: (u + 1 / beta) / (2 * u), [end, start]))


print(f"{'beta':>6} {'from':>6} {'to':>6}   {'t':>12}   relative error, main and appendix clock")
for beta, start, end in [(1.0, 1.25, 1.0), (20.0, 1.25, 1.0), (20.0, 0.5, 1e-6), (1e4, 3.0, 0.2)]:
    t = elapsed(beta, start, end)
    found = [
        float(numeric.eigenvalue_flow(start, time, beta, clock=clock))
        for time, clock in [(t, "main"), (beta * t, "appendix")]
    ]
    off = [f"{abs(value / end - 1):.1e}" for value in found]
    print(f"{beta:6g} {start:6g} {end:6g}   {t:12.9f}   {off[0]}, {off[1]}")

# %% [markdown]
# **Every finite $\beta$ is late.** Noise of variance $\sigma^2 = \frac12$ on clean variances
# $s = 1$, $\frac1{10}$ and $0$. The dashed line $s + \sigma^2 - 2t$ is the exact reverse of the
# diffusion, the vertical line its end. Dots mark when the clean variance is reached. The smaller
# $s$, the later; for $s = 0$, never.

# %%
sigma2, betas = 0.5, [2, 5, 20, 100]
t = np.linspace(0, 0.55, 300)
fig, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
for ax, s in zip(axes, [1.0, 0.1, 0.0], strict=True):
    for beta, color in zip(betas, COLORS, strict=False):
        value = numeric.eigenvalue_flow(s + sigma2, t, beta, clock="main")
        ax.plot(t, value, color=color, label=rf"$\beta = {beta}$")
        star = float(numeric.denoising_time(s, sigma2, beta, clock="main"))
        if star <= t[-1]:
            ax.plot(star, s, "o", color=color, clip_on=False, zorder=3)
    ideal = t[t <= sigma2 / 2]
    ax.plot(ideal, s + sigma2 - 2 * ideal, "k--", lw=1.2, label=r"$\beta \to \infty$")
    ax.axhline(s, color=GREY, lw=0.8)
    ax.axvline(sigma2 / 2, color=GREY, lw=0.8)
    plain(ax, xlabel="$t$", title=f"$s = {s:g}$", xlim=(0, t[-1]), ylim=(s - 0.27, s + 0.53))
axes[2].set(ylim=(0, 0.53))
axes[1].set(ylim=(0, 0.63))
axes[0].set(ylabel=r"$\lambda(t)$")
axes[0].legend(fontsize=8, loc="lower left")
plt.show()

# %% [markdown]
# ## 3. The denoising time
#
# From the invariant, the time from $s + \sigma^2$ down to $s$ is known exactly.

# %%
derive.find("flow.denoising_time_main_clock")

# %%
explain_theorem(library.find("flow.denoising_time"), library).goals[1]

# %% [markdown]
# Without the logarithm it is the time that the ideal line suggests, which leaves too much:

# %%
decide_text("""
let beta, s, sigma2 : positive
define t = sigma2/2
show lambertw(beta*(s + sigma2)*exp(beta*(s + sigma2) - 2*beta*t))/beta = s
""")

# %% [markdown]
# And the logarithm depends on $s$. The time that is right for one direction is wrong for another
# one, with variance $r$:

# %%
decide_text("""
let beta, s, r, sigma2 : positive
define t = sigma2/2 + log((s + sigma2)/s)/(2*beta)
show lambertw(beta*(r + sigma2)*exp(beta*(r + sigma2) - 2*beta*t))/beta = r
""")

# %% [markdown]
# A covariance with four eigenvalues: what each of them is, relative to its clean value, when the
# flow stops at the nominal end or where one of them is right. Along the diagonal the ratio is 1;
# below it the flow has gone too far, above it not far enough.

# %%
clean, beta = np.array([1.0, 0.3, 0.1, 0.02]), 20.0
stars = numeric.denoising_time(clean, sigma2, beta, clock="main")
stops = [("nominal end", sigma2 / 2)]
stops += [(f"right for s = {s:g}", star) for s, star in zip(clean, stars, strict=True)]
print(f"{'stopped at':<29}" + "".join(f"{f's = {s:g}':>10}" for s in clean))
for name, time in stops:
    ratio = numeric.eigenvalue_flow(clean + sigma2, time, beta, clock="main") / clean
    print(f"{name:<19} t = {time:.3f}" + "".join(f"{r:10.4f}" for r in ratio))

# %% [markdown]
# In the plane, standard ellipses: a covariance with eigenvalues $1$ and $\frac1{20}$ above, a
# singular one, which lives on a line, below. Dashed is the clean one, and the titles have the
# eigenvalues. The long axis is right at the third time, and the short one above at the fourth,
# where the long one is too short. Below, no time makes the ellipse a line.

# %%
angle = 0.5
turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
circle = np.stack([np.cos(np.linspace(0, 2 * np.pi, 200)), np.sin(np.linspace(0, 2 * np.pi, 200))])


def ellipse(cov):
    values, vectors = np.linalg.eigh(cov)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ circle


beta = 10.0
fig, axes = plt.subplots(2, 4, figsize=(11, 4.6), sharex=True, sharey=True, layout="constrained")
for row, (short, color) in zip(axes, [(0.05, BLUE), (0.0, RED)], strict=True):
    cov = turn @ np.diag([1.0, short]) @ turn.T
    long_star = float(numeric.denoising_time(1.0, sigma2, beta, clock="main"))
    late = float(numeric.denoising_time(0.05, sigma2, beta, clock="main"))
    for ax, time in zip(row, [0.0, sigma2 / 2, long_star, late], strict=True):
        moved = numeric.covariance_flow(cov + sigma2 * np.eye(2), time, beta, clock="main")
        ax.fill(*ellipse(moved), color=color, alpha=0.15, lw=0)
        ax.plot(*ellipse(moved), color=color)
        ax.plot(*ellipse(cov), "k--", lw=1)
        values = np.linalg.eigvalsh(moved)[::-1]
        ax.set(aspect="equal", xticks=[], yticks=[])
        ax.set_title(f"$t = {time:.3f}$:  {values[0]:.3f}, {values[1]:.3f}", fontsize=10)
axes[0, 0].set(ylabel="clean: 1, 0.05")
axes[1, 0].set(ylabel="clean: 1, 0")
plt.show()

# %% [markdown]
# ## 4. What is left at the nominal end
#
# Let the flow stop at $t = \sigma^2/2$, the same moment on both clocks, since no other time is
# known without knowing $\Sigma_0$. With $\ell = \log\frac{s + \sigma^2}{s}$ and $\Delta$ the
# variance that is left above $s$: $\beta\Delta = \ell - \log(1 + \Delta/s)$, and from that bounds
# for every $\beta$. The theorem has eight goals; the last is the lower bound:

# %%
bounds = library.find("flow.terminal_bounds")
bounds

# %%
explain_theorem(bounds, library).goals[-1]

# %% [markdown]
# The upper bound is no equality, however good it is for large $\beta$:

# %%
decide_text("""
let beta, s, sigma2 : positive
define lambda = lambertw(beta*(s + sigma2)*exp(beta*s))/beta
define ell = log((s + sigma2)/s)
show lambda - s = ell/beta
""")

# %% [markdown]
# **A direction without variance.** For $s = 0$ the bounds say nothing, since $\ell$ is infinite.
# What is left is $W(\beta\sigma^2)/\beta$:

# %%
explain_theorem(library.find("flow.singular_direction"), library).goals[0]

# %% [markdown]
# It tends to 0, as a theorem says,

# %%
library.find("flow.singular_limit")

# %% [markdown]
# but slowly, since $W(x)$ is nearly $\log x - \log\log x$: the rate is $\log\beta/\beta$, not
# $1/\beta$. For $x \geq e$,
#
# $$ \log x - \log\log x + \frac{\log\log x}{2\log x} \;\leq\; W(x) \;\leq\;
# \log x - \log\log x + \frac{e}{e-1}\,\frac{\log\log x}{\log x}. $$
#
# On the left below, $\beta\Delta$ over $\beta$. For $s > 0$ it ends at $\ell$, the dotted lines,
# and shaded is what both bounds leave open; the curve of a small $s$ follows that of $s = 0$ until
# $\beta s$ is about 1. For $s = 0$ it grows for ever, within the red band. On the right, on the
# other clock and with a logarithmic axis, why: as long as $\lambda$ is above $1/\beta$ the flow
# runs at nearly constant speed. Below, the kernel is wider than the cloud, the velocity is
# proportional to the distance from the mean, and the decay is exponential, $e^{-2\theta}$.

# %%
width = np.logspace(0, 5, 200)
fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.9), layout="constrained")
for s, color in zip([1.0, 0.1, 0.01], COLORS, strict=False):
    low, high = width * numeric.excess_bounds(s, sigma2, width)
    left.fill_between(width, low, high, color=color, alpha=0.15, lw=0)
    left.axhline(high[0], color=color, lw=1, ls=":")
    left.semilogx(
        width, width * numeric.terminal_excess(s, sigma2, width), color=color, label=f"$s = {s:g}$"
    )
left.semilogx(
    width, width * numeric.terminal_excess(0.0, sigma2, width), color=RED, label="$s = 0$"
)
far = width[width * sigma2 >= np.e]
logs = np.log(far * sigma2)
loglogs = np.log(logs)
below, above = (logs - loglogs + factor * loglogs / logs for factor in (0.5, np.e / (np.e - 1)))
left.fill_between(far, below, above, color=RED, alpha=0.2, lw=0)
plain(left, xlabel=r"$\beta$", ylabel=r"$\beta\Delta$", title="left at the nominal end")
left.set(xlim=(1, 1e5), ylim=(0, 10))
left.legend(fontsize=8)

beta = 100.0
theta = np.linspace(0, 40, 400)
for s, color in [(0.1, ORANGE), (0.01, GREEN), (0.0, RED)]:
    value = numeric.eigenvalue_flow(s + sigma2, theta, beta, clock="appendix")
    right.semilogy(theta, value, color=color, label=f"from $s = {s:g}$")
right.axhline(1 / beta, color="k", lw=1, ls=":", label=r"$1/\beta$")
right.axvline(beta * sigma2 / 2, color=GREY, lw=0.8)
plain(right, xlabel=r"$\theta$", ylabel=r"$\lambda$", title=r"appendix clock, $\beta = 100$")
right.set(ylim=(1e-8, 1))
right.legend(fontsize=8, loc="lower left")
plt.show()

exact = far * numeric.terminal_excess(0.0, sigma2, far)
print(f"within the band for s = 0: {bool(((below <= exact) & (exact <= above)).all())}")

# %% [markdown]
# ## 5. Finite depth
#
# A layer takes a step $\eta \leq 1$ towards the kernel mean. On a Gaussian it multiplies each
# deviation by a factor, and the variance by its square. With a full step the variance after a layer
# is cubic in the one before, where it is small.

# %%
layer = library.find("depth.layer")
layer

# %%
explain_theorem(layer, library).goals[0]

# %%
print(inspect.getsource(depth_kernels.layer))

# %% [markdown]
# The square is not $1 - 2\eta/(1 + \beta v)$, which would be the Euler step of the variance's own
# equation, and could become negative:

# %%
decide_text("""
let v, beta : positive
let eta : nonnegative
assume eta <= 1
show v*(1 - eta/(1 + beta*v))^2 = v*(1 - 2*eta/(1 + beta*v))
""")

# %% [markdown]
# That the recursion is what layers of attention do is seen without it: a grid of weighted tokens
# stands for the whole law, and the particle engine moves them.

# %%
beta = 20.0
nodes, weights = weighted_grid(lambda x: -(x**2) / (2 * 1.25), -12.0, 12.0, 800)
schedule = equal_layers(0.25, beta, 10)
prior = refine(nodes, 0.25, schedule, weights=weights)
by_tokens = float(moments(prior.particles, weights=weights)[1][0, 0])
by_recursion = float(numeric.depth_flow(1.25, schedule.eta, beta)[-1])
by_flow = float(numeric.eigenvalue_flow(1.25, 0.125, beta, clock="main"))
print(f"ten layers, by {len(nodes)} weighted tokens   {by_tokens:.12f}")
print(f"            by the recursion         {by_recursion:.12f}")
print(f"the flow at the same time            {by_flow:.12f}")

# %% [markdown]
# Equal layers tend to the flow at the rate $1/L$. The leading term of the difference is known, as
# an integral of what each layer adds to $\log v$:

# %%
library.find("depth.euler_error")

# %% [markdown]
# Its sign is that of the bracket: layers stay above the flow where $\beta v \geq 1$ along the
# path,

# %%
decide_text("""
let beta, v, u : positive
assume u <= v
assume beta*u >= 1
show log((1 + beta*v)/(1 + beta*u)) - log(v/u)/2 >= 0
""")

# %% [markdown]
# and without that they may end below it. (Both are shown in the picture, red is below.)

# %%
decide_text("""
let beta, v, u : positive
assume u <= v
show log((1 + beta*v)/(1 + beta*u)) - log(v/u)/2 >= 0
""")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.7), layout="constrained")
for (s, beta, depth), color in zip(
    [(0.1, 20.0, 6), (0.1, 20.0, 12), (0.1, 20.0, 24), (0.01, 1.0, 6)],
    [BLUE, SKY, GREEN, RED],
    strict=True,
):
    steps = numeric.equal_steps(sigma2, beta, depth)
    t = np.arange(depth + 1) * sigma2 / 2 / depth
    flow = numeric.eigenvalue_flow(s + sigma2, t, beta, clock="main")
    gap = numeric.depth_flow(s + sigma2, steps, beta) - flow
    label = rf"$s = {s:g}$, $\beta = {beta:g}$: {depth} layers"
    left.plot(t, gap, "o-", ms=4, lw=1, color=color, label=label)
left.axhline(0, color="k", lw=0.8)
plain(left, xlabel="$t$", ylabel="layers less flow", title="variance, from layer to layer")
left.legend(fontsize=8)

for (s, beta), color in zip(
    [(1.0, 20.0), (0.1, 20.0), (0.01, 1.0)], [ORANGE, BLUE, RED], strict=True
):
    start = s + sigma2
    end = float(numeric.eigenvalue_flow(start, sigma2 / 2, beta, clock="main"))
    depths = np.unique(np.geomspace(numeric.minimal_depth(sigma2, beta), 1000, 25).astype(int))
    gap, leading = np.zeros((2, len(depths)))
    for k, depth in enumerate(depths):
        steps = numeric.equal_steps(sigma2, beta, int(depth))
        gap[k] = numeric.depth_flow(start, steps, beta)[-1] - end
        leading[k] = numeric.euler_error(start, end, steps[0], beta)
    side = "above" if gap[-1] > 0 else "below"
    label = rf"$s = {s:g}$, $\beta = {beta:g}$: {side}"
    right.loglog(depths, np.abs(gap), "o", ms=4, color=color, label=label)
    right.loglog(depths, np.abs(leading), color=color, lw=1)
plain(right, xlabel="layers to the nominal end", ylabel="|layers less flow|")
right.set_title("at the nominal end; lines: the leading term")
right.legend(fontsize=8)
plt.show()

# %% [markdown]
# ## 6. What it means for the posterior mean
#
# The law at the end serves as a prior: Stage 2 takes the posterior mean under it. For a Gaussian
# that is a shrinkage by $\lambda/(\lambda + \sigma^2)$ along each eigenvector, where Bayes would
# take $s/(s + \sigma^2)$. The difference is never negative: with finite $\beta$ one always shrinks
# too little.

# %%
explain_theorem(library.find("recovery.slope_error"), library).goals[0]

# %%
library.find("recovery.slope_error_bound")

# %% [markdown]
# Half of that bound would be too good:

# %%
decide_text("""
let beta, s, sigma2 : positive
define lambda = lambertw(beta*(s + sigma2)*exp(beta*s))/beta
define ell = log((s + sigma2)/s)
define slope_error = lambda/(lambda + sigma2) - s/(s + sigma2)
show slope_error <= sigma2*ell/(2*beta*(s + sigma2)^2)
""")

# %% [markdown]
# For $s = 0$ the right slope is 0, and that of the flow $\frac{W}{W + \beta\sigma^2}$ with
# $W = W(\beta\sigma^2)$: the last goal of `flow.singular_direction`. To leave the $W$ above away
# is refuted:

# %%
decide_text("""
let beta, sigma2 : positive
define w = lambertw(beta*sigma2)
show w/(w + beta*sigma2) = 1/(1 + beta*sigma2)
""")

# %% [markdown]
# On the left the slope's error, solid, and its bound, dashed, which joins it as $1/\beta$. For
# $s = 0$ the dashed line is $\log(\beta\sigma^2)/(\beta\sigma^2)$, which it joins far outside of
# the picture. On the right what it costs: the mean square error above that of Bayes is quadratic
# in the slope's error, so that it falls as $1/\beta^2$, or as $(\log\beta/\beta)^2$.

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.9), layout="constrained")
for s, color in zip([1.0, 0.1, 0.01, 0.0], [*COLORS[:3], RED], strict=True):
    error = numeric.terminal_slope_error(s, sigma2, width)
    left.loglog(width, error, color=color, label=f"$s = {s:g}$")
    if s:
        left.loglog(width, numeric.slope_error_bound(s, sigma2, width), "--", lw=1, color=color)
    else:
        x = far * sigma2
        left.loglog(far, np.log(x) / x, "--", lw=1, color=color)
    right.loglog(width, (s + sigma2) * error**2, color=color)
plain(left, xlabel=r"$\beta$", ylabel="slope less that of Bayes", ylim=(1e-6, 2))
left.legend(fontsize=8, loc="lower left")
plain(right, xlabel=r"$\beta$", ylabel="excess mean square error", ylim=(1e-12, 1))
plt.show()

# %% [markdown]
# For a whole covariance, of rank 2 in three dimensions. Beside the closed form stand 200,000
# draws: the difference of the squared errors of both estimates on the same draws, which is far
# less noisy than either error.

# %%
rng = np.random.default_rng(1)
basis = np.linalg.qr(rng.standard_normal((3, 3)))[0]
values = np.array([1.0, 0.2, 0.0])
cov = (basis * values) @ basis.T
x = rng.standard_normal((200_000, 3)) @ (basis * np.sqrt(values)).T
y = x + np.sqrt(sigma2) * rng.standard_normal(x.shape)
bayes = y @ np.linalg.solve(cov + sigma2 * np.eye(3), cov)
print(f"{'beta':>5}  {'mmse':>7}  {'excess':>9}  {'by draws':>9} +- {'error':<8}  distance of laws")
for beta in (2.0, 10.0, 50.0, 250.0):
    found = numeric.gaussian_recovery(cov, sigma2, beta)
    estimate = bayes + y @ found.gain_error
    paired = ((estimate - x) ** 2 - (bayes - x) ** 2).sum(axis=1)
    error = paired.std() / np.sqrt(len(paired))
    print(
        f"{beta:5g}  {float(found.mmse):.5f}  {float(found.excess_mse):9.2e}  "
        f"{paired.mean():9.2e} +- {error:.1e}  {float(found.distance):.4f}"
    )

# %% [markdown]
# The distance is the 2-Wasserstein distance between the law at the end and the clean one. It is
# the singular direction that keeps it large: there it falls as $\sqrt{\log\beta/\beta}$.
#
# ## To go on
#
# | | |
# |---|---|
# | `python -m proofs explain flow.terminal_limit` | that the bounds are sharp as $\beta$ grows |
# | `python -m proofs explain recovery.expansion` | $\Delta$ to third order in $1/\beta$ |
# | `python -m derive show depth.euler_error` | the leading term of finite depth |
# | [`05_in_context_empirical_bayes.ipynb`](05_in_context_empirical_bayes.ipynb) | other priors |
