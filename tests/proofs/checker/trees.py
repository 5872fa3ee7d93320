"""Random well-typed trees of a fixed vocabulary of names, and random models for these names."""

from __future__ import annotations

import random
from fractions import Fraction

from proofs.evaluate import Complex, Family, Function, Model, Outcomes, Partition
from proofs.language.infer import Scope, infer
from proofs.language.parser import parse
from proofs.language.tree import Term, bound, name, rational, term

NAMES = """
let n, k : dimension
let x, y : real
let z : complex
let A, D : matrix(n, n)
let B : matrix(n, k)
let Z : complex matrix(n, n)
let u : vector(n)
let w : complex vector(n)
let c : vector(k)
let j : index(n)
let f : function(real)
let G : function(real) -> matrix(n, n)
let mu : vector(n) for a in 1..k
"""
L2_NAMES = """
let n, k : dimension
let x : real
let A : matrix(n, n)
let B : matrix(n, k)
let u : vector(n)
let U, V : random vector(n)
let R : random vector(k)
let F, G : sigma_algebra
"""
GAUSSIAN_NAMES = """
let n, k : dimension
let x : real
let A : matrix(n, n)
let B : matrix(n, k)
let u : vector(n)
let r : vector(k)
let S : matrix(2*n + k, 2*n + k)
let (U, V, R) : gaussian((u, u, r), S)
"""
ONE, TWO = rational(1), rational(2)
N, K = name("n"), name("k")
BOTH = term("add", N, K)
REAL = term("real_type")
SIZES = (ONE, N, K, BOTH, TWO)


def declarations(text: str):
    return parse(text + "show 1 = 1\n").statements[0].declarations


SCOPE = Scope.of(declarations(NAMES))
L2_SCOPE = Scope.of(declarations(L2_NAMES))
GAUSSIAN_SCOPE = Scope.of(declarations(GAUSSIAN_NAMES))


class Trees:
    """Draws terms of a wanted shape; bound variables are those of `env`, innermost first."""

    def __init__(self, seed: int, functions: tuple[str, ...] = ()) -> None:
        self.draw = random.Random(seed)
        self.functions = functions  # of one real variable, beside those that are always there

    def one_of(self, *makers):
        return self.draw.choice(makers)()

    # ------------------------------------------------------------ matrices

    def matrix(self, rows: Term, cols: Term, depth: int, env: tuple[Term, ...] = ()) -> Term:
        """A term of a shape."""
        if rows is ONE and cols is ONE:
            return self.scalar(depth, env)
        if depth <= 0:
            return self.leaf(rows, cols, env)
        d = depth - 1

        def same() -> Term:
            return self.matrix(rows, cols, d, env)

        inner = self.draw.choice(SIZES)
        makers = [
            lambda: term(self.draw.choice(("add", "sub")), same(), same()),
            lambda: term("neg", same()),
            lambda: (
                term("mul", self.matrix(rows, inner, d, env), self.matrix(inner, cols, d, env))
                if inner is not ONE
                else term("mul", self.scalar(d, env), same())
            ),
            lambda: term("mul", same(), self.scalar(d, env)),
            lambda: term("div", same(), self.scalar(d, env)),
            lambda: term(
                self.draw.choice(("transpose", "adjoint")), self.matrix(cols, rows, d, env)
            ),
            lambda: term("conj", same()),
            lambda: term("hadamard", same(), same()),
            lambda: self.sum(rows, cols, d, env),
            lambda: self.leaf(rows, cols, env),
        ]
        if not env:
            makers.append(lambda: term("pinv", self.matrix(cols, rows, d, env)))
            makers.append(lambda: self.derivative(rows, cols, d))
        if rows is cols:
            makers += [
                lambda: term("inv", same()),
                lambda: term("pow", same(), rational(self.draw.randint(-2, 3))),
                lambda: term("diag", self.matrix(rows, ONE, d, env)),
                lambda: term("adj", same()),
            ]
        if cols is ONE:
            makers += [
                lambda: term(
                    "comprehension", rows, self.scalar(d, (term("index_type", rows), *env))
                ),
            ] * 2
        if rows is BOTH:
            makers.append(
                lambda: term(
                    "block", self.matrix(N, cols, d, env), self.matrix(K, cols, d, env), data=(2, 1)
                )
            )
        if rows is BOTH and cols is BOTH:
            makers.append(
                lambda: term(
                    "block",
                    *(self.matrix(p, q, d, env) for p in (N, K) for q in (N, K)),
                    data=(2, 2),
                )
            )
        return self.one_of(*makers)

    def sum(self, rows: Term, cols: Term, depth: int, env: tuple[Term, ...]) -> Term:
        high = self.draw.choice((N, TWO, rational(3)))
        type_ = self.draw.choice((term("integer_type"), term("index_type", high)))
        return term("sum", ONE, high, self.matrix(rows, cols, depth, (type_, *env)))

    def derivative(self, rows: Term, cols: Term, depth: int) -> Term:
        body = self.matrix(rows, cols, depth, (REAL,))
        return term(
            "deriv",
            body,
            self.draw.choice((name("x"), rational(self.draw.randint(0, 2)))),
            data=self.draw.choice((1, 1, 2)),
        )

    def leaf(self, rows: Term, cols: Term, env: tuple[Term, ...]) -> Term:
        makers = [lambda: term(self.draw.choice(("zeros", "ones")), rows, cols)]
        known = {(N, N): ("A", "D", "Z"), (N, K): ("B",), (N, ONE): ("u", "w"), (K, ONE): ("c",)}
        makers += [lambda s=s: name(s) for s in known.get((rows, cols), ())] * 2
        makers += [lambda s=s: term("transpose", name(s)) for s in known.get((cols, rows), ())]
        if rows is cols:
            makers.append(lambda: term("eye", rows))
        if cols is ONE:
            makers.append(lambda: term("unit", rows, self.index(rows, env)))
        if (rows, cols) == (N, ONE):
            makers.append(lambda: term("member", name("mu"), self.index(K, env)))
        if (rows, cols) == (N, N):
            makers.append(lambda: term("apply", name("G"), self.real(env)))
        return self.one_of(*makers)

    # ------------------------------------------------------------ scalars

    def index(self, size: Term, env: tuple[Term, ...]) -> Term:
        """An index that is surely in range."""
        makers = [lambda: ONE, lambda: size]
        if size in (N, BOTH):
            makers.append(lambda: name("j"))
        for i, type_ in enumerate(env):
            if type_.op == "index_type" and type_.args[0] is size:
                makers += [lambda i=i, t=type_: bound(i, t)] * 3
        return self.one_of(*makers)

    def real(self, env: tuple[Term, ...]) -> Term:
        makers = [
            lambda: name("x"),
            lambda: name("y"),
            lambda: rational(Fraction(self.draw.randint(-3, 3), self.draw.randint(1, 2))),
        ]
        for i, type_ in enumerate(env):
            makers += [lambda i=i, t=type_: bound(i, t)] * 2
        return self.one_of(*makers)

    def scalar(self, depth: int, env: tuple[Term, ...] = ()) -> Term:
        if depth <= 0:
            return self.one_of(
                lambda: self.real(env),
                lambda: self.real(env),
                lambda: name("z"),
                lambda: N,
                lambda: name("j"),
                lambda: term("constant", data="i"),
            )
        d = depth - 1

        def same() -> Term:
            return self.scalar(d, env)

        rows, cols = self.draw.choice(SIZES[1:]), self.draw.choice(SIZES)
        makers = [
            lambda f=f: term(f, *(self.real_scalar(d, env) for _ in range(1 + (f == "max"))))
            for f in self.functions
        ] + [
            lambda: term(self.draw.choice(("add", "sub", "mul")), same(), same()),
            lambda: term("div", same(), same()),
            lambda: term("neg", same()),
            lambda: term("conj", same()),
            lambda: term("pow", same(), rational(self.draw.randint(-2, 3))),
            lambda: term("tr", self.matrix(rows, rows, d, env)),
            lambda: term("mul", self.matrix(ONE, rows, d, env), self.matrix(rows, ONE, d, env)),
            lambda: term(
                "entry",
                self.matrix(rows, cols, d, env),
                self.index(rows, env),
                self.index(cols, env),
            ),
            lambda: term("entry", self.matrix(rows, ONE, d, env), self.index(rows, env)),
            lambda: term("norm2", self.matrix(rows, cols, d, env)),
            lambda: term("det", self.matrix(rows, rows, d, env)),
            lambda: self.sum(ONE, ONE, d, env),
            lambda: term("prod", ONE, N, self.scalar(d, (term("index_type", N), *env))),
            lambda: term("apply", name("f"), self.real(env)),
            lambda: self.of_kron(d, env),
            lambda: self.of_vec(d, env),
        ]
        if not env:
            makers.append(lambda: term("rank", self.matrix(rows, cols, d, env)))
            makers.append(lambda: self.derivative(ONE, ONE, d))
        return self.one_of(*makers)

    def of_kron(self, depth: int, env: tuple[Term, ...]) -> Term:
        """A scalar made of a Kronecker product, whose size is none of the others."""
        p, q, r, s = (self.draw.choice((ONE, N, K, TWO)) for _ in range(4))
        product = term("kron", self.matrix(p, q, depth, env), self.matrix(r, s, depth, env))
        makers = [lambda: term("norm2", product), lambda: term("entry", product, ONE, ONE)]
        if p is q and r is s:
            makers.append(lambda: term("tr", product))
        return self.one_of(*makers)

    def of_vec(self, depth: int, env: tuple[Term, ...]) -> Term:
        """A scalar made of stacked columns."""
        rows, cols = self.draw.choice(SIZES), self.draw.choice(SIZES)
        one, other = (term("vec", self.matrix(rows, cols, depth, env)) for _ in range(2))
        return self.one_of(
            lambda: term("mul", term(self.draw.choice(("transpose", "adjoint")), one), other),
            lambda: term("entry", one, ONE),
        )

    def real_scalar(self, depth: int, env: tuple[Term, ...]) -> Term:
        """A real scalar, by chance or by force."""
        for _ in range(8):
            found = self.scalar(depth, env)
            if not infer(found, SCOPE).is_complex:
                return found
        return self.real(env)

    # ------------------------------------------------------------ random vectors

    def in_l2(self, depth: int, gaussian: bool) -> Term:
        """A random vector, a mean, or a constant scalar made of random vectors."""
        return self.one_of(
            lambda: self.random_vector(N, depth, gaussian),
            lambda: self.mean(K, depth, gaussian),
            lambda: self.constant(depth, gaussian),
        )

    def random_vector(self, size: Term, depth: int, gaussian: bool) -> Term:
        if depth <= 0:
            return name(self.draw.choice("UV")) if size is N else name("R")
        d = depth - 1

        def same() -> Term:
            return self.random_vector(size, d, gaussian)

        square = "A" if size is N else None
        makers = [
            lambda: term(self.draw.choice(("add", "sub")), same(), same()),
            lambda: term("neg", same()),
            lambda: term("mul", self.constant(d, gaussian), same()),
            lambda: term("mul", same(), name("x")),
            lambda: term("div", same(), TWO),
            lambda: self.given(same(), gaussian),
            lambda: self.given(same(), gaussian),
            lambda: term("add", same(), self.mean(size, d, gaussian)),
        ]
        if square:
            makers.append(lambda: term("mul", name("A"), same()))
            makers.append(lambda: term("mul", name("B"), self.random_vector(K, d, gaussian)))
        if square and gaussian:
            wide = term("block", name("A"), name("B"), data=(1, 2))
            makers += [
                lambda: term("mul", wide, self.stack(d)),
                lambda: term("mul", name("u"), term("inner", name("u"), same())),
                lambda: term("mul", name("u"), term("inner", same(), name("u"))),
                lambda: term("mul", name("u"), term("mul", self.row(d), name("u"))),
            ]
        return self.one_of(*makers)

    def stack(self, depth: int) -> Term:
        """Two vectors on top of each other, one of which may be constant."""
        lower = self.one_of(
            lambda: self.random_vector(K, depth, True), lambda: self.mean(K, 1, True)
        )
        return term("block", self.random_vector(N, depth, True), lower, data=(2, 1))

    def row(self, depth: int) -> Term:
        """A transposed random vector, maybe times a matrix."""
        turned = term("transpose", self.random_vector(N, depth, True))
        return self.one_of(
            lambda: turned,
            lambda: term("mul", turned, name("A")),
            lambda: term("neg", term("div", turned, TWO)),
        )

    def given(self, value: Term, gaussian: bool) -> Term:
        if not gaussian:
            return term("expect_given", value, name(self.draw.choice("FG")))
        count = self.draw.randint(1, 2)
        return term(
            "expect_given",
            value,
            *(
                self.one_of(
                    lambda: name("U"),
                    lambda: name("R"),
                    lambda: term("mul", name("A"), name("V")),
                    lambda: self.stack(0),
                )
                for _ in range(count)
            ),
        )

    def mean(self, size: Term, depth: int, gaussian: bool) -> Term:
        """A constant vector."""
        if size is N and self.draw.random() < 0.5:
            return name("u")
        return term("expect", self.random_vector(size, depth, gaussian))

    def constant(self, depth: int, gaussian: bool) -> Term:
        """A constant scalar."""
        if depth <= 0:
            return name("x")
        size = self.draw.choice((N, K))
        pair = [self.random_vector(size, depth - 1, gaussian) for _ in range(2)]
        return self.one_of(
            lambda: term("l2inner", *pair),
            lambda: term("l2norm2", pair[0]),
            lambda: term("tr", term("cov", *pair)),
        )


# ---------------------------------------------------------------- models


def _number(draw: random.Random, is_complex: bool = False):
    re = Fraction(draw.randint(-3, 3), draw.choice((1, 1, 2)))
    return Complex(re, Fraction(draw.randint(-2, 2))) if is_complex else re


def _rows(draw: random.Random, rows: int, cols: int, is_complex: bool = False):
    return tuple(tuple(_number(draw, is_complex) for _ in range(cols)) for _ in range(rows))


def model(draw: random.Random) -> Model:
    n, k = draw.randint(1, 3), draw.randint(1, 3)
    return Model(
        SCOPE.declarations,
        {
            "n": n,
            "k": k,
            "x": _number(draw),
            "y": _number(draw),
            "z": _number(draw, True),
            "A": _rows(draw, n, n),
            "D": _rows(draw, n, n),
            "B": _rows(draw, n, k),
            "Z": _rows(draw, n, n, True),
            "u": _rows(draw, n, 1),
            "w": _rows(draw, n, 1, True),
            "c": _rows(draw, k, 1),
            "j": draw.randint(1, n),
            "f": Function(Fraction(0), tuple(_number(draw) for _ in range(3))),
            "G": Function(Fraction(1), tuple(_rows(draw, n, n) for _ in range(2))),
            "mu": Family({(a,): _rows(draw, n, 1) for a in range(1, k + 1)}),
        },
    )


def l2_model(draw: random.Random) -> Model:
    n, k, points = draw.randint(1, 2), draw.randint(1, 2), 4
    raw = [draw.randint(1, 3) for _ in range(points)]

    def outcomes(size: int) -> Outcomes:
        return Outcomes(tuple(_rows(draw, size, 1) for _ in range(points)))

    return Model(
        L2_SCOPE.declarations,
        {
            "n": n,
            "k": k,
            "x": _number(draw),
            "A": _rows(draw, n, n),
            "B": _rows(draw, n, k),
            "u": _rows(draw, n, 1),
            "U": outcomes(n),
            "V": outcomes(n),
            "R": outcomes(k),
            "F": Partition(tuple(draw.randint(0, 1) for _ in range(points))),
            "G": Partition(tuple(draw.randint(0, 2) for _ in range(points))),
        },
        tuple(Fraction(r, sum(raw)) for r in raw),
    )


def gaussian_model(draw: random.Random) -> Model:
    n, k = draw.randint(1, 2), draw.randint(1, 2)
    size = 2 * n + k
    width = draw.randint(1, size)
    factor = [[draw.randint(-2, 2) for _ in range(width)] for _ in range(size)]
    cov = tuple(
        tuple(Fraction(sum(a * b for a, b in zip(p, q, strict=True))) for q in factor)
        for p in factor
    )
    return Model(
        GAUSSIAN_SCOPE.declarations,
        {
            "n": n,
            "k": k,
            "x": _number(draw),
            "A": _rows(draw, n, n),
            "B": _rows(draw, n, k),
            "u": _rows(draw, n, 1),
            "r": _rows(draw, k, 1),
            "S": cov,
        },
    )
