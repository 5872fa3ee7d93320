"""Each theorem has false neighbours, and each of them is met with an exact counterexample.

A neighbour is what a person writes by mistake: a sign, a factor, a missing transpose, a dropped
hypothesis, the anchor forgotten. The witness is re-evaluated from its model alone.
"""

from __future__ import annotations

import pytest

from proofs.decide import decide
from proofs.language.parser import parse
from proofs.verdict import Verdict
from tests.proofs.conftest import refuted_with_an_exact_witness

JOINT = """
let n, k : dimension
let a : vector(n)
let b : vector(k)
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_semidefinite(block([[S, C], [C.T, R]]))
let (X, Y) : gaussian((a, b), block([[S, C], [C.T, R]]))
"""
TOKEN = """
let h, d : dimension
let M : matrix(h, d)
let mu, c : vector(d)
let t : real
let Z : gaussian(mu, t^2*eye(d))
assume t != 0
define ell = M*(Z - c)
"""
APPENDIX = """
let beta, lambda0 : positive
let theta : real
define lam = lambertw(beta*lambda0*exp(beta*lambda0 - 2*theta))/beta
"""
MAIN = """
let beta, v0 : positive
let t : real
define v = lambertw(beta*v0*exp(beta*v0 - 2*beta*t))/beta
"""
TIME = """
let beta, s, sigma2 : positive
define theta = beta*sigma2/2 + log((s + sigma2)/s)/2
"""
SIMPLEX = """
let p : dimension
let s : vector(p)
assume for all k : index(p) : s[k] > 0
assume sum(s[k], k, 1, p) < 1
define anchor = 1 - sum(s[k], k, 1, p)
"""
RISK = """
let n : dimension
let P : matrix(n, n)
let U, V : random vector(n)
let T, Z : sigma_algebra
assume symmetric(P)
assume idempotent(P)
assume T subset Z
define mZ = E(U | Z)
define mT = E(U | T)
define g = P*E(V | T)
"""
CHAIN = """
let n : dimension
let U, V : random vector(n)
let coarse, fine : sigma_algebra
assume coarse subset fine
define m_coarse = E(U | coarse)
define m_fine = E(U | fine)
"""
CAUGHT = """
let r, k : dimension
let a, p : vector(r)
let b, q : vector(k)
let x : real
assume for all c : index(r) : a[c] >= x
assume for all c : index(k) : b[c] <= x
assume for all c : index(r) : p[c] <= 1
assume for all c : index(k) : q[c] >= 0
assume sum(p[c], c, 1, r) + sum(q[c], c, 1, k) = r
define caught = sum(p[c]*a[c], c, 1, r) + sum(q[c]*b[c], c, 1, k)
show sum(a[c], c, 1, r) - caught >= 0
"""
WRONG = """
let d : dimension
let x, y, z : vector(d)
let r, q : real
let t : positive
define exact = (z - r*(1 - t)*x - (1 - r)*(1 - t)*y)/t
define wrong = (z - q*(1 - t)*x - (1 - q)*(1 - t)*y)/t
define tv = (abs(r - q) + abs((1 - r) - (1 - q)))/2
"""
MOVED = """
let N : dimension
let x, a, b : vector(N)
let low, high : real
assume for all n : index(N) : a[n] >= 0
assume for all n : index(N) : b[n] >= 0
assume for all n : index(N) : x[n] <= high
assume for all n : index(N) : x[n] >= low
define T = sum(a[n], n, 1, N)
assume sum(b[n], n, 1, N) = T
show T*(high - low) - sum((a[n] - b[n])*x[n], n, 1, N) >= 0
"""
EXAMPLE = """
define U = block([[3, 1, 1, -1, 1, -1, 1, -1], [0, 0, 0, 0, 2, 2, 0, 0]])
define g = block([[1/2, 1/2, 1/2, 1/2, 1/2, 1/2, 1/2, 1/2], [0, 0, 0, 0, 0, 0, 0, 0]])
"""

LAYER = """
let v, beta : positive
let eta : nonnegative
assume eta <= 1
"""
LIMIT = """
let s, sigma2 : positive
define ell = log((s + sigma2)/s)
"""
LAMBDA = "lambertw(x*(s + sigma2)*exp(x*s))/x"
BRANCH = """
let u : real
define eta = u/(1 + exp(-u))
"""
PAIR = """
let d : dimension
let y, mu : vector(d)
let v : nonnegative
let tau : positive
define s = v + tau
define right = exp(-norm2(y - mu)/(2*s))
define left = exp(-norm2(y + mu)/(2*s))
define mean = (right*(v*y + tau*mu)/s + left*(v*y - tau*mu)/s)/(right + left)
"""
DESCENT = """
let beta : positive
let a, p, q : real
define before = q^2/2 - log((exp(beta*a*q) + exp(-beta*a*q))/2)/beta
define after = p^2/2 - log((exp(beta*a*p) + exp(-beta*a*p))/2)/beta
define slope = q - a*tanh(beta*a*q)
"""
ENERGY = """
let beta : positive
let a, q : real
define energy = -log((exp(-beta*(q - a)^2/2) + exp(-beta*(q + a)^2/2))/2)/beta
"""

TERMINAL = """
let beta, s, sigma2 : positive
define lambda = lambertw(beta*(s + sigma2)*exp(beta*s))/beta
define ell = log((s + sigma2)/s)
define delta = lambda - s
"""
HEAD = """
let d, k : dimension
let Q, K : matrix(k, d)
let c, z, p : vector(d)
let b : vector(k)
"""
LAW = """
let h, d : dimension
let M : matrix(h, d)
let mu, nu, rho, c : vector(d)
let t : real
let Z : gaussian(mu, t^2*eye(d))
let Y : gaussian(nu, t^2*eye(d))
let X : gaussian(rho, t^2*eye(d))
assume t != 0
"""
SEEN = """
let m, q : dimension
let F : matrix(m, q)
let z, a, b : vector(q)
define seen = pinv(F)*F
define middle = (a + b)/2
"""
MIXED = """
let r, P : dimension
let B : matrix(r, P)
let mu, z : vector(P)
define misfit = B*z - B*mu
"""
MARGIN = """
let s, anchor, tau_margin : positive
let ds, danchor : real
let delta : nonnegative
assume s >= tau_margin
assume anchor >= tau_margin
assume delta < 2*tau_margin
assume abs(ds) <= delta/2
assume abs(danchor) <= delta/2
define bound = -log(1 - delta/(2*tau_margin))
"""
RECOVERY = """
let n, d : dimension
let M, N : matrix(n, d)
let z, y : vector(d)
let least : positive
"""
WEIGHTS = """
let N : dimension
let p, x : vector(N)
let lo, hi : real
assume for all j : index(N) : p[j] >= 0
assume sum(p[j], j, 1, N) = 1
assume for all j : index(N) : x[j] >= lo
assume for all j : index(N) : x[j] <= hi
define mean = sum(p[j]*x[j], j, 1, N)
define variance = sum(p[j]*x[j]^2, j, 1, N) - mean^2
"""
POINTS = """
let N, d : dimension
let beta : positive
let z : vector(d) for j in 1..N
let q : vector(d)
define logits = vector(-beta/2*norm2(q - z[j]), j, 1, N)
define slope = q - sum(softmax(logits)[j]*z[j], j, 1, N)
"""
STEP = """
define there = logits + vector(-beta*inner(h, q - z[j]), j, 1, N) - beta/2*norm2(h)*ones(N, 1)
"""
CLOUD = """
let N, d : dimension
let beta : positive
let w : positive for j in 1..N
let z : vector(d) for j in 1..N
let q : vector(d)
define density = sum(w[j]*exp(-beta/2*norm2(q - z[j])), j, 1, N)
define F = sum(w[j]*exp(-beta/2*norm2(q - z[j]))*z[j], j, 1, N)/density
"""
LINE = """
let N, d : dimension
let beta : positive
let z : vector(d) for j in 1..N
let q, h : vector(d)
let u : real
define density = sum(exp(-beta/2*norm2(q + u*h - z[j])), j, 1, N)
define along = sum(exp(-beta/2*norm2(q + u*h - z[j]))*inner(h, z[j]), j, 1, N)/density
define square = sum(exp(-beta/2*norm2(q + u*h - z[j]))*inner(h, z[j])^2, j, 1, N)/density
"""
ATOMS = """
let N, d : dimension
let sigma2 : positive
let w : positive for j in 1..N
let z : vector(d) for j in 1..N
let y : vector(d)
define density = sum(w[j]*exp(-norm2(y - z[j])/(2*sigma2)), j, 1, N)
define mean = sum(w[j]*exp(-norm2(y - z[j])/(2*sigma2))*z[j], j, 1, N)/density
"""
NOISY = """
let d : dimension
let C : matrix(d, d)
let mu, y : vector(d)
let sigma2 : positive
assume positive_semidefinite(C)
define S = C + sigma2*eye(d)
"""
EIGENBASIS = """
let d : dimension
let V : matrix(d, d)
let s : vector(d)
let y, mu : vector(d)
let sigma2 : positive
assume orthogonal(V)
assume for all c : index(d) : s[c] >= 0
define C = V*diag(s)*V.T
"""
BAYES = """
let K : dimension
let l, ell : vector(K)
let k : index(K)
"""
PARTS = """
let K, d : dimension
let r : vector(K)
let M : matrix(K, d)
let S : matrix(d, d) for k in 1..K
assume for all k : index(K) : r[k] >= 0
assume sum(r[k], k, 1, K) = 1
define average = sum(r[k]*(M.T*unit(K, k)), k, 1, K)
"""
NEIGHBOURS = {
    # Gaussian kernels and mixtures
    "Tweedie with a minus": ATOMS + "show mean = y - sigma2*grad(log(density), y)",
    "Tweedie with the deviation for the variance": ATOMS
    + "show mean = y + sqrt(sigma2)*grad(log(density), y)",
    "Tweedie's covariance with a minus": NOISY + "show C - C*inv(S)*C ="
    " sigma2*eye(d) + sigma2^2*inv(S)",
    "Tweedie's covariance with one factor of the variance": NOISY + "show C - C*inv(S)*C ="
    " sigma2*eye(d) - sigma2*inv(S)",
    "a score without the noise": NOISY
    + "assume positive_definite(C)\nshow grad(logpdf(y; mu, S), y) = -inv(C)*(y - mu)",
    "dot-product attention without the norms": CLOUD
    + "define logits = vector(-beta/2*norm2(q - z[k]), k, 1, N)\n"
    "define dots = vector(beta*inner(q, z[k]), k, 1, N)\nshow softmax(logits) = softmax(dots)",
    "the norms' bias without its half": CLOUD
    + "define logits = vector(-beta/2*norm2(q - z[k]), k, 1, N)\n"
    "define biased = vector(beta*inner(q, z[k]) - beta*norm2(z[k]), k, 1, N)\n"
    "show softmax(logits) = softmax(biased)",
    "the norms' bias with a plus": CLOUD
    + "define logits = vector(-beta/2*norm2(q - z[k]), k, 1, N)\n"
    "define biased = vector(beta*inner(q, z[k]) + beta/2*norm2(z[k]), k, 1, N)\n"
    "show softmax(logits) = softmax(biased)",
    "a score without beta": CLOUD + "show grad(log(density), q) = F - q",
    "a score of the other sign": CLOUD + "show grad(log(density), q) = beta*(q - F)",
    "a step of attention as a step of length eta": CLOUD
    + "let eta : positive\nshow (1 - eta)*q + eta*F = q + eta*grad(log(density), q)",
    "a step up the energy": CLOUD + "let eta : positive\ndefine energy = -log(density)/beta\n"
    "show (1 - eta)*q + eta*F = q + eta*grad(energy, q)",
    "the mean's Jacobian without beta": LINE + "show diff(along, u) = square - along^2",
    "the mean's Jacobian from second moments": LINE + "show diff(along, u) = beta*square",
    "curvature with a plus": LINE
    + "show diff(inner(h, q + u*h) - along, u) = norm2(h) + beta*(square - along^2)",
    "curvature without beta": LINE
    + "show diff(inner(h, q + u*h) - along, u) = norm2(h) - (square - along^2)",
    "responsibilities without the weights": BAYES
    + "show softmax(l + ell)[k] = exp(ell[k])/sum(exp(ell[j]), j, 1, K)",
    "responsibilities without the sum": BAYES + "show softmax(l + ell)[k] = exp(l[k] + ell[k])",
    "an evidence of one component": BAYES
    + "show log(sum(exp(l[j] + ell[j]), j, 1, K)) = max(l + ell)",
    "the covariance of a mixture without that of its means": PARTS
    + "show sum(r[k]*(S[k] + M.T*unit(K, k)*(M.T*unit(K, k)).T), k, 1, K) - average*average.T"
    " = sum(r[k]*S[k], k, 1, K)",
    "a gain in the eigenbasis with the noise alone": EIGENBASIS
    + "show C*inv(C + sigma2*eye(d)) = V*inv(diag(s) + sigma2*eye(d))*V.T",
    "an eigenbasis on the wrong side": EIGENBASIS
    + "show C*inv(C + sigma2*eye(d)) = V.T*diag(s)*inv(diag(s) + sigma2*eye(d))*V",
    "the error of a pair without the square of the gain": "let d : dimension\n"
    "let y, mu : vector(d)\nlet v : nonnegative\nlet tau : positive\ndefine s = v + tau\n"
    "define lean = tanh(inner(mu, y)/s)\ndefine right = (v*y + tau*mu)/s\n"
    "define left = (v*y - tau*mu)/s\ndefine mean = v/s*y + tau/s*lean*mu\n"
    "show (1 + lean)/2*norm2(right - mean) + (1 - lean)/2*norm2(left - mean)"
    " = tau*norm2(mu)/s*(1 - lean^2)",
    "the sides of a pair exchanged without the tilt": "let kappa : nonnegative\nlet x : real\n"
    "show exp(-(x - kappa)^2/2)*(1 - tanh(kappa*x)) = exp(-(x + kappa)^2/2)*(1 - tanh(kappa*x))",
    "the bound of the gap without beta": TERMINAL + "show delta <= ell",
    "the gap from below without its denominator": TERMINAL + "show s*ell <= delta",
    "the equation of the gap with the other sign": TERMINAL
    + "show beta*delta = ell + log(1 + delta/s)",
    "the slope's error without the noise": TERMINAL
    + "show lambda/(lambda + sigma2) - s/(s + sigma2) <= ell/(2*beta*(s + sigma2)^2)",
    "a singular direction without the exponential": "let beta, sigma2 : positive\n"
    "define w = lambertw(beta*sigma2)\n"
    "show w/beta/(w/beta + sigma2) = 1/(1 + w)",
    "the margin of one entry for two": MARGIN
    + "show abs(log((s + ds)/(anchor + danchor)) - log(s/anchor)) <= bound",
    "the margin of an entry from below": MARGIN + "show log(s + ds) - log(s) >= bound/2",
    "log-ratios that move together": "let s, anchor : positive\nlet ds, danchor, u : real\n"
    "assume u = 0\n"
    "show diff(log(s + u*ds) - log(anchor + u*danchor), u) = ds/s + danchor/anchor",
    "recovery at any rank": RECOVERY
    + "assume M.T*M >= least*pinv(M)*M\nshow z = y + pinv(M)*(M*(z - y))",
    "recovery with the singular value for its square": RECOVERY
    + "assume M.T*M >= least^2*eye(d)\nshow 2*least^2*norm2(z - y) <= norm2(M*(z - y))",
    "the error of a pseudo-inverse without its second part": RECOVERY
    + "assume full_column_rank(M)\nassume full_column_rank(N)\n"
    "show pinv(N) - pinv(M) = -pinv(N)*(N - M)*pinv(M)",
    "a spread under weights of any sum": WEIGHTS.replace("assume sum(p[j], j, 1, N) = 1\n", "")
    + "show variance <= (hi - lo)^2/4",
    "a spread from below": WEIGHTS + "show variance >= (mean - lo)*(hi - mean)",
    "curvature beyond the diameter": "let beta : positive\nlet variance, diameter : real\n"
    "assume variance <= diameter^2/4\nassume beta*diameter^2 <= 8\n"
    "show 1 - beta*variance >= 0",
    "log-sum-exp below its tangent": "let N : dimension\nlet x, y : vector(N)\n"
    "show logsumexp(x + y) <= logsumexp(x) + inner(softmax(x), y)",
    "a step of the energy without the square": POINTS
    + "let h : vector(d)"
    + STEP
    + "show -logsumexp(there)/beta <= -logsumexp(logits)/beta + inner(slope, h)",
    "a step along the slope sinks": POINTS
    + "define h = slope"
    + STEP
    + "show -logsumexp(there)/beta <= -logsumexp(logits)/beta - 1/2*norm2(slope)",
    # conditional covariance
    "the gain transposed": JOINT.replace("let C : matrix(n, k)", "let C : matrix(n, n)")
    .replace("R : matrix(k, k)", "R : matrix(n, n)")
    .replace("b : vector(k)", "b : vector(n)")
    + "show E(X | Y) = a + C.T*pinv(R)*(Y - b)",
    "the mean of Y not removed": JOINT + "show E(X | Y) = a + C*pinv(R)*Y",
    "the sign of the gain": JOINT + "show E(X | Y) = a - C*pinv(R)*(Y - b)",
    "the reduction added": JOINT + "show cov(X, X | Y) = S + C*pinv(R)*C.T",
    "the reduction doubled": JOINT + "show cov(X, X | Y) = S - 2*C*pinv(R)*C.T",
    "the prior covariance kept": JOINT + "show cov(X, X | Y) = S",
    "the projector on the row space": TOKEN + "show cov(Z, Z | ell) = t^2*(pinv(M)*M)",
    "t for t^2": TOKEN + "show cov(Z, Z | ell) = t*(eye(d) - pinv(M)*M)",
    "the anchor's term forgotten": TOKEN + "show E(Z | ell) = mu + pinv(M)*(ell - M*mu)",
    # covariance flow
    "the flow's factor 2 dropped": APPENDIX + "show diff(lam, theta) = -lam/(1 + beta*lam)",
    "the flow reversed": APPENDIX + "show diff(lam, theta) = 2*lam/(1 + beta*lam)",
    "the smoothing dropped": APPENDIX + "show diff(lam, theta) = -2*lam/(beta*lam)",
    "the clocks mixed": MAIN + "show diff(v, t) = -2*v/(1 + beta*v)",
    "the invariant with the wrong sign": MAIN + "show v + log(v)/beta - 2*t = v0 + log(v0)/beta",
    "the logarithm not divided by beta": MAIN + "show v + log(v) + 2*t = v0 + log(v0)",
    "the finite-beta correction dropped": TIME + "show lambertw(beta*(s + sigma2)*exp("
    "beta*(s + sigma2) - beta*sigma2))/beta = s",
    "an invariant of another slope": """
let beta : positive
let v : function(real)
let t : real
assume v(t) > 0
assume diff(v(t), t) = -2*v(t)/(v(t) + 1/beta)
show diff(v(t) + log(v(t))/beta + t, t) = 0""",
    "the matrix flow without an orthonormal basis": """
let n : dimension
let beta : positive
let t : real
let Q : matrix(n, n)
let D : function(real) -> matrix(n, n)
assume positive_semidefinite(D(t))
assume diff(D(t), t) = -2*D(t)*inv(eye(n) + beta*D(t))
show diff(Q*D(t)*Q.T, t) = -2*(Q*D(t)*Q.T)*inv(eye(n) + beta*(Q*D(t)*Q.T))""",
    # log-ratio Jacobian
    "the product over j != i": SIMPLEX
    + "show det(inv(diag(s)) + ones(p, 1)*ones(p, 1).T/anchor) = 1/prod(s[k], k, 1, p)",
    "the anchor squared": SIMPLEX
    + "show det(inv(diag(s)) + ones(p, 1)*ones(p, 1).T/anchor) = 1/(prod(s[k], k, 1, p)*anchor^2)",
    "the anchor's derivative with the wrong sign": SIMPLEX
    + "show det(inv(diag(s)) - ones(p, 1)*ones(p, 1).T/anchor) = 1/(prod(s[k], k, 1, p)*anchor)",
    "the Jacobian inverted": SIMPLEX
    + "show det(inv(diag(s)) + ones(p, 1)*ones(p, 1).T/anchor) = prod(s[k], k, 1, p)*anchor",
    "log-ratios without an anchor": """
let P : dimension
let x : vector(P)
let j, m : index(P)
show log(softmax(x)[j]) = x[j] - x[m]""",
    "log-ratios the other way round": """
let P : dimension
let x : vector(P)
let j, m : index(P)
show log(softmax(x)[m]/softmax(x)[j]) = x[j] - x[m]""",
    # four-term risk
    "a finer observation with the larger risk": CHAIN
    + "show l2norm2(U - m_fine) >= l2norm2(U - m_coarse)",
    "observations in no order": CHAIN.replace("assume coarse subset fine\n", "")
    + "show l2norm2(U - m_fine) <= l2norm2(U - m_coarse)",
    "a rise by the risk of the coarser": CHAIN
    + "show l2norm2(U - m_coarse) = l2norm2(U - m_fine) + l2norm2(m_coarse)",
    "a wrong mean that knows more": CHAIN
    + "define leaked = E(V | fine)\n"
    + "show l2norm2(U - leaked) - l2norm2(U - m_coarse) = l2norm2(m_coarse - leaked)",
    "an eigenvalue caught twice": CAUGHT.replace("assume for all c : index(r) : p[c] <= 1\n", ""),
    "eigenvalues out of order": CAUGHT.replace("b[c] <= x", "b[c] >= x"),
    "weights below 0": CAUGHT.replace("assume for all c : index(k) : q[c] >= 0\n", ""),
    "total variation without the half": WRONG.replace("/2\n", "\n")
    + "show norm2(wrong - exact) = ((1 - t)/t)^2*norm2(x - y)*tv^2",
    "noisy targets for clean ones": WRONG + "show norm2(wrong - exact) = norm2(x - y)*tv^2/t^2",
    "masses of different sums": MOVED.replace("assume sum(b[n], n, 1, N) = T\n", ""),
    "parts that are negative": MOVED.replace("assume for all n : index(N) : b[n] >= 0\n", ""),
    "half of the width": MOVED.replace("T*(high - low) -", "T*(high - low)/2 -"),
    "a term counted twice": RISK + "show l2norm2(U - g) = l2norm2(U - mZ) + 2*l2norm2(mZ - mT)"
    " + l2norm2(mT - P*mT) + l2norm2(P*mT - g)",
    "the noise dropped": RISK
    + "show l2norm2(U - g) = l2norm2(mZ - mT) + l2norm2(mT - P*mT) + l2norm2(P*mT - g)",
    "a readout that isn't a function of T": RISK.replace("g = P*E(V | T)", "g = P*V")
    + "show l2norm2(U - g) = l2norm2(U - mZ) + l2norm2(mZ - mT) + l2norm2(mT - P*mT)"
    " + l2norm2(P*mT - g)",
    "an oblique projector": RISK.replace("assume symmetric(P)\n", "")
    + "show l2norm2(U - g) = l2norm2(U - mZ) + l2norm2(mZ - mT) + l2norm2(mT - P*mT)"
    " + l2norm2(P*mT - g)",
    "T not coarser than Z": RISK.replace("assume T subset Z\n", "")
    + "show l2norm2(U - g) = l2norm2(U - mZ) + l2norm2(mZ - mT) + l2norm2(mT - P*mT)"
    " + l2norm2(P*mT - g)",
    # branches of the output
    "the branch equation with the sign of eta": BRANCH
    + "show (u - eta)*exp(u - eta) = eta*exp(eta)",
    "the branch equation for u": BRANCH + "show u*exp(u) = eta*exp(-eta)",
    "the principal branch for all logits": BRANCH + "show u = eta + lambertw(eta*exp(-eta))",
    "the principal branch without eta": BRANCH
    + "assume u - eta >= -1\nshow u = lambertw(eta*exp(-eta))",
    "the slope of the logistic function alone": BRANCH
    + "show diff(u/(1 + exp(-u)), u) = 1/(1 + exp(-u))*(1 - 1/(1 + exp(-u)))",
    "the slope with u*s": BRANCH + "define r = 1/(1 + exp(-u))\nshow diff(u*r, u) = r*(1 + u*r)",
    "a third of the wrong pair": "show -2*log(2)/(1 + exp(2*log(2))) = -log(2)/3",
    "the determinant to the power 1": """
let d : dimension
let x, m : vector(d)
let s : positive
show det(s*eye(d) + s*(1 - s)*x*m.T) = s*(1 + inner(m, x)*(1 - s))""",
    "the determinant without the slope": """
let d : dimension
let x, m : vector(d)
let s : positive
show det(s*eye(d) + s*(1 - s)*x*m.T) = s^d*(1 + inner(m, x))""",
    "the inner branch without the others": """
let u, D : real
let C : nonnegative
define eta = (D + u*exp(u))/(1 + C + exp(u))
show (u - eta)*exp(u - eta) = eta*exp(-eta)""",
    # mixtures
    "the pair's weights with twice the argument": PAIR
    + "show (right - left)/(right + left) = tanh(2*inner(mu, y)/s)",
    "the pair's mean without shrinkage": PAIR + "show mean = y + tau/s*tanh(inner(mu, y)/s)*mu",
    "the pair's variance in the argument": PAIR
    + "show mean = v/s*y + tau/s*tanh(inner(mu, y)/tau)*mu",
    "the step with the prior's mean": ENERGY + "show diff(energy, q) = q - a",
    "the step without beta": ENERGY + "show diff(energy, q) = q - a*tanh(a*q)",
    "the curvature at 0 everywhere": ENERGY + "show diff(energy, q, 2) = 1 - beta*a^2",
    "the energy below a narrower parabola": DESCENT
    + "show after <= before + slope*(p - q) + (p - q)^2/3",
    "the energy below a parabola with another slope": DESCENT
    + "show after <= before + q*(p - q) + (p - q)^2/2",
    "the energy above a parabola": DESCENT + "show after >= before + slope*(p - q) + (p - q)^2/2",
    "a curvature that is not negative for any points": "let beta : positive\nlet a, q : real\n"
    "show 1 - beta*a^2*(1 - tanh(beta*a*q)^2) >= 0",
    "a curvature that is positive at the limit": "let beta : positive\nlet a, q : real\n"
    "assume beta*a^2 <= 1\nshow 1 - beta*a^2*(1 - tanh(beta*a*q)^2) > 0",
    "the terminal slope without its sign": "let beta, s, sigma2 : positive\n"
    "define v = lambertw(beta*(s + sigma2)*exp(beta*s))/beta\n"
    "show diff(v, beta) = (v - s)/(beta + 1/v)",
    "the eigen-factor with twice its slope": "let beta, c : positive\nlet u : real\n"
    "let v : function(real)\nassume v(u) > 0\n"
    "assume diff(v(u), u) = -2*v(u)/(1 + beta*v(u))\n"
    "show diff(sqrt(v(u)), u) = -2*sqrt(v(u))/(1 + beta*v(u))",
    "a rate that is bounded by its square": "let t : real\nshow abs(2*t - 1) <= (2*t - 1)^2",
    "the interpolant without its denominator": "let t : real\n"
    "define a = ((2*t - 1)^2 + 1)/2\nshow diff(sqrt(a), t) = (2*t - 1)*sqrt(a)",
    "the slope's deficit without Delta": "let s, sigma2, Delta : positive\n"
    "show (s + Delta)/(s + Delta + sigma2) - s/(s + sigma2) = sigma2*Delta/(s + sigma2)^2",
    "the log-volume at half the rate": "let n : dimension\nlet beta : positive\nlet u : real\n"
    "let G : function(real) -> matrix(n, n)\nassume positive_definite(G(u))\n"
    "assume diff(G(u), u) = -2*G(u)*inv(eye(n) + beta*G(u))\n"
    "show diff(log(det(G(u))), u) = -tr(inv(eye(n) + beta*G(u)))",
    "a layer that forgets the width of the attention kernel": LAYER
    + "show v*(1 - eta)^2 = v*(1 - eta/(1 + beta*v))^2",
    "a layer without the square": LAYER
    + "show v*(1 - eta/(1 + beta*v)) = v*((1 - eta + beta*v)/(1 + beta*v))^2",
    "the defect of a layer with the other sign": "let v, beta, h : positive\n"
    "define g = -2/(v + 1/beta)\n"
    "show -h^2/(v + 1/beta)^2 - h^2/2*g*v*diff(g, v) = h^2*(1/beta - v)/(v + 1/beta)^3",
    "one shot with the bandwidth of the clean law": "let s, sigma2 : positive\n"
    "show (s + sigma2)/(s + 2*sigma2) = s/(s + sigma2)",
    "Stage 1 as the posterior mean": "let s, sigma2 : positive\n"
    "show sqrt(s/(s + sigma2)) = s/(s + sigma2)",
    "Stage 1 has the slope of Bayes at the nominal end": "let beta, s, sigma2 : positive\n"
    "define left = s^2/(s + sigma2)\n"
    "show log(left) + beta*left + beta*sigma2 = log(s + sigma2) + beta*(s + sigma2)",
    "the excess in the wrong order of 1/beta": TERMINAL + "show beta^2*delta <= ell",
    "the third order without its logarithm": "let beta, s, ell : positive\n"
    "define first = ell/beta\ndefine second = -ell/(s*beta^2)\n"
    "define third = ell*2/(2*s^2*beta^3)\n"
    "show third*beta^3 = -(second*beta^2/s - (first*beta)^2/(2*s^2))",
    "the cost of a slope without the signal's variance": "let s, excess, sigma2 : positive\n"
    "define slope = (s + excess)/(s + excess + sigma2)\n"
    "show (1 - slope)^2*s + slope^2*sigma2 - s*sigma2/(s + sigma2)"
    " = sigma2*(slope - s/(s + sigma2))^2",
    "the factor of a deviation as that of a variance": APPENDIX
    + "define factor = exp(-theta + beta/2*(lambda0 - lam))\nshow factor = lam/lambda0",
    "the factor without what the variance gives back": APPENDIX
    + "show diff(exp(-theta), theta) = -exp(-theta)/(1 + beta*lam)",
    "the interpolant's velocity with the clock reversed": "let t : real\n"
    "let X : gaussian(0, 1)\nlet Y : gaussian(0, 1)\n"
    "show cov(Y - X, (1 - t)*X + t*Y) = 1 - 2*t",
    "the interpolant's flow by its variance": "let t, z0 : real\n"
    "define a = ((2*t - 1)^2 + 1)/2\nshow diff(a*z0, t) = (2*t - 1)/a*(a*z0)",
    "the fastest ripple at the bandwidth itself": "let beta : positive\nlet k2 : nonnegative\n"
    "show k2*exp(-k2/(2*beta)) <= beta*exp(-1/2)",
    "a bias of the keys of one token alone": HEAD
    + "show (Q*c).T*(K*z + b) - (Q*c).T*(K*c) = (Q*c).T*K*(z - c)",
    "a map that misses the position": HEAD + "show (Q*(c + p)).T*K*(z - c) = (Q*c).T*K*(z - c)",
    "log-ratios with the spread of t": LAW + "show cov(M*(Z - c), M*(Z - c)) = t*(M*M.T)",
    "log-ratios to a hidden token as independent": LAW
    + "show cov(M*(Z - X), M*(Y - X)) = zeros(h, h)",
    "a token that the row leaves alone": LAW + "show cov(Z, Z | M*Z) = t^2*eye(d)",
    "what a row leaves open along the row": LAW + "show cov(Z, Z | M*Z) = t^2*(pinv(M)*M)",
    "a product of matrices for the entries' products": "let n, d : dimension\n"
    "let W : matrix(n, d)\nlet S : matrix(n, n)\nshow hadamard(W*W.T, S) = W*W.T*S",
    "an observation that tells all": SEEN
    + "show inner(a - b, z - middle) = inner(a - b, seen*(z - middle))",
    "log-odds without the midpoint": SEEN
    + "show (norm2(seen*(z - b)) - norm2(seen*(z - a)))/2 = inner(a - b, seen*z)",
    "a contrast outside the row space that is seen": SEEN
    + "show inner(a - b, seen*(a - b)) = norm2(a - b)",
    "a recoding that keeps all volumes": "let n, q : dimension\nlet A : matrix(n, n)\n"
    "let F : matrix(n, q)\nassume invertible(A)\nshow det((A*F)*(A*F).T) = det(F*F.T)",
    "an inverse Jacobian without the row's own product": SIMPLEX
    + "show diag(s)*(inv(diag(s)) + ones(p, 1)*ones(p, 1).T/anchor) = eye(p)",
    "a token recovered at any rank": "let n, d : dimension\nlet M : matrix(n, d)\n"
    "let z, c : vector(d)\nshow z = c + pinv(M)*(M*(z - c))",
    "total variation with half its bound": "let x, y : real\nassume y <= x\n"
    "show 1/(1 + exp(-x)) - 1/(1 + exp(-y)) <= tanh((x - y)/8)",
    "a row that is taken for a constant": "let m, n, q : dimension\nlet G : matrix(m, q)\n"
    "let D : matrix(n, q)\nlet z : vector(q)\n"
    "show pinv(block([[G], [D]]))*(block([[G], [D]])*z) = pinv(D)*D*z",
    "heads that are corrupted each by itself": MIXED
    + "show misfit.T*pinv(B*B.T)*misfit = norm2(misfit)",
    "mixtures that show all tokens": MIXED + "show misfit.T*pinv(B*B.T)*misfit = norm2(z - mu)",
    "a noise mean with masses of any sum": "let N, d : dimension\nlet r : vector(N)\n"
    "let M : matrix(N, d)\nlet z : vector(d)\n"
    "show z - M.T*r = sum(r[n]*(z - M.T*unit(N, n)), n, 1, N)",
    "a log-density without its determinant": "let n : dimension\nlet y : vector(n)\n"
    "let S : matrix(n, n)\nassume positive_definite(S)\n"
    "show logpdf(y; zeros(n, 1), S) = -(n*log(2*pi) + y.T*inv(S)*y)/2",
    "a branch that weighs by its slope in the logit alone": BRANCH
    + "define s = 1/(1 + exp(-u))\nshow diff(u/(1 + exp(-u)), u) = s*(1 - s)",
    "a small output as its own logit": "let eta : real\n"
    "assume eta*exp(-eta) > -exp(-1)\nshow eta + lambertw(eta*exp(-eta)) = eta",
    # the exact first block
    "the frozen row for the exact one": "define z = block([[2], [0]])\n"
    "define D = block([[4/7, 1/7]])\ndefine contrast = block([[1/4], [-1]])\n"
    "define middle = block([[1], [1/2]])\ndefine s = inner(D.T, D.T)\n"
    "show inner(contrast, D.T*(D*(z - middle)))/s = inner(contrast, z - middle)",
    "the reversed sign for the exact one": "define z = block([[2], [0]])\n"
    "define D = block([[4/7, 1/7]])\ndefine contrast = block([[3/8], [-1]])\n"
    "define middle = block([[9/4], [1]])\ndefine s = inner(D.T, D.T)\n"
    "show 4*inner(contrast, D.T*(D*(z - middle)))/s = 29/8",
    "heads that don't share their noise": "let H, P : dimension\nlet B : matrix(H, P)\n"
    "let t : nonzero\nlet z : gaussian(zeros(P, 1), t^2*eye(P))\n"
    "show cov(B*z, B*z) = t^2*hadamard(B*B.T, eye(H))",
    "tokens that don't share their anchor": "let h, d : dimension\nlet M : matrix(h, d)\n"
    "let t : nonzero\nlet z : gaussian(zeros(d, 1), t^2*eye(d))\n"
    "let y : gaussian(zeros(d, 1), t^2*eye(d))\nlet anchor : gaussian(zeros(d, 1), t^2*eye(d))\n"
    "show cov(M*(z - anchor), M*(y - anchor)) = zeros(h, h)",
    "a value block without its offset": "let v, d : dimension\nlet D : matrix(v, d)\n"
    "let z, p : vector(d)\nshow D*(z + p) = D*z",
    "a noise mean without the token": "let d : dimension\nlet Z, mu : random vector(d)\n"
    "let O : sigma_algebra\nlet t : nonzero\nshow E((Z - mu)/t | O) = (Z - E(mu | O))/t",
    "row and values that see what each sees alone": "let h, v, n : dimension\n"
    "let L : matrix(h, n)\nlet D : matrix(v, n)\ndefine F = block([[L], [D]])\n"
    "show pinv(F)*F = pinv(L)*L + pinv(D)*D",
    "the gain with the other Gram matrix": "let d : dimension\nlet M : matrix(d, d)\n"
    "show M.T*pinv(M.T*M) = pinv(M)",
    "the tilt without half the variance": "let s2 : positive\nlet x, m : real\n"
    "show logpdf(x; m + s2, s2) - logpdf(x; m - s2, s2) = x - m",
    "the variance of a mixture without its means": "let r, s2 : real\n"
    "show r*(s2 + (s2/2)^2) + (1 - r)*(s2 + (s2/2)^2) - (r*s2/2 - (1 - r)*s2/2)^2 = s2",
    "a recoding that is not invertible": "let k, n : dimension\nlet F : matrix(k, n)\n"
    "let T : matrix(k, k)\nshow pinv(T*F)*(T*F) = pinv(F)*F",
    "lambda tends to s + sigma2": LIMIT + f"show limit({LAMBDA}, x, oo) = s + sigma2",
    "beta*Delta tends to ell/s": LIMIT + f"show limit(x*({LAMBDA} - s), x, oo) = ell/s",
    "beta*Delta tends to ell, turned": LIMIT + f"show limit(x*({LAMBDA} - s), x, oo) = -ell",
    "Delta falls faster than 1/beta": LIMIT + f"show limit(x*({LAMBDA} - s), x, oo) = 0",
    "Delta falls as 1/beta^2": LIMIT + f"show limit(x^2*({LAMBDA} - s), x, oo) = ell",
    "the slope error stays": LIMIT
    + f"show limit({LAMBDA}/({LAMBDA} + sigma2) - s/(s + sigma2), x, oo) = sigma2/(s + sigma2)",
    "beta times the slope error without a square": LIMIT
    + f"show limit(sigma2*(x*({LAMBDA} - s))/((s + sigma2)*({LAMBDA} + sigma2)), x, oo)"
    " = sigma2*ell/(s + sigma2)",
    "a singular direction that keeps sigma2": "let sigma2 : positive\n"
    "show limit(lambertw(x*sigma2)/x, x, oo) = sigma2",
    "a singular direction at the rate 1/beta": "let sigma2 : positive\n"
    "show limit(lambertw(x*sigma2), x, oo) = log(sigma2)",
    "a singular direction whose slope is 1": "let sigma2 : positive\n"
    "show limit(lambertw(x*sigma2)/(lambertw(x*sigma2) + x*sigma2), x, oo) = 1",
    "11/4 without the noise": EXAMPLE + "show norm2(U - g)/8 = 7/4",
    "11/4 as a sum and not a mean": EXAMPLE + "show norm2(U - g) = 11/4",
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_false_neighbour_is_refuted_with_an_exact_witness(name: str) -> None:
    refuted_with_an_exact_witness(NEIGHBOURS[name])


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        (JOINT + "show E(X | Y) = a + C*inv(R)*(Y - b)", "invertible"),
        (
            SIMPLEX.replace("assume for all k : index(p) : s[k] > 0\n", "")
            + "show det(inv(diag(s)) + ones(p, 1)*ones(p, 1).T/anchor)"
            " = 1/(prod(s[k], k, 1, p)*anchor)",
            "invertible",
        ),
        (
            APPENDIX.replace("let beta, lambda0 : positive", "let beta, lambda0 : real")
            + "show diff(lam, theta) = -2*lam/(1 + beta*lam)",
            "!=",
        ),
    ],
)
def test_dropped_hypothesis_makes_the_statement_ill_posed(text: str, condition: str) -> None:
    (statement,) = parse(text).statements
    decision = decide(statement, seconds=20, seed=1, neighbour=False)
    assert decision.verdict is Verdict.ILL_POSED
    assert condition in str(decision)
