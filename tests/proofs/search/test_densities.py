"""Log-densities, logarithms and Gaussian conditioning: proved for all sizes, or refuted."""

from __future__ import annotations

import pytest

from proofs.checker.judge import check
from proofs.language.parser import parse
from proofs.language.tree import Statement
from proofs.refute import refute
from proofs.search import Failure, prove

POINT = "let n : dimension\nlet x, m, b : vector(n)\nlet S, B : matrix(n, n)\n"
DENSITY = POINT + "assume positive_definite(S)\nassume positive_definite(B)\n"
GAUSSIAN = DENSITY + "let X : gaussian(m, S)\n"
LINEAR = """
let n, k : dimension
let m, x : vector(n)
let y : vector(k)
let S : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_definite(S)
assume positive_definite(R)
"""
MODEL = LINEAR + "let X : gaussian(m, S)\nlet N : gaussian(zeros(k, 1), R)\ndefine Y = H*X + N\n"
SENSORS = """
let n, k, p : dimension
let a : vector(n)
let S : matrix(n, n)
let R : matrix(k, k)
let Q : matrix(p, p)
let H : matrix(k, n)
let F : matrix(p, n)
assume positive_definite(S)
assume positive_definite(R)
assume positive_definite(Q)
let X : gaussian(a, S)
let N : gaussian(zeros(k, 1), R)
let M : gaussian(zeros(p, 1), Q)
define Y = H*X + N
define Z = F*X + M
define P = inv(inv(S) + H.T*inv(R)*H + F.T*inv(Q)*F)
"""
BLOCKS = """
let n, k, p : dimension
let a : vector(n)
let b : vector(k)
let c : vector(p)
let S : matrix(n, n)
let C : matrix(n, k)
let D : matrix(n, p)
let R : matrix(k, k)
let T : matrix(k, p)
let Q : matrix(p, p)
define V = block([[S, C, D], [C.T, R, T], [D.T, T.T, Q]])
assume positive_semidefinite(V)
assume invertible(R)
assume invertible(Q)
"""
REGRESSION = """
let n, d : dimension
let F : matrix(n, d)
let a, s : positive
let w : gaussian(zeros(d, 1), 1/a*eye(d))
let N : gaussian(zeros(n, 1), s^2*eye(n))
define Y = F*w + N
define P = inv(a*eye(d) + F.T*F/s^2)
"""
PROCESS = """
let n, p : dimension
let K : matrix(n, n)
let C : matrix(p, n)
let M : matrix(p, p)
let s : positive
assume positive_semidefinite(block([[M, C], [C.T, K]]))
let (f, g) : gaussian((zeros(p, 1), zeros(n, 1)), block([[M, C], [C.T, K]]))
let N : gaussian(zeros(n, 1), s^2*eye(n))
"""
PAIR = """
let n, k : dimension
let x, a : vector(n)
let y, b : vector(k)
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_definite(block([[S, C], [C.T, R]]))
"""
SCALAR = "let m : real\nlet s, r, q : positive\nlet X : gaussian(m, s^2)\n"
NOISY = SCALAR + "let N : gaussian(0, r^2)\nlet M : gaussian(0, q^2)\n"
PLAIN = "let x, y : positive\nlet p : real\n"

TRUE = {
    "the density, by its covariance's determinant": DENSITY
    + "show logpdf(x; m, S) = -1/2*log(det(2*pi*S)) - 1/2*inner(x - m, inv(S)*(x - m))",
    "the isotropic density": "let n : dimension\nlet x, m : vector(n)\nlet s : positive\n"
    "show logpdf(x; m, s^2*eye(n)) = -n/2*log(2*pi) - n*log(s) - norm2(x - m)/(2*s^2)",
    "the density itself": DENSITY + "show exp(logpdf(x; m, S)) = "
    "(2*pi)^(-n/2)*det(S)^(-1/2)*exp(-1/2*inner(x - m, inv(S)*(x - m)))",
    "the density under a root": DENSITY
    + "show exp(logpdf(x; m, S)) = exp(-1/2*inner(x - m, inv(S)*(x - m)))/sqrt((2*pi)^n*det(S))",
    "the density by a Cholesky factor": "let n : dimension\nlet x, m : vector(n)\n"
    "let L : matrix(n, n)\nassume det(L) > 0\n"
    "show logpdf(x; m, L*L.T) = -n/2*log(2*pi) - log(det(L)) - 1/2*norm2(inv(L)*(x - m))",
    "change of variables": POINT + "assume positive_definite(S)\nassume det(B) > 0\n"
    "show logpdf(B*x + b; B*m + b, B*S*B.T) = logpdf(x; m, S) - log(det(B))",
    "a log-likelihood ratio is linear": DENSITY
    + "show logpdf(x; m, S) - logpdf(x; b, S) = inner(m - b, inv(S)*(x - (m + b)/2))",
    "product of two densities": DENSITY + "define C = inv(inv(S) + inv(B))\n"
    "show logpdf(x; m, S) + logpdf(x; b, B) = "
    "logpdf(m; b, S + B) + logpdf(x; C*(inv(S)*m + inv(B)*b), C)",
    "Bayes' rule": LINEAR + "define P = inv(inv(S) + H.T*inv(R)*H)\n"
    "show logpdf(y; H*x, R) + logpdf(x; m, S) = logpdf(y; H*m, H*S*H.T + R) "
    "+ logpdf(x; m + P*H.T*inv(R)*(y - H*m), P)",
    "the determinant of the evidence": LINEAR + "show log(det(H*S*H.T + R)) = "
    "log(det(R)) + log(det(S)) + log(det(inv(S) + H.T*inv(R)*H))",
    "the evidence by Woodbury": LINEAR + "define P = inv(inv(S) + H.T*inv(R)*H)\n"
    "show logpdf(y; H*m, H*S*H.T + R) = -1/2*(k*log(2*pi) + log(det(R)) "
    "+ log(det(eye(n) + S*H.T*inv(R)*H)) "
    "+ inner(y - H*m, (inv(R) - inv(R)*H*P*H.T*inv(R))*(y - H*m)))",
    "the chain rule of a joint density": PAIR
    + "show logpdf(block([[x], [y]]); block([[a], [b]]), block([[S, C], [C.T, R]])) = "
    "logpdf(y; b, R) + logpdf(x; a + C*inv(R)*(y - b), S - C*inv(R)*C.T)",
    "entropy": GAUSSIAN + "show -E(logpdf(X; m, S)) = n/2*(1 + log(2*pi)) + 1/2*log(det(S))",
    "divergence of two Gaussians": GAUSSIAN
    + "show E(logpdf(X; m, S) - logpdf(X; b, B)) = 1/2*(log(det(B)) - log(det(S)) - n "
    "+ tr(inv(B)*S) + inner(m - b, inv(B)*(m - b)))",
    "a difference of expected densities of an observation": MODEL
    + "show E(logpdf(Y; H*m, R)) - E(logpdf(Y; H*m, H*S*H.T + R)) = "
    "1/2*log(det(H*S*H.T + R)) - 1/2*log(det(R)) - 1/2*tr(inv(R)*H*S*H.T)",
    "the moment generating function": GAUSSIAN
    + "show E(exp(inner(b, X))) = exp(inner(b, m) + inner(b, S*b)/2)",
    "moments of a lognormal": SCALAR + "show E(exp(X))^2*exp(s^2) = E(exp(2*X))",
    "the posterior mean in information form": MODEL
    + "show E(X | Y) = inv(inv(S) + H.T*inv(R)*H)*(inv(S)*m + H.T*inv(R)*Y)",
    "the posterior covariance in information form": MODEL
    + "show cov(X, X | Y) = inv(inv(S) + H.T*inv(R)*H)",
    "the noise and the state, given the observation": MODEL
    + "show cov(X, N | Y) = -S*H.T*inv(H*S*H.T + R)*R",
    "an affine image given the observation": MODEL + "let A : matrix(k, n)\n"
    "show E(A*X + y | Y) = A*E(X | Y) + y",
    "a linear image's covariance given the observation": MODEL + "let A : matrix(k, n)\n"
    "show cov(A*X + y, A*X | Y) = A*(S - S*H.T*inv(H*S*H.T + R)*H*S)*A.T",
    "the smoother's gain": LINEAR + "let X : gaussian(m, S)\nlet W : gaussian(zeros(k, 1), R)\n"
    "define G = S*H.T*inv(H*S*H.T + R)\n"
    "show cov(X, X | H*X + W) = S - G*(H*S*H.T + R)*G.T",
    "regression in primal form": REGRESSION + "show E(w | Y) = P*F.T*Y/s^2",
    "regression in dual form": REGRESSION + "show E(w | Y) = F.T*inv(F*F.T + a*s^2*eye(n))*Y",
    "regression, the covariance": REGRESSION + "show cov(w, w | Y) = P",
    "a Gaussian process with noise": PROCESS + "show E(f | g + N) = C*inv(K + s^2*eye(n))*(g + N)",
    "a Gaussian process with noise, the covariance": PROCESS
    + "show cov(f, f | g + N) = M - C*inv(K + s^2*eye(n))*C.T",
    "two sensors": SENSORS
    + "show E(X | Y, Z) = a + P*(H.T*inv(R)*(Y - H*a) + F.T*inv(Q)*(Z - F*a))",
    "two sensors, the covariance": SENSORS + "show cov(X, X | Y, Z) = P",
    "two uncorrelated blocks": BLOCKS
    + "assume T = zeros(k, p)\nlet (X, Y, Z) : gaussian((a, b, c), V)\n"
    "show E(X | Y, Z) = a + C*inv(R)*(Y - b) + D*inv(Q)*(Z - c)",
    "two uncorrelated blocks, the covariance": BLOCKS
    + "assume T = zeros(k, p)\nlet (X, Y, Z) : gaussian((a, b, c), V)\n"
    "show cov(X, X | Y, Z) = S - C*inv(R)*C.T - D*inv(Q)*D.T",
    "two measurements of a number": NOISY
    + "show cov(X, X | X + N, X + M) = 1/(1/s^2 + 1/r^2 + 1/q^2)",
    "precisions add": NOISY + "show 1/cov(X, X | X + N) = 1/s^2 + 1/r^2",
    "a quotient of positive factors": "let a, p : positive\nassume a < 1\nassume p < 1\n"
    "show (1 - a)*(1 - p)/(1 - a*p) > 0",
    "a difference of fractions": PLAIN + "show x - x^2/(x + y) > 0",
    "logarithms of powers": PLAIN + "show log(x^p*sqrt(y)/x^2) = (p - 2)*log(x) + log(y)/2",
    "powers by logarithms": PLAIN + "show x^(p + 1)*y^p = x*(x*y)^p",
    "roots of products": PLAIN + "show sqrt(x^2*y) = x*sqrt(y)",
    "logarithms of numbers": "show log(12/5) = 2*log(2) + log(3) - log(5)",
    "a square of a symmetric matrix": "let n : dimension\nlet R : matrix(n, n)\n"
    "assume symmetric(R)\nassume invertible(R)\nshow positive_definite(R*R)",
}
FALSE = {
    "a density without its 2 pi": DENSITY
    + "show logpdf(x; m, S) = -1/2*log(det(S)) - 1/2*inner(x - m, inv(S)*(x - m))",
    "the determinant scaled once": DENSITY
    + "show logpdf(x; m, S) = -1/2*log(2*pi*det(S)) - 1/2*inner(x - m, inv(S)*(x - m))",
    "change of variables, the wrong sign": POINT
    + "assume positive_definite(S)\nassume det(B) > 0\n"
    "show logpdf(B*x + b; B*m + b, B*S*B.T) = logpdf(x; m, S) + log(det(B))",
    "a product without its normaliser": DENSITY + "define C = inv(inv(S) + inv(B))\n"
    "show logpdf(x; m, S) + logpdf(x; b, B) = logpdf(x; C*(inv(S)*m + inv(B)*b), C)",
    "a product with the means exchanged": DENSITY + "define C = inv(inv(S) + inv(B))\n"
    "show logpdf(x; m, S) + logpdf(x; b, B) = "
    "logpdf(m; b, S + B) + logpdf(x; C*(inv(B)*m + inv(S)*b), C)",
    "the determinant of the evidence without the prior's": LINEAR
    + "show log(det(H*S*H.T + R)) = log(det(R)) + log(det(inv(S) + H.T*inv(R)*H))",
    "entropy without its constant": GAUSSIAN
    + "show -E(logpdf(X; m, S)) = n/2*log(2*pi) + 1/2*log(det(S))",
    "divergence, turned around": GAUSSIAN
    + "show E(logpdf(X; m, S) - logpdf(X; b, B)) = E(logpdf(X; b, B) - logpdf(X; m, S))",
    "divergence with the inverse of the wrong one": GAUSSIAN
    + "show E(logpdf(X; m, S) - logpdf(X; b, B)) = 1/2*(log(det(B)) - log(det(S)) - n "
    "+ tr(inv(S)*B) + inner(m - b, inv(B)*(m - b)))",
    "the moment generating function without one half": GAUSSIAN
    + "show E(exp(inner(b, X))) = exp(inner(b, m) + inner(b, S*b))",
    "the mean of an exponential at the mean": SCALAR + "show E(exp(X)) = exp(m)",
    "the noise forgotten in the gain": MODEL + "assume invertible(H*S*H.T)\n"
    "show E(X | Y) = m + S*H.T*inv(H*S*H.T)*(Y - H*m)",
    "noise and state uncorrelated after the observation": MODEL
    + "show cov(X, N | Y) = zeros(n, k)",
    "two correlated blocks taken as uncorrelated": BLOCKS
    + "let (X, Y, Z) : gaussian((a, b, c), V)\n"
    "show E(X | Y, Z) = a + C*inv(R)*(Y - b) + D*inv(Q)*(Z - c)",
    "two correlated blocks taken as uncorrelated, the covariance": BLOCKS
    + "let (X, Y, Z) : gaussian((a, b, c), V)\n"
    "show cov(X, X | Y, Z) = S - C*inv(R)*C.T - D*inv(Q)*D.T",
    "two sensors, one forgotten": SENSORS + "show cov(X, X | Y, Z) = inv(inv(S) + H.T*inv(R)*H)",
    "the second condition forgotten": NOISY + "show cov(X, X | X + N, X + M) = cov(X, X | X + N)",
    "standard deviations in place of precisions": NOISY + "show 1/cov(X, X | X + N) = 1/s + 1/r",
    "regression, the noise forgotten": REGRESSION + "show E(w | Y) = P*F.T*Y",
    "a weak bound made strict": "let a, p : nonnegative\nassume a <= 1\nassume p < 1\n"
    "show (1 - a)*(1 - p)/(1 - a*p) > 0",
    "a fraction of the wrong sign": PLAIN + "show x - y^2/(x + y) > 0",
    "a denominator of any sign": PLAIN + "assume x != y\nshow 1/(x - y) > 0",
    "the logarithm of a square": "let x : nonzero\nshow log(x^2) = 2*log(x)",
    "the root of a square": "let x : real\nshow sqrt(x^2) = x",
    "the root of a product of negative numbers": "let x, y : nonzero\nassume x*y > 0\n"
    "show sqrt(x*y) = sqrt(x)*sqrt(y)",
    "a sum under the logarithm": PLAIN + "show log(x + y) = log(x) + log(y)",
    "a power of a sum": PLAIN + "show (x + y)^p = x^p + y^p",
    "a square of a matrix": "let n : dimension\nlet R : matrix(n, n)\nassume invertible(R)\n"
    "show positive_definite(R*R)",
    "a determinant of a sum": DENSITY + "show det(S + B) = det(S) + det(B)",
    "an update with its factors exchanged": LINEAR
    + "show det(R + H*S*H.T) = det(R)*det(eye(n) + S*H.T*inv(R)*H*S)",
}


def statement(text: str) -> Statement:
    (only,) = parse(text).statements
    return only


@pytest.mark.parametrize("name", TRUE)
def test_identity_is_proved_for_all_sizes(name: str) -> None:
    goal = statement(TRUE[name])
    certificate = prove(goal, 20)
    assert not isinstance(certificate, Failure), certificate
    check(goal, certificate)


@pytest.mark.parametrize("name", FALSE)
def test_false_neighbour_is_refuted_and_not_proved(name: str) -> None:
    goal = statement(FALSE[name])
    assert isinstance(prove(goal, 1), Failure)
    assert refute(goal, seconds=5, seed=1).witness is not None
