"""Untrusted. Logarithms: of products, powers, roots and determinants; equations by logarithms."""

from __future__ import annotations

from fractions import Fraction

from proofs.checker.algebra import Atom
from proofs.checker.definedness import ZERO
from proofs.language.infer import infer
from proofs.language.tree import Term, bound, postorder, rational, term
from proofs.search import determinants
from proofs.search.raising import factors_of
from proofs.search.workbench import ARITHMETIC, Workbench

MAX_PRIME = 1000  # factors of numbers under logarithms
LOG = term("log", bound(0, term("real_type")))
EXP = term("exp", bound(0, term("real_type")))


def expand(w: Workbench, node: Term) -> None:
    """log of a product, quotient, power or root by those of its factors; log of an exponential."""
    argument = node.args[0]
    op, args = argument.op, argument.args
    if op == "exp":
        w.schema("log_exp", x=args[0])
    elif op == "constant" and argument.data == "e":  # log exp(1)
        place = w.schema("power_of_e", x=rational(1))
        equal = term("eq", argument, term("exp", rational(1)))
        sided = None if place is None else w.sided(equal, place)
        if sided is not None:
            w.congruence(sided, LOG)
    elif op == "rational":
        _logarithm_of_number(w, Fraction(str(argument.data)))
    elif op == "prod" and args[0] is rational(1):
        w.schema("log_product_terms", n=args[1], x=term("comprehension", *args[1:]))
    elif op == "mul":
        w.schema("log_product", x=args[0], y=args[1])
    elif op == "pow":
        w.schema("log_power", x=args[0], p=args[1])
    elif op == "sqrt":
        w.schema("log_sqrt", x=args[0])
    elif op == "div":
        if args[0] is rational(1):
            w.schema("log_reciprocal", x=args[1])
        else:
            w.schema("log_product", x=args[0], y=term("div", rational(1), args[1]))
    elif op == "inv":
        w.schema("log_reciprocal", x=args[0])
    elif op == "det":
        _expand_determinant(w, argument)
    elif op == "entry" and args[0].op == "softmax":  # log s_j = x_j - log Z
        vector, index = args[0].args[0], args[1]
        n = w.size(vector)
        place = w.schema("softmax_entry", n=n, x=vector, j=index)
        if place is not None:
            total = w.facts.facts[place].relation.args[0].args[1]
            w.schema("log_product", x=argument, y=total)
            w.congruence(place, LOG)
    elif argument.op == "lambertw":  # log W = log x - W
        x = argument.args[0]
        w.schema("log_product", x=argument, y=term("exp", argument))
        place = w.schema("lambertw_solves", x=x)
        if place is not None:
            w.congruence(place, LOG)


def _logarithm_of_number(w: Workbench, value: Fraction) -> None:
    """log of a rational number by those of the primes in it."""
    if value == 1:
        w.schema("log_one")
    elif value.numerator == 1:
        w.schema("log_reciprocal", x=rational(value.denominator))
    elif value.denominator != 1:
        w.schema(
            "log_product", x=rational(value.numerator), y=rational(1 / Fraction(value.denominator))
        )
    else:
        factor = next((p for p in range(2, MAX_PRIME) if value.numerator % p == 0), None)
        if factor is not None and factor != value:
            w.schema("log_product", x=rational(factor), y=rational(value / factor))


def _expand_determinant(w: Workbench, node: Term) -> None:
    """log of a determinant by the determinants of the factors of its matrix."""
    a = node.args[0]
    op, args, n = a.op, a.args, w.size(a)
    place = None
    if infer(a, w.facts.scope).is_scalar:
        place = w.schema("det_scalar", x=a)
    elif op == "eye":
        place = w.schema("det_eye", n=n)
    elif op == "mul" and infer(args[0], w.facts.scope).is_scalar:
        place = w.schema("det_scale", n=n, A=args[1], c=args[0])
    elif op == "mul" and infer(args[0], w.facts.scope).rows == infer(args[0], w.facts.scope).cols:
        place = w.schema("det_product", n=n, A=args[0], B=args[1])
    elif op == "transpose":
        place = w.schema("det_transpose", n=n, A=args[0])
    elif op == "inv":  # log det inv(A) + log det A = 0
        w.schema("log_product", x=node, y=term("det", args[0]))
        place = w.schema("det_inverse", n=n, A=args[0])
    elif op in ("add", "sub"):
        for equal in determinants.updates(w, node):
            if determinants.cofactor_positive(w, equal) is not None:
                w.congruence(equal, LOG)
        equal = determinants.complement(w, node)
        if equal is not None:
            w.congruence(equal, LOG)
        return
    elif op == "block" and a.data == (2, 2):
        p, q, r, s = args
        sizes = {"n": w.size(p), "k": w.size(s)}
        for rule in ("det_block", "det_block_corner"):
            place = w.schema(rule, **sizes, A=p, B=q, C=r, D=s)
            if place is not None:
                w.congruence(place, LOG)
        return
    if place is not None:
        w.congruence(place, LOG)


def weight(w: Workbench, symbol: object) -> int:
    """How heavy a logarithm is: more so than those of the parts of what it is of."""
    node = w.raising.atoms.get(symbol) if isinstance(symbol, Atom) else None
    if node is None:
        return 4
    parts = postorder([node])
    inside = node.args[0]
    factors = inside.args if inside.op in ("mul", "div") else (inside,)
    # That of an exponential is heavier than the exponent.
    total = 3 + len(parts) + 200 * any(n.op == "exp" for n in factors)
    for part in parts:
        if part.op == "det":
            total += 2 * len(postorder([part])) ** 2
        elif part.op in ("deriv", "prod", "softmax"):  # heavier than the logarithms of its parts
            total += 80
    return total


# ---------------------------------------------------------------- equations


def by_logarithms(w: Workbench, goal: Term) -> int | None:
    """An equation between positive numbers, from that between their logarithms."""
    if not _is_exponential(w, goal):
        return None
    for side in goal.args:
        if w.attempt(term("gt", side, ZERO)) is None:
            return None
    left, right = (term("log", side) for side in goal.args)
    equal = w.attempt(term("eq", left, right))
    if equal is None or equal == ARITHMETIC:
        return None
    equal = w.sided(term("eq", left, right), equal)
    places = [w.schema("exp_log", x=side) for side in goal.args]
    raised = None if equal is None else w.congruence(equal, EXP)
    if raised is None or None in places:
        return None
    rows = [[None, raised, None, ""]]
    for place, sign in zip(places, (-1, 1), strict=True):
        rows.append([w.place(rational(sign)), place, None, ""])
    return w.take({"rule": "combine", "goal": w.place(goal), "terms": rows})


def _is_exponential(w: Workbench, goal: Term) -> bool:
    """Whether both sides are products of real numbers, with exponentials, roots or powers."""
    kinds = [infer(side, w.facts.scope) for side in goal.args]
    if any(not k.is_scalar or k.is_complex for k in kinds):
        return False
    factors = [f for side in goal.args for f in factors_of(side)]
    if any(f.op in ("add", "sub") for f in factors):
        return False
    return any(
        n.op in ("exp", "sqrt") or (n.op == "pow" and n.args[1].op != "rational")
        for n in postorder(factors)
    )
