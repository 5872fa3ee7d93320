"""Random steps: whatever the judge takes down is defined, and true, at models of the hypotheses.

The steps are not noise but near misses: rules at random values of the wanted shapes, equations
combined, put into contexts and turned over, identities with a slip or none. What the judge makes of
each is its own affair; what it accepts is held against the evaluator.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from proofs.checker.judge import Judge, Rejected
from proofs.checker.rules import find_rule, rule_texts
from proofs.confirm import Witnesses
from proofs.evaluate import Truth, Undefined
from proofs.language.effort import TooLarge, limited
from proofs.language.errors import StatementError
from proofs.language.infer import Scope, infer, polynomial
from proofs.language.parser import parse
from proofs.language.show import brief
from proofs.language.tree import (
    Declaration,
    Statement,
    Term,
    bound,
    name,
    rational,
    substitute,
    term,
)
from proofs.mutants import variants
from proofs.tampering import MODES
from tests.proofs.checker import trees
from tests.proofs.checker.trees import ONE, REAL, SIZES, TWO

SEEDS = st.integers(0, 2**48)
STEPS = 30
WORLDS = {
    "algebra": trees.NAMES
    + """
    assume invertible(A)
    assume positive_definite(D)
    assume x > 0
    assume y != 0
    assume z != 0
    assume full_column_rank(B)
    show x = x""",
    "random": trees.L2_NAMES + "assume F subset G\nshow x = x",
    "gaussian": trees.GAUSSIAN_NAMES.replace(
        "let (U", "assume positive_definite(S)\nassume x > 0\nlet (U"
    )
    + "show x = x",
}


@cache
def world(kind: str) -> tuple[Statement, Witnesses]:
    statement = parse(WORLDS[kind]).statements[0]
    witnesses = Witnesses(statement, 5)
    assert len(witnesses.models) >= 3
    return statement, witnesses


class Prover:
    """Tries random steps on one judge."""

    def __init__(self, kind: str, seed: int) -> None:
        self.kind = kind
        self.statement, self.witnesses = world(kind)
        self.draw = random.Random(seed)
        self.grow = trees.Trees(self.draw.randrange(10**9))
        self.judge = Judge(self.statement, {})
        self.facts = self.judge.facts
        self.scope: Scope = self.facts.scope
        self.accepted: Counter[str] = Counter()
        for index in range(len(self.statement.hypotheses)):
            assert self.attempt({"rule": "hypothesis", "index": index})
        for declaration in self.statement.declarations:
            for n in declaration.names:
                for fact in range(3):
                    self.attempt({"rule": "declared", "name": n, "fact": fact})

    def at(self, node: Term) -> int:
        self.judge.nodes.append(node)
        return len(self.judge.nodes) - 1

    def attempt(self, step: dict[str, object]) -> bool:
        try:
            self.judge.step(step, self.facts, 0)
        except Rejected:
            return False
        self.accepted[str(step["rule"])] += 1
        return True

    # ------------------------------------------------------------ values

    def size(self, node: Term) -> Term | None:
        """The same size as one of those that the trees know."""
        wanted = polynomial(node, self.scope.dimensions)
        known = (s for s in SIZES if polynomial(s, self.scope.dimensions) == wanted)
        return next(known, None)

    def matrix(self, rows: Term, cols: Term, depth: int, env: tuple[Term, ...] = ()) -> Term:
        if self.kind == "algebra":
            return self.grow.matrix(rows, cols, depth, env)
        return self.grow.matrix(rows, cols, 0, env) if rows is not cols else term("eye", rows)

    def value(self, type_: Term) -> Term | None:
        """A term that may stand for a name of this type."""
        depth = self.draw.choice((0, 0, 1, 1, 2))
        op = type_.op
        if op in ("matrix_type", "complex_matrix_type", "random_type"):
            sizes = [self.size(a) for a in type_.args]
            if None in sizes:
                return None
            if op == "random_type":
                return self.grow.random_vector(sizes[0], depth, self.kind == "gaussian")  # type: ignore
            return self.matrix(*sizes, depth)  # type: ignore[arg-type]
        if op == "sigma_algebra_type":
            return name(self.draw.choice("FG"))
        if op == "function_type":
            member = type_.args[0]
            sizes = [self.size(a) for a in member.args] or [ONE, ONE]
            return None if None in sizes else self.matrix(*sizes, depth, (REAL,))  # type: ignore
        if op == "index_type":
            size = self.size(type_.args[0])
            return None if size is None else self.grow.index(size, ())
        if op == "complex_type":
            return self.matrix(ONE, ONE, depth)
        if op == "integer_type":
            return rational(self.draw.randint(-2, 3))
        return self.grow.real_scalar(depth, ()) if self.kind == "algebra" else name("x")

    def law(self, declaration: Declaration) -> list[Term]:
        return [self.grow.random_vector(trees.N, 1, True) for _ in declaration.names]

    # ------------------------------------------------------------ steps

    def rule(self) -> None:
        identifier = self.draw.choice(sorted(rule_texts()))
        rule = find_rule(identifier)
        assert rule is not None
        values: dict[str, Term] = {}
        for declaration in rule.declarations:
            names = declaration.names
            if declaration.type.op == "dimension_type":
                values[names[0]] = self.draw.choice(SIZES)
            elif declaration.type.op == "gaussian_type":
                values |= dict(zip(names, self.law(declaration), strict=True))
            else:
                plain = {k: v for k, v in values.items() if v.free == 0}
                found = self.value(substitute(declaration.type, plain))
                if found is None:
                    return
                values[names[0]] = found
        by: list[int | None] = [None] * 20
        for length in range(12):
            step = {
                "rule": "schema",
                "name": identifier,
                "subst": {k: self.at(v) for k, v in values.items()},
                "by": by[:length],
            }
            if self.attempt(step):
                return

    def equations(self) -> list[int]:
        return [i for i, f in enumerate(self.facts.facts) if f.relation.op == "eq"]

    def pick(self) -> tuple[int, Term] | None:
        found = self.equations()
        if not found:
            return None
        place = self.draw.choice(found)
        return place, self.facts.facts[place].relation

    def identity(self) -> None:
        """An equation between a term and the term with some slips, by structure alone."""
        rows, cols = self.draw.choice(SIZES), self.draw.choice(SIZES)
        if self.kind == "algebra":
            left = self.grow.matrix(rows, cols, self.draw.randint(1, 3))
        else:
            left = self.grow.in_l2(self.draw.randint(1, 3), self.kind == "gaussian")
            if self.kind == "gaussian" and self.draw.random() < 0.7:
                left = term("expect", self.polynomial(2))
        right = left
        for _ in range(self.draw.randint(0, 3)):
            found = list(variants(right, self.scope))
            right = self.draw.choice(found) if found else right
        self.attempt({"rule": "combine", "goal": self.at(term("eq", left, right)), "terms": []})

    def polynomial(self, depth: int) -> Term:
        """A number that is a polynomial in Gaussian vectors, maybe complex."""
        size = self.draw.choice((trees.N, trees.K))
        v, w = (self.grow.random_vector(size, self.draw.randint(0, 1), True) for _ in range(2))
        if self.draw.random() < 0.3:
            v = term("mul", term("constant", data="i"), v)
        turned = term(self.draw.choice(("transpose", "adjoint")), v)
        makers = [
            lambda: term("norm2", v),
            lambda: term("mul", turned, w),
            lambda: term("tr", term("mul", w, turned)),
            lambda: term("entry", v, ONE),
            lambda: name("x"),
        ]
        if depth:
            makers += [
                lambda: term("mul", self.polynomial(depth - 1), self.polynomial(depth - 1)),
                lambda: term("add", self.polynomial(depth - 1), self.polynomial(depth - 1)),
                lambda: term("conj", self.polynomial(depth - 1)),
            ]
        return self.draw.choice(makers)()

    def combination(self) -> None:
        """An equation multiplied, turned over or traced, as it says or in another way."""
        picked = self.pick()
        if picked is None:
            return
        place, relation = picked
        shape = infer(relation.args[0], self.scope)
        said, meant = (self.draw.choice(MODES) for _ in range(2))
        if self.draw.random() < 0.8:
            meant = said
        factor = name("x") if shape.is_scalar or self.kind != "algebra" else self.square(shape.rows)
        sides = [self.seen(meant, side, factor) for side in relation.args]
        goal = term("eq", *sides)
        row = [self.at(factor), place, None, said]
        self.attempt({"rule": "combine", "goal": self.at(goal), "terms": [row]})

    def square(self, size: object) -> Term:
        for s in SIZES:
            if polynomial(s, self.scope.dimensions) == size:
                return self.matrix(s, s, 1)
        return name("x")

    def seen(self, mode: str, side: Term, factor: Term) -> Term:
        turn = {"T": "transpose", "C": "conj", "H": "adjoint"}.get(mode)
        inside = term("mul", factor, term(turn, side) if turn else side)
        return term("tr", inside) if mode in ("tr", "inner") else inside

    def context(self) -> None:
        picked = self.pick()
        if picked is None:
            return
        place, relation = picked
        shape = infer(relation.args[0], self.scope)
        sizes = [s for s in SIZES for d in (shape.rows, shape.cols) if self.size_is(s, d)]
        if len(sizes) < 2:
            return
        rows = next(s for s in SIZES if self.size_is(s, shape.rows))
        cols = next(s for s in SIZES if self.size_is(s, shape.cols))
        hole = bound(0, term("matrix_type", rows, cols))
        inside = self.draw.choice(
            [
                term("transpose", hole),
                term("conj", hole),
                term("pinv", hole),
                term("norm2", hole),
                term("hadamard", hole, hole),
                term("kron", hole, self.matrix(TWO, ONE, 1)),
                term("vec", hole),
                term("block", hole, hole, data=(1, 2)),
                term("mul", term("transpose", hole), hole),
                *(term(op, hole) for op in ("inv", "det", "tr", "adj") if rows is cols),
                *(term(op, hole) for op in ("exp", "abs", "sqrt") if rows is cols is ONE),
            ]
        )
        self.attempt({"rule": "congruence", "fact": place, "context": self.at(inside)})

    def size_is(self, size: Term, wanted: object) -> bool:
        return polynomial(size, self.scope.dimensions) == wanted

    def inequality(self) -> None:
        """A sum of products of known inequalities and squares; strict or not, as it comes."""
        known = [
            (i, f.relation)
            for i, f in enumerate(self.facts.facts)
            if f.relation.op in ("gt", "ge") and infer(f.relation.args[0], self.scope).is_scalar
        ]
        total, rows = rational(0), []
        for _ in range(self.draw.randint(1, 3)):
            factors = self.draw.sample(known, min(len(known), self.draw.randint(0, 2)))
            root = self.grow.real_scalar(1, ()) if self.draw.random() < 0.5 else None
            coefficient = self.draw.choice(("0", "1", "1/2", "3", "-1"))
            product = rational(1) if coefficient == "-1" else term("rational", data=coefficient)
            for _place, relation in factors:
                product = term("mul", product, term("sub", *relation.args))
            if root is not None:
                product = term("mul", product, term("mul", root, root))
            total = term("add", total, product)
            place = None if root is None else self.at(root)
            rows.append([coefficient, [i for i, _ in factors], place])
        goal = term(self.draw.choice(("gt", "ge")), total, rational(0))
        step = {"rule": "positive", "goal": self.at(goal), "terms": rows, "equations": []}
        self.attempt(step)

    def split(self) -> None:
        """A relation on each sign of a real number, from what is known there."""
        x = self.grow.real_scalar(1, ())
        square = term("ge", term("mul", x, x), rational(0))
        goal = self.draw.choice([square, square, term("gt", x, rational(0)), term("ne", x, x)])
        place = len(self.facts.facts)  # of what a branch assumes
        by_sign: dict[str, object] = {
            "rule": "positive",
            "goal": self.at(goal),
            "terms": [["1", [place, place], None]],
            "equations": [],
        }
        by_zero = {**by_sign, "terms": [], "equations": [[self.at(x), place, None, ""]]}
        branches = [[by_sign], [by_zero], [by_sign]]
        if self.draw.random() < 0.5:
            branches = [[self.draw.choice((by_sign, by_zero))] for _ in range(3)]
        self.attempt(
            {"rule": "cases", "of": self.at(x), "goal": self.at(goal), "branches": branches}
        )

    def run(self) -> None:
        steps = [self.rule] * 4 + [self.identity, self.combination, self.combination, self.context]
        if self.kind == "algebra":
            steps += [self.inequality, self.split]
        try:
            with limited(300_000):
                for _ in range(STEPS):
                    try:
                        self.draw.choice(steps)()
                    except StatementError:  # what was made is no term of the language
                        continue
        except TooLarge:
            pass

    def confirmed(self) -> int:
        """How many facts are true; none may be false, or undefined."""
        true = 0
        for fact in self.facts.facts:
            said = self.witnesses.say(fact.relation)
            assert said is not Truth.FALSE, brief(fact.relation)
            assert not isinstance(said, Undefined), (brief(fact.relation), said)
            true += said is Truth.TRUE
        return true


@given(st.sampled_from(("algebra", "algebra", "random", "gaussian")), SEEDS)
def test_what_is_accepted_is_true(kind: str, seed: int):
    prover = Prover(kind, seed)
    prover.run()
    assert prover.confirmed() > 0


def test_many_steps_are_accepted():
    """Else nothing is tried."""
    total: Counter[str] = Counter()
    for kind in WORLDS:
        for seed in range(10):
            prover = Prover(kind, seed)
            prover.run()
            total += prover.accepted
    print(total)
    assert total["schema"] > 100
    assert all(total[rule] > 5 for rule in ("combine", "congruence", "positive", "cases"))
