"""The untrusted search for certificates: as clever as it likes, believed in nothing.

A map of its modules, by what they are about.

the course of a proof
    portfolio (from a statement to a certificate), workbench (the proof under construction),
    conditions (which tactic for which relation), citing (lemmas), instances (rules that a goal
    calls for), prune (steps that the goal leans on), raising (from polynomials back to terms)
equations
    equations, alike, clearing, components (entry by entry), quantified, properties; ideal
    (completion on words, with cofactors), commutative (Buchberger's algorithm on FLINT's
    polynomials), factoring, contexts
scalars
    scalars, elementary, angles, logarithms, lambert, lambert_bounds, nonzero, denominators
inequalities between numbers
    signs, forms, linear (exact simplex), positivstellensatz with gram and conic (sums of squares),
    casework, comparing, tangents, means, averages, termwise, extremes, general; covers (balls),
    slopes and curves (signs of derivatives); samples and trials (what is plainly false)
matrices
    invertibility, units, pseudo_inverses, projectors, blockwise, regrouping, literals, minors,
    products, entrywise, turned_traces, determinants, block_determinants, determinant_bounds, ranks,
    rank_one, rank_equations
order and definiteness
    order, definiteness, definite_blocks, definite_products, squares, quadratic, bounds,
    inverse_bounds
calculus, sums, induction
    calculus, gradients, sums, telescoping, softmaxes, induction
limits
    limits (from the parts of a function), ratios (of polynomials), squeezing (between bounds)
Gaussian vectors and L2
    gaussians, gains, moments, expectations, towers, inner_products
"""

from proofs.search.portfolio import Failure, prove, search

__all__ = ["Failure", "prove", "search"]
