"""Trusted. Rules as data: reading `rules.thm`, and instances of a rule at given terms.

A rule is a statement that holds for all values of its names. An instance puts a term for each
name: of the declared shape, real where a real matrix is declared. What else a declaration or an
`assume` demands becomes a requirement, which a proof must have established before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from proofs.checker.definedness import ZERO, is_index
from proofs.checker.facts import declared_facts
from proofs.language.errors import TypeProblem
from proofs.language.infer import Scope, infer, random_degree, size_of, type_from
from proofs.language.parser import parse_rules
from proofs.language.sizes import ONE as COLUMN
from proofs.language.sizes import size_term
from proofs.language.tree import (
    Declaration,
    Statement,
    Term,
    instantiate,
    name,
    rational,
    substitute,
    term,
)
from proofs.language.types import Kind, Type

ONE = rational(1)


@dataclass(frozen=True, slots=True)
class Instance:
    """A rule at given terms."""

    terms: tuple[Term, ...]  # what was put in, all of which must be defined
    requirements: tuple[Term, ...]
    conclusion: Term


@cache
def rule_texts() -> dict[str, str]:
    """The closed list of rules, by name, each as it is written."""
    text = (resources.files("proofs.checker") / "rules.thm").read_text(encoding="utf-8")
    blocks = text.split("\n== ")[1:]
    found = {block.partition("\n")[0].strip(): f"== {block}" for block in blocks}
    if len(found) != len(blocks):
        raise RuntimeError("two rules have the same name")
    return found


@cache
def find_rule(identifier: str) -> Statement | None:
    """A rule by its name, read when it is first asked for; None where there is none."""
    text = rule_texts().get(identifier)
    return None if text is None else parse_rules(text)[identifier]


def instance_of(rule: Statement, values: dict[str, Term], scope: Scope) -> Instance:
    """The rule with `values` in place of its names.

    A value for a `function(real)` is the function's body, with bound variable 0. It has the
    declared shape wherever the rule applies it: to the index of a sum alone, say.

    Raises:
        TypeProblem: a name without a value, or a value of the wrong shape or kind.
    """
    declared = [n for d in rule.declarations for n in d.names]
    if set(declared) != set(values):
        raise TypeProblem(f"the rule has the names {', '.join(declared)}")
    functions = {n for d in rule.declarations if d.type.op == "function_type" for n in d.names}
    plain = {n: v for n, v in values.items() if n not in functions}
    if any(v.free for v in plain.values()):
        raise TypeProblem("a value has a loose bound variable")
    # All names are replaced at once, so that a value's own names are never taken for the rule's:
    # a function first becomes a name that no statement can declare, then its body.
    put = plain | {f: name(f"\0{f}") for f in functions}
    bodies = {
        f"\0{f}": (values[f], type_from(substitute(d.type.args[0], put), scope))
        for d in rule.declarations
        if d.type.op == "function_type"
        for f in d.names
    }
    if any(body.free > 1 for body, _ in bodies.values()):
        raise TypeProblem("the body of a function has a loose bound variable")

    def fill(node: Term) -> Term:
        return _apply_functions(substitute(node, put), bodies, scope)

    requirements: list[Term] = []
    laws: list[tuple[Term, ...]] = []
    for declaration in rule.declarations:
        type_ = fill(declaration.type)
        for n in declaration.names:
            if n in functions:
                continue
            if type_.op == "gaussian_type":
                _check_gaussian(values[n], scope)
            else:
                requirements += admits(type_, values[n], scope)
        if type_.op == "gaussian_type":
            requirements += [fill(r) for r in declared_facts(declaration)]
            mine = tuple(values[n] for n in declaration.names)
            moments = [term("cov", x, y) for law in laws for x in law for y in mine]
            requirements += [term("eq", c, term("mul", ZERO, c)) for c in moments]  # independent
            laws.append(mine)
    requirements += [fill(h) for h in rule.hypotheses]
    conclusion = fill(rule.goal)
    for relation in (*requirements, conclusion):
        infer(relation, scope)
    return Instance(tuple(plain.values()), tuple(requirements), conclusion)


def admits(type_: Term, value: Term, scope: Scope) -> list[Term]:
    """What must be proved of `value` so that it may stand for a name of this type.

    Raises:
        TypeProblem: its shape or kind doesn't fit.
    """
    if type_.op == "dimension_type":
        if not size_of(value, scope).is_positive:
            raise TypeProblem("a dimension must be a size, at least 1")
        return []
    if type_.op == "sigma_algebra_type":
        if value.op != "name" or infer(value, scope).kind is not Kind.SIGMA_ALGEBRA:
            raise TypeProblem("a sigma-algebra must be a declared one")
        return []
    if type_.op == "family_type":
        if value.op != "name" or scope.types.get(str(value.data)) != type_from(type_, scope):
            raise TypeProblem("a family must be a declared one of the same type")
        return []
    got = infer(value, scope)
    if type_.op == "random_type":
        is_random = got.kind is Kind.RANDOM or _is_affine(value, scope)
        if not is_random or got.rows != size_of(type_.args[0], scope):
            raise TypeProblem(f"expected a random vector, got {got}")
        return []
    wanted = type_from(type_, scope)
    if random_degree(value, scope):
        raise TypeProblem(f"expected {wanted}, got something random")
    if (
        got.kind is not Kind.MATRIX
        or wanted.kind is not Kind.MATRIX
        or (got.rows, got.cols) != (wanted.rows, wanted.cols)
        or (got.is_complex and not wanted.is_complex)
    ):
        raise TypeProblem(f"expected {wanted}, got {got}")
    if wanted.limit is not None and not is_index(value, wanted.limit, scope):
        if got.domain not in ("integer", "dimension", "index"):
            raise TypeProblem(f"expected an index up to {wanted.limit}, got {got}")
        return [term("ge", value, ONE), term("le", value, size_term(wanted.limit))]
    if wanted.domain == "integer" and got.domain not in ("integer", "dimension", "index"):
        raise TypeProblem(f"expected an integer, got {got}")
    if wanted.domain in ("positive", "nonnegative", "nonzero"):
        placeholder = Declaration(("it",), type_)
        return [substitute(r, {"it": value}) for r in declared_facts(placeholder)]
    return []


def _is_affine(value: Term, scope: Scope) -> bool:
    """Whether a term is an affine image of Gaussian names, so a real column of second order."""
    got = infer(value, scope)
    is_column = got.kind is Kind.MATRIX and got.cols == COLUMN and not got.is_complex
    return is_column and random_degree(value, scope) == 1


def _check_gaussian(value: Term, scope: Scope) -> None:
    """That a term is an affine image of Gaussian names; no others are random beside these."""
    if infer(value, scope).kind is not Kind.MATRIX or random_degree(value, scope) > 1:
        raise TypeProblem("not an affine image of Gaussian names")


def _apply_functions(root: Term, functions: dict[str, tuple[Term, Type]], scope: Scope) -> Term:
    """`root` with each `f(x)` replaced by the body of f at x, which must be of f's type there."""
    if not functions:
        return root
    done: dict[int, Term] = {}
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if id(node) in done:
            continue
        if not ready:
            stack.append((node, True))
            stack.extend((a, False) for a in node.args)
            continue
        args = tuple(done[id(a)] for a in node.args)
        if node.op == "apply" and node.args[0].data in functions:
            body, wanted = functions[str(node.args[0].data)]
            done[id(node)] = found = instantiate(body, (args[1],))
            got = infer(found, scope)
            if (got.kind, got.rows, got.cols) != (Kind.MATRIX, wanted.rows, wanted.cols) or (
                got.is_complex and not wanted.is_complex
            ):
                raise TypeProblem(f"expected a function with values {wanted}, got {got}")
        else:
            done[id(node)] = node if args == node.args else term(node.op, *args, data=node.data)
    return done[id(root)]
