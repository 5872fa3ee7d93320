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
# # A tour: one formula, from its derivation to its kernel
#
# Clean data have a covariance $\Sigma_0$. We see them with noise, with covariance
# $\Gamma_0 = \Sigma_0 + \sigma^2 I$. A layer of self-attention with Gaussian weights moves every
# point $x$ a little along
#
# $$ X_\beta[f](x) = \tfrac1\beta \nabla \log (G_\beta * f)(x), \qquad G_\beta = N(0, I/\beta), $$
#
# where $f$ is the law of the points. For $f = N(m, \Gamma)$ this is
# $-(I + \beta\Gamma)^{-1}(x - m)$. The velocity is affine, so a Gaussian stays Gaussian, and its
# covariance solves
#
# $$ \dot\Gamma = -2\,\Gamma\,(I + \beta\Gamma)^{-1}. $$
#
# The eigenvectors stay, the eigenvalues shrink. How fast, and when is the noise gone?
#
# Two clocks are in use. The equation above runs in $\theta$; the other clock is
# $t = \theta/\beta$.

# %%
import inspect

import matplotlib.pyplot as plt
import mpmath
import numpy as np
import sympy

import derive
import numeric
from numeric.kernels import flow as kernels
from proofs.attack import attack
from proofs.bridge import crosscheck
from proofs.checker.judge import Rejected, check
from proofs.checker.rules import find_rule
from proofs.explain import explain_theorem
from proofs.files import decide_text
from proofs.library import Library
from proofs.notation import IllTyped, define, dimension, inv, invertible, matrix, statement
from proofs.search import prove

# %% [markdown]
# ## 1. The derivation
#
# One eigenvalue $\lambda(\theta)$, by separation of variables. Each step is a SymPy expression,
# with the reason that allows it.

# %%
derivation = derive.find("flow.eigenvalue_appendix_clock")
derivation

# %% [markdown]
# ## 2. The theorem
#
# A derivation persuades; it proves nothing. What it found is stated anew, in a file that anyone
# can read: the solution has the right derivative, keeps its invariant and starts at $\lambda_0$.
# Lines with `#!` say where the result comes from, which kernel computes it, and at which extreme
# points the two are compared below.

# %%
library = Library()
theorem = library.find("flow.appendix_clock")
print(theorem.path.read_text())

# %%
theorem

# %% [markdown]
# ## 3. The proof
#
# A search looks for a proof and hands over a certificate. The search is believed in nothing: a
# small checker, which knows neither SymPy nor floating point numbers, goes through the
# certificate step by step. Here is the second goal, the invariant.

# %%
invariant = theorem.statements[1]
certificate = prove(invariant)
report = check(invariant, certificate)
print(f"accepted: {report.steps} steps from {len(report.rules)} rules")

# %% [markdown]
# The certificate for the invariant proves nothing else, not even the goal beside it:

# %%
try:
    check(theorem.statements[0], certificate)
except Rejected as problem:
    print("rejected:", problem)

# %% [markdown]
# Printed, a proof reads as a person would write it. Before $\log\lambda$ and $W(z)$ may be used,
# lines 1 to 9 show that they exist.

# %%
explanation = explain_theorem(theorem, library)
explanation.goals[1]

# %% [markdown]
# A rule is a statement too. The whole list is `proofs/checker/rules.thm`; this is the rule of
# line 10, which says what $W$ is.

# %%
find_rule("lambertw_solves")

# %% [markdown]
# The step from eigenvalues to matrices is a theorem of its own, for any number of dimensions: the
# affine velocity with matrix $K = -(I + \beta G)^{-1}$ moves a covariance $G$ by the right side
# of the equation, also where $G$ is singular.

# %%
explain_theorem(library.find("flow.velocity"), library)

# %% [markdown]
# A proof also tells what it did without. A careful person might ask for $\beta\lambda_0 < 700$,
# since $e^{\beta\lambda_0}$ overflows beyond. The invariant doesn't need it:

# %%
FLOW = """
let beta, lambda0 : positive
let theta : real
define z = beta*lambda0*exp(beta*lambda0 - 2*theta)
define lambda = lambertw(z)/beta
"""
decide_text(f"""{FLOW}
assume beta*lambda0 < 700
show log(lambda) + beta*lambda + 2*theta = log(lambda0) + beta*lambda0
""")

# %% [markdown]
# ## 4. False neighbours
#
# A slip of the pen is met with a counterexample. Its numbers are exact, and all hypotheses hold
# at it; where $W$ or $\exp$ occur, the sides are given in intervals that are certain to hold
# them.
#
# *A factor:* the 2 of the flow forgotten.

# %%
decide_text(f"""{FLOW}
show diff(lambda, theta) = -lambda/(1 + beta*lambda)
""")

# %% [markdown]
# *A sign:* the invariant with $-2\theta$.

# %%
decide_text(f"""{FLOW}
show log(lambda) + beta*lambda - 2*theta = log(lambda0) + beta*lambda0
""")

# %% [markdown]
# *A hypothesis dropped:* the velocity of section 3 for a matrix $G$ that is no covariance. It is
# enough that $G$ isn't symmetric, and whole numbers show it.

# %%
decide_text("""
let n : dimension
let beta : positive
let G : matrix(n, n)
assume invertible(eye(n) + beta*G)
define K = -inv(eye(n) + beta*G)
show K*G + G*K.T = -2*G*inv(eye(n) + beta*G)
""")

# %% [markdown]
# Every small change of the three goals, made by machine (signs, factors, dropped terms,
# exponents), is met with the old certificate bound to the changed statement. Most changes are
# refuted, some are true too ("equivalent"); none may be accepted with the old proof.

# %%
for goal, old in zip(theorem.statements, theorem.certificates, strict=True):
    print(attack(goal, old, library.lemmas(old)))

# %% [markdown]
# ## 5. A statement that says nothing
#
# "Ill-posed" is a verdict of its own. If $\beta$ may be 0, the formula reads $0/0$ there. The
# point is shown, and the hypothesis that repairs the statement; with it, the statement is proved.
# (The limit $\lambda_0 e^{-2\theta}$ is right for $\beta = 0$, and the kernel below has it as a
# branch.)

# %%
decide_text("""
let beta, lambda0 : nonnegative
let theta : real
define lambda = lambertw(beta*lambda0*exp(beta*lambda0 - 2*theta))/beta
show diff(lambda, theta) = -2*lambda/(1 + beta*lambda)
""")

# %% [markdown]
# ## 6. A statement in Python
#
# What a file can say can be said in Python, without any text that is parsed: names are declared,
# operators build the same trees, and shapes are checked in the line that is written. Here is the
# Woodbury identity, for matrices of any size.

# %%
n, k = dimension("n, k")
A, U = matrix("A", n, n), matrix("U", n, k)
C, V = matrix("C", k, k), matrix("V", k, n)
updated = A + U @ C @ V
woodbury = statement(
    inv(updated) == inv(A) - inv(A) @ U @ inv(inv(C) + V @ inv(A) @ U) @ V @ inv(A),
    assuming=[invertible(A), invertible(C), invertible(updated)],
)
woodbury

# %% [markdown]
# Nobody assumed that $C^{-1} + V A^{-1} U$ is invertible. It is, and that is proved first.

# %%
woodbury.decide()

# %% [markdown]
# The same with $C$ in place of $C^{-1}$ inside, as it is often remembered: false, and the nearest
# true neighbour is what that right side is the inverse of. (That $M$ is invertible no longer
# follows, so that it is assumed.)

# %%
inside = define("M", C + V @ inv(A) @ U)
statement(
    inv(updated) == inv(A) - inv(A) @ U @ inv(inside) @ V @ inv(A),
    assuming=[invertible(A), invertible(C), invertible(updated), invertible(inside)],
).decide()

# %% [markdown]
# The order of factors is no slip that numbers can show: it takes matrices.

# %%
B = matrix("B", n, n)
given = [invertible(A), invertible(B)]
statement(inv(A @ B) == inv(A) @ inv(B), assuming=given).decide()

# %% [markdown]
# What doesn't fit is refused where it is written.

# %%
try:
    A + V @ C @ U
except IllTyped as problem:
    print(problem)

# %% [markdown]
# ## 7. The kernel
#
# NumPy source, emitted from the derivation. It is not the formula as it stands:
# $e^{\beta\lambda_0}$ overflows from $\beta\lambda_0 = 710$ on, so $W(e^y)$ became the Wright
# function $\omega(y)$, with a branch for the limit $\beta \to 0$. And $\beta\lambda_0 - 2\theta$
# may lose its leading digits, so that the exponent keeps its rounding error as a second number.

# %%
kernel = kernels.eigenvalue_appendix_clock
print(inspect.getsource(kernel))

# %% [markdown]
# The branch at work: $\beta = 0$, where the formula reads $0/0$, beside $\lambda_0 e^{-2\theta}$.

# %%
print(kernel(0.0, 3.0, 2.0), 3 * np.exp(-4))

# %% [markdown]
# ## 8. Three ways to the same number
#
# On random and extreme instances the kernel is compared with the theorem's own side, which is
# evaluated in intervals. The error is relative, in units of which float64 has about
# $2\cdot10^{-16}$.

# %%
found = crosscheck(theorem)
print("derivation against theorem:", found.derivation)
print("instances:", found.instances)
print("digits of the exact path, at least:", found.digits)
print(f"worst relative error of the kernel: {found.worst_error:.1e}")
print("problems:", list(found.problems))

# %% [markdown]
# The same by hand: the formula with 50 digits, the kernel, and SymPy's plain `lambdify` of the
# same expression.

# %%
arguments, formula = derivation.inputs, derivation.result["eigenvalue"]
plain = sympy.lambdify(arguments, formula, ["scipy", "numpy"])
precise = np.frompyfunc(sympy.lambdify(arguments, formula, "mpmath"), 3, 1)
digits = np.frompyfunc(mpmath.mpf, 1, 1)

points = [
    (1.0, 1.0, 0.5),
    (10.0, 1.25, 1.25),
    (1.0, 1e-5, 3.0),
    (123.4, 765.4, 47250.0),
    (10.0, 100.0, 1.0),
    (1.0, 1e6, 10.0),
]
print(f"{'beta':>6} {'lambda0':>8} {'theta':>6}   {'50 digits':<24}{'kernel':<24}lambdify")
for point in points:
    with mpmath.workdps(50), np.errstate(all="ignore"):
        exact, direct = precise(*digits(point)), plain(*point).real
    shown = "{:6g} {:8g} {:6g}   ".format(*point) + f"{mpmath.nstr(exact, 17):<24}"
    print(f"{shown}{kernel(*point)!s:<24}{direct}")

# %% [markdown]
# ## 9. Pictures
#
# **Where plain code fails.** Relative errors against 50 digits, for $\beta = 0.7$. On the left
# $\theta = \beta\lambda_0/4$: `lambdify` overflows from $\beta\lambda_0 \approx 1400$ on. On the
# right $2\theta = \beta\lambda_0 + 1$: the exponent is a difference of large numbers, and its
# rounding becomes the error.

# %%
beta, scaled = 0.7, np.logspace(-3, 6, 300)
fig, panels = plt.subplots(1, 2, figsize=(10, 3.2), sharey=True, layout="constrained")
for ax, theta in zip(panels, [scaled / 4, (scaled + 1) / 2], strict=True):
    with mpmath.workdps(50), np.errstate(all="ignore"):
        exact = precise(digits(beta), digits(scaled / beta), digits(theta))
        by_lambdify = np.abs(plain(beta, scaled / beta, theta).real - exact) / exact
        by_kernel = np.abs(kernel(beta, scaled / beta, theta) - exact) / exact
    ax.loglog(scaled, by_lambdify.astype(float), "x", ms=4, color="tab:red", label="lambdify")
    ax.loglog(scaled, by_kernel.astype(float), ".", ms=4, color="tab:blue", label="emitted kernel")
    lost = scaled[~np.isfinite(by_lambdify.astype(float))]
    if lost.size:
        ax.axvspan(lost[0], lost[-1], color="tab:red", alpha=0.1, lw=0)
        ax.text(np.sqrt(lost[0] * lost[-1]), 1e-14, "lambdify: inf", ha="center", color="tab:red")
    ax.axhline(np.finfo(float).eps, color="0.5", lw=0.8)
    ax.set(xlabel=r"$\beta\lambda_0$", ylim=(1e-18, 1e-9))
panels[0].set(ylabel="relative error", title=r"$\theta = \beta\lambda_0/4$")
panels[1].set(title=r"$2\theta = \beta\lambda_0 + 1$")
panels[0].legend(loc="upper left")
plt.show()

# %% [markdown]
# **One eigenvalue, two clocks.** Clean variance $s = 1$, noise $\sigma^2 = 1/4$. In the clock $t$
# the limit $\beta \to \infty$ is the straight line $s + \sigma^2 - 2t$, which undoes the noise at
# $t = \sigma^2/2$. Every finite $\beta$ is late: dots mark the exact time
# $t^\star = \frac{\sigma^2}{2} + \frac{1}{2\beta} \ln \frac{s + \sigma^2}{s}$. In the clock
# $\theta$ the limit stands at the other end: $\beta \to 0$ gives $(s + \sigma^2)\,e^{-2\theta}$.
# On the right, how far float64 leaves the invariant of the theorem.

# %%
s, sigma2 = 1.0, 0.25
start, betas, colors = s + sigma2, [1, 5, 20, 100], plt.cm.viridis([0.85, 0.6, 0.35, 0.1])
t, theta = np.linspace(0, 0.26, 200), np.linspace(0, 2, 200)

fig, (main, appendix, kept) = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
for beta, color in zip(betas, colors, strict=True):
    value = numeric.eigenvalue_flow(start, t, beta, clock="main")
    main.plot(t, value, color=color, label=rf"$\beta = {beta}$")
    main.plot(numeric.denoising_time(s, sigma2, beta, clock="main"), s, "o", color=color)
    value = numeric.eigenvalue_flow(start, theta, beta, clock="appendix")
    appendix.semilogy(theta, value, color=color)
    drift = np.log(value) + beta * value + 2 * theta - (np.log(start) + beta * start)
    kept.plot(theta, drift / (beta * start), ".", ms=3, color=color)
main.plot(t, start - 2 * t, "k--", lw=1, label=r"$\beta \to \infty$")
appendix.semilogy(theta, start * np.exp(-2 * theta), "k:", label=r"$\beta \to 0$")
for ax in (main, appendix):
    ax.axhline(s, color="0.6", lw=0.8)
    ax.legend(fontsize=8)
main.axvline(sigma2 / 2, color="0.6", lw=0.8)
main.set(xlabel="$t$", ylabel=r"$\lambda$", title="main clock", xlim=(0, 0.26), ylim=(0.75, 1.26))
appendix.set(xlabel=r"$\theta$", title="appendix clock")
kept.set(xlabel=r"$\theta$", title=r"change of $\log\lambda + \beta\lambda + 2\theta$, relative")
plt.show()

# %% [markdown]
# **A covariance.** With several eigenvalues no single time is right: a direction with small $s$
# waits longer for its clean variance, and one with $s = 0$ forever. At $t = \sigma^2/2$ the long
# axis is nearly clean while the short one is still too wide; when the short one is right, the
# long one is too short.

# %%
axes = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
clean, sigma2, beta = np.array([1.0, 0.05]), 0.5, 10.0
cov = axes @ np.diag(clean + sigma2) @ axes.T
stars = numeric.denoising_time(clean, sigma2, beta, clock="main")
t = np.linspace(0, 0.45, 200)

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for k, color in enumerate(["tab:blue", "tab:orange"]):
    value = numeric.eigenvalue_flow(clean[k] + sigma2, t, beta, clock="main")
    left.plot(t, value, color=color, label=rf"$s = {clean[k]:g}$, $t^\star = {stars[k]:.3f}$")
    left.axhline(clean[k], color=color, lw=0.8, ls=":")
    left.plot(stars[k], clean[k], "o", color=color)
left.axvline(sigma2 / 2, color="0.6", lw=0.8)
left.set(xlabel="$t$", ylabel=r"$\lambda$", title=r"eigenvalues, $\beta = 10$, $\sigma^2 = 0.5$")
left.legend(fontsize=8)

angle = np.linspace(0, 2 * np.pi, 200)
circle = np.stack([np.cos(angle), np.sin(angle)])
for when, color in [(0.0, "0.7"), (sigma2 / 2, "tab:green"), (stars[1], "tab:purple")]:
    values, vectors = np.linalg.eigh(numeric.covariance_flow(cov, when, beta, clock="main"))
    right.plot(*(vectors * np.sqrt(values)) @ circle, color=color, label=f"$t = {when:.3f}$")
right.plot(*(axes * np.sqrt(clean)) @ circle, "k--", lw=1, label="clean")
right.set(aspect="equal", title="standard ellipses", xticks=[], yticks=[])
right.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% [markdown]
# ## To go on
#
# | | |
# |---|---|
# | `python -m proofs check flow.appendix_clock` | certificate, instances and mutants again |
# | `python -m proofs explain flow.appendix_clock` | all three proofs |
# | `python -m proofs decide FILE` | [a statement of your own](../docs/language.md) |
# | `python -m proofs rules` | the rules that a proof may cite |
# | `python -m derive show flow.denoising_time_main_clock` | the derivation of $t^\star$ |
