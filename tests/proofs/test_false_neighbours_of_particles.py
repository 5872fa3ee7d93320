"""False neighbours of the theorems on layers of particles, on cutting, on drifts and on schedules.

As in `test_false_neighbours`: what a person writes by mistake, and an exact counterexample to it.
"""

from __future__ import annotations

import pytest

from tests.proofs.conftest import refuted_with_an_exact_witness

WEIGHTED = """
let N, d : dimension
let eta : nonnegative
let p : vector(N)
let z : vector(d) for k in 1..N
let r : index(N)
let u : vector(d)
let c : real
assume eta <= 1
assume for all k : index(N) : p[k] >= 0
assume sum(p[k], k, 1, N) = 1
assume for all k : index(N) : inner(u, z[k]) <= c
define moved = (1 - eta)*z[r] + eta*sum(p[k]*z[k], k, 1, N)
show inner(u, moved) <= c
"""
BALL = """
let N, d : dimension
let p : vector(N)
let z : vector(d) for k in 1..N
let R : nonnegative
assume for all k : index(N) : p[k] >= 0
assume sum(p[k], k, 1, N) = 1
assume for all k : index(N) : norm2(z[k]) <= R^2
define F = sum(p[k]*z[k], k, 1, N)
"""
PULLED = """
let d : dimension
let x, F : vector(d)
let R : positive
assume norm2(x) > 0
assume norm2(F) <= R^2
define r = sqrt(norm2(x))
"""
SIMILAR = """
let d : dimension
let beta, c : positive
let Q : matrix(d, d)
let b, x, y : vector(d)
assume orthogonal(Q)
define near = exp(-beta/2*norm2(x - y))
"""
PAIR = """
let d : dimension
let theta, share : real
let x, y : function(real) -> vector(d)
assume diff(x(theta), theta) = share*(y(theta) - x(theta))
assume diff(y(theta), theta) = share*(x(theta) - y(theta))
"""
CUT = """
let N : dimension
let a, b, phi, r : vector(N)
let j : index(N)
assume for all k : index(N) : a[k] >= 0
assume for all k : index(N) : b[k] >= 0
define p = sum(a[k], k, 1, N)
define q = sum(b[k], k, 1, N)
assume p > 0
"""
PAIRS = """
let N, d : dimension
let w : vector(N)
let z : vector(d) for k in 1..N
assume sum(w[k], k, 1, N) = 1
define m = sum(w[k]*z[k], k, 1, N)
define moment = sum(w[k]*norm2(z[k]), k, 1, N)
define pairs = sum(w[a]*sum(w[b]*norm2(z[a] - z[b]), b, 1, N), a, 1, N)
"""
ANNEALED = """
let b, least : positive
let t : real
let v : function(real)
assume b >= least
assume v(t) > 0
assume diff(v(t), t) = -2*v(t)/(v(t) + 1/b)
"""
ENDED = """
let s, sigma2, least, v : positive
assume v >= s
assume v + log(v)/least <= s + log(s + sigma2)/least
"""
ATOMS = """
let N, d : dimension
let k, mu, nu : positive for j in 1..N
let x : vector(d) for j in 1..N
define Z = sum(mu[j]*k[j], j, 1, N)
define Y = sum(nu[j]*k[j], j, 1, N)
define a = sum(nu[j]*k[j]*x[j], j, 1, N)/Y
define difference = sum(mu[j]*k[j]*x[j], j, 1, N)/Z - a
"""
HEAT = """
let d, s, r : positive
define g = exp(-d/2*log(4*pi*s) - r^2/(4*s))
"""
STABLE = """
let alpha, delta, C0 : positive
assume alpha < 1
define kappa = (1 + alpha)/alpha
define A2 = kappa*log(C0/delta)
"""
OSGOOD = """
let w, C0 : positive
assume w < C0
define root = sqrt(log(C0/w))
"""
NEIGHBOURS = {
    # layers, hulls and balls
    "a step longer than 1 stays in the hull": WEIGHTED.replace("assume eta <= 1\n", ""),
    "weights of any sum stay in the hull": WEIGHTED.replace("assume sum(p[k], k, 1, N) = 1\n", ""),
    "weights below 0 stay in the hull": WEIGHTED.replace(
        "assume for all k : index(N) : p[k] >= 0\n", ""
    ),
    "a layer moves tokens strictly inwards": WEIGHTED.replace("moved) <= c", "moved) < c"),
    "a mean in a smaller ball": BALL + "show norm2(F) <= R^2/2",
    "a mean on the sphere of its points": BALL + "show norm2(F) = R^2",
    "an inward drift within the ball": PULLED + "show inner(x, F - x) <= 0",
    "a drift of another rate": PULLED + "show inner(x, F - x) <= R*(R - r)/2",
    "a regression with equal weights": "let N, d : dimension\nlet w : positive for k in 1..N\n"
    "let z : vector(d) for k in 1..N\nlet m : vector(d)\n"
    "define F = sum(z[k], k, 1, N)/N\n"
    "show sum(w[k]*norm2(z[k] - F), k, 1, N) <= sum(w[k]*norm2(z[k] - m), k, 1, N)",
    # invariances
    "a scale that leaves beta": SIMILAR + "show exp(-beta/2*norm2(c*x - c*y)) = near",
    "a scale that divides beta once": SIMILAR + "show exp(-beta/c/2*norm2(c*x - c*y)) = near",
    "a change of basis that isn't orthogonal": SIMILAR.replace("assume orthogonal(Q)\n", "")
    + "show exp(-beta/2*norm2(Q*x - Q*y)) = near",
    "a translation of one token alone": SIMILAR + "show exp(-beta/2*norm2(x + b - y)) = near",
    "a pair that closes at half the rate": PAIR
    + "show diff(norm2(x(theta) - y(theta)), theta) = -2*share*norm2(x(theta) - y(theta))",
    "a pair that parts": PAIR
    + "show diff(norm2(x(theta) - y(theta)), theta) = 4*share*norm2(x(theta) - y(theta))",
    "a pair's share without the half": "let beta, r : positive\n"
    "show exp(-beta/2*r)/(1 + exp(-beta/2*r)) = 1/(1 + exp(beta*r))",
    "a pair's invariant with half of the time": "let beta, r : positive\n"
    "define rate = -4*r/(1 + exp(beta*r/2))\n"
    "show (diff(log(r), r) + exp(beta*r/2)/r)*rate + 2 = 0",
    "a mean of four tokens that stays": "let beta : positive\ndefine g = exp(-beta/2)\n"
    "show 3*(g/(3 + g)) + 1/(1 + 3*g) = 1",
    "duplicates that count once": "let u, v, g, rest : positive\nlet z : real\n"
    "show (u*g*z + v*g*z)/(rest + u*g + v*g) = (u*g*z)/(rest + u*g)",
    "an outlier that N tokens move no more than one": "let N : dimension\n"
    "let beta, D : positive\nshow 1/(1 + N*exp(-beta*D/2)) >= 1 - exp(-beta*D/2)",
    "a product of clouds whose weights add": "let N, M : dimension\n"
    "let u : positive for k in 1..N\nlet v : positive for l in 1..M\n"
    "show sum(sum(u[k]*v[l], l, 1, M), k, 1, N) = sum(u[k], k, 1, N) + sum(v[l], l, 1, M)",
    # depth and schedules
    "enough layers by half": "let beta, sigma2, L : positive\nassume L > beta*sigma2/4\n"
    "show beta*sigma2/(2*L) < 1",
    "the least depth itself": "let beta, sigma2, L : positive\nassume L >= beta*sigma2/2\n"
    "show beta*sigma2/(2*L) < 1",
    "steps that add up on the other clock": "let L : dimension\nlet beta, sigma2 : positive\n"
    "show sum(beta*sigma2/(2*L), l, 1, L) = sigma2/2",
    "a schedule whose steps add up to the time": "let L : dimension\n"
    "let beta : positive for l in 1..L\nlet h : vector(L)\nlet sigma2 : positive\n"
    "assume sum(h[l], l, 1, L) = sigma2/2\nshow sum(beta[l]*h[l], l, 1, L) = sigma2/2",
    "a layer of any step that keeps the order": "let eta, beta, v : positive\n"
    "show diff(v*(1 - eta/(1 + beta*v))^2, v) > 0",
    "a schedule that keeps the invariant of its least beta": ANNEALED
    + "show diff(v(t) + log(v(t))/least + 2*t, t) = 0",
    "a schedule that falls by at most 1": ANNEALED + "show diff(v(t), t) >= -1",
    "a schedule below its least beta": ANNEALED.replace("assume b >= least\n", "")
    + "show diff(v(t) + log(v(t))/least + 2*t, t) <= 0",
    "an end by half of the logarithm": ENDED + "show v - s <= log((s + sigma2)/s)/(2*least)",
    "one step of the score by the doubly noisy law": "let s, sigma2, beta : positive\n"
    "define pulled = beta*(s + sigma2)/(1 + beta*(s + sigma2))\n"
    "show 1 + sigma2*beta*(pulled - 1) = 1 - sigma2/(s + 2*sigma2 + 1/beta)",
    "one step of the score that tends to that of one shot": "let s, sigma2 : positive\n"
    "show limit(1 - sigma2/(s + sigma2 + 1/x), x, oo) = (s + sigma2)/(s + 2*sigma2)",
    "Stage 1 that is right at twice the nominal end": "let s, sigma2 : positive\n"
    "show sigma2*(2*s + sigma2)/(2*(s + sigma2)) = sigma2",
    # heat
    "heat in d dimensions with d + 1": HEAT
    + "show diff(g, s) = diff(g, r, 2) + (d + 1)/r*diff(g, r)",
    "heat on a line for all d": HEAT + "show diff(g, s) = diff(g, r, 2)",
    "heat backwards": HEAT + "show diff(g, s) = -(diff(g, r, 2) + (d - 1)/r*diff(g, r))",
    "a posterior mean that moves as the flow": "let v : positive\n"
    "show limit(1 + sqrt(v/(v + 2/x)), x, oo) = 1",
    "a Gaussian's first order with one trace": "let d : dimension\nlet P : matrix(d, d)\n"
    "assume positive_definite(P)\nlet X : gaussian(zeros(d, 1), inv(P))\n"
    "show E(norm2(-P*X) + X.T*(-P)*(-P*X)) = tr(P)",
    "ripples that grow to N": "let N : positive\nshow exp(e/2*log(N)/e) = N",
    # cutting
    "a cut without what comes for it": CUT + "show a[j]/p - (a[j] + b[j]) = -b[j]",
    "a cut of the other sign": CUT + "show a[j]/p - (a[j] + b[j]) = b[j] - q/p*a[j]",
    "a cut that moves the share p": CUT
    + "assume q > 0\nshow a[j]/p - (a[j] + b[j]) = p*(a[j]/p - b[j]/q)",
    "a cut bounded by what is outside": "let p, q, near, far : positive\nlet kept, lost : real\n"
    "assume abs(kept) <= near\nassume abs(lost) <= far\nshow q/p*kept - lost <= far",
    "a cut in a ball of half the radius": CUT
    + "let R : nonnegative\nassume for all k : index(N) : a[k]*r[k] <= a[k]*R\n"
    "show q/p*sum(a[k]*r[k], k, 1, N) <= q*R/2",
    "a cut at any place that lowers the moment": "let p, q, near, far : positive\n"
    "assume p + q = 1\nshow near/p <= near + far",
    "the cut normal law without its mass": "let v, c : positive\ndefine p = erf(c)\n"
    "define scale = 2*v/sqrt(2*pi*v)\n"
    "show scale*exp(-c^2) - (1 - p)/p*scale*(1 - exp(-c^2)) = scale*(exp(-c^2) - (1 - p))",
    # kernels
    "a kernel's slope without the root": "let u : nonnegative\nshow u*exp(-u^2/2) <= exp(-1)",
    "a second moment of the kernel at most 1/e": "let u : nonnegative\n"
    "show u^2*exp(-u^2/2) <= exp(-1)",
    "a kernel's gradient that rises slower": "let beta : positive\nlet r : real\n"
    "show -diff(exp(-beta*r^2/2), r, 2) <= beta/2",
    "the equation of the normal law for that of Laplace": "let C, z : positive\n"
    "show C*diff(exp(-z), z) = -z*exp(-z)",
    "the equation of the normal law for that of Student": "let C : positive\nlet z : real\n"
    "show C*diff(1/(1 + z^2), z) = -z/(1 + z^2)",
    "the normal law of the inverse covariance": "let C, z : positive\n"
    "show C*diff(exp(-C*z^2/2), z) = -z*exp(-C*z^2/2)",
    "Tweedie with the precision for the covariance": "let N : dimension\nlet P : positive\n"
    "let w : positive for k in 1..N\nlet z : real for k in 1..N\nlet y : real\n"
    "define density = sum(w[k]*exp(-P*(y - z[k])^2/2), k, 1, N)\n"
    "define mean = sum(w[k]*exp(-P*(y - z[k])^2/2)*z[k], k, 1, N)/density\n"
    "show mean = y + P*diff(log(density), y)",
    # drifts
    "a difference of velocities by that of gradients": "let f, g : positive\n"
    "let Df, Dg : real\nshow Df/f - Dg/g = (Df - Dg)/f",
    "a velocity's slope without its square": "let u : function(real)\nlet x : real\n"
    "assume u(x) > 0\nshow diff(diff(u(x), x)/u(x), x) = diff(u(x), x, 2)/u(x)",
    "posterior means over the other density": ATOMS
    + "show difference = sum((mu[j] - nu[j])*k[j]*(x[j] - a), j, 1, N)/Y",
    "posterior means around 0": ATOMS
    + "show difference = sum((mu[j] - nu[j])*k[j]*x[j], j, 1, N)/Z",
    "an integrand's slope without the kernel's own": "let u : nonnegative\n"
    "show exp(-u^2/2)*(1 + u^2) <= 1",
    "a velocity's slope by beta*R^2 alone": "let beta, R2, variance : nonnegative\n"
    "assume variance <= R2\nshow abs(beta*variance - 1) <= beta*R2",
    "a kernel's floor by the radius for the diameter": "let beta, R : nonnegative\n"
    "let x, y : real\nassume x^2 <= R^2\nassume y^2 <= R^2\n"
    "show exp(-beta/2*(x - y)^2) >= exp(-beta*R^2)",
    "further tokens weigh more": "let N : dimension\nlet x : vector(N)\n"
    "show N*sum(exp(x[k])*x[k], k, 1, N) <= sum(exp(x[k]), k, 1, N)*sum(x[k], k, 1, N)",
    "pairs that differ by the variance once": PAIRS + "show pairs = moment - norm2(m)",
    "pairs around 0": PAIRS + "show pairs = 2*moment",
    "pairs below the second moment": PAIRS + "show pairs <= moment",
    "a drift at most the spread around the mean": BALL
    + "let x : vector(d)\nshow norm2(F - x) <= sum(p[k]*norm2(z[k] - F), k, 1, N)",
    # uniqueness
    "exponents that meet at kappa = 2": STABLE + "show kappa <= 2",
    "a local bound of the tail's order": STABLE
    + "show delta*exp(alpha*A2/2) = exp((1 + alpha)/2*log(C0))*exp((1 + alpha)/2*log(delta))",
    "a tail with kappa for its half": STABLE
    + "show exp(-A2/2) = exp(-kappa*log(C0))*exp(kappa*log(delta))",
    "Osgood's primitive with one logarithm": OSGOOD
    + "show diff(log(1 + root) - 2*root, w) = 1/(w*(1 + root))",
    "Osgood's primitive of the other sign": OSGOOD
    + "show diff(2*root - 2*log(1 + root), w) = 1/(w*(1 + root))",
    "Osgood's primitive that stays bounded by the root": "let x : nonnegative\n"
    "show 2*x - 2*log(1 + x) >= x",
    "a growth at half the rate": "let L, u : real\nlet w : function(real)\n"
    "assume diff(w(u), u) <= 2*L*w(u)\nshow diff(exp(-L*u)*w(u), u) <= 0",
    "a factor as the ratio of the variances": "let beta, after, before : positive\n"
    "assume after <= before\n"
    "define time = (log(before) - log(after))/2 + beta/2*(before - after)\n"
    "show exp(-time + beta/2*(before - after)) = after/before",
    "a factor below the exponential of the time": "let beta, after, before : positive\n"
    "assume after <= before\n"
    "define time = (log(before) - log(after))/2 + beta/2*(before - after)\n"
    "show exp(-time + beta/2*(before - after)) <= exp(-time)",
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_false_neighbour_is_refuted_with_an_exact_witness(name: str) -> None:
    refuted_with_an_exact_witness(NEIGHBOURS[name])
