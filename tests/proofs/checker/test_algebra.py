"""The algebra computes with normal forms as matrices do: compared at random matrices over Q(i)."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from proofs.checker.algebra import (
    IMAGINARY,
    MAX_BITS,
    MAX_TERMS,
    MAX_WORD,
    Poly,
    TooLarge,
    atom,
    identity,
    letter,
    number,
    of_atom,
    of_letter,
    of_size,
)
from proofs.checker.lowering import _block, _injections, _unit_vector
from proofs.language.effort import limited
from proofs.language.sizes import ONE, Size
from tests.proofs.checker.arithmetic import (
    Values,
    conj,
    eye,
    gauss,
    random_matrix,
    table,
    times,
    trace,
)

N, K = Size.dimension("n"), Size.dimension("k")
SHAPES = (ONE, N, K, N + K, Size.literal(2))
Pair = tuple[Poly, np.ndarray]


class Draw:
    """Random polynomials together with the matrices that they stand for."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.sizes = {"n": self.random.randint(1, 3), "k": self.random.randint(1, 3)}
        self.values = Values(self.sizes, {}, {})

    def height(self, size: Size) -> int:
        return size.evaluate(self.sizes)

    def leaf(self, rows: Size, cols: Size) -> Pair:
        draw = self.random
        if rows == cols and draw.random() < 0.15:
            return identity(rows), eye(self.height(rows))
        if cols == ONE and rows != ONE and draw.random() < 0.3:
            place = draw.randint(1, self.height(rows))
            column = table(self.height(rows), 1, lambda i, _j: gauss(int(i == place - 1)))
            return _unit_vector(rows, number(place)), column
        is_complex = draw.random() < 0.4
        name = f"{'ABC'[draw.randrange(3)]}{rows}{cols}{'c' if is_complex else ''}"
        if rows == cols == ONE:
            kind = draw.randrange(4)
            if kind == 0:
                value = Fraction(draw.randint(-3, 3), draw.randint(1, 3))
                return number(value), np.array([[gauss(value)]], dtype=object)
            if kind == 1:
                return of_size(N), np.array([[gauss(self.sizes["n"])]], dtype=object)
            if kind == 2:
                return of_atom(IMAGINARY), table(1, 1, lambda _i, _j: self.values.atom(IMAGINARY))
            a = atom(name, is_complex=is_complex)
            self.values.atoms.setdefault(a, random_matrix(draw, 1, 1, is_complex)[0, 0])
            return of_atom(a), np.array([[self.values.atoms[a]]], dtype=object)
        x = letter(name, rows, cols, is_complex=is_complex)
        if x not in self.values.letters:
            self.values.letters[x] = random_matrix(
                draw, self.height(rows), self.height(cols), is_complex
            )
        return of_letter(x), self.values.letters[x]

    def pair(self, rows: Size, cols: Size, depth: int) -> Pair:
        """A random polynomial of a shape, and its matrix."""
        if depth == 0 or self.random.random() < 0.1:
            return self.leaf(rows, cols)
        down = depth - 1
        choice = self.random.choice(
            ["add", "sub", "mul", "mul", "mul", "T", "conj", "scalar", "tr", "block"]
        )
        if choice in ("add", "sub"):
            (p, x), (q, y) = self.pair(rows, cols, down), self.pair(rows, cols, down)
            return (p + q, x + y) if choice == "add" else (p - q, x + -y)
        if choice == "T":
            p, x = self.pair(cols, rows, down)
            return p.T, x.T
        if choice == "conj":
            p, x = self.pair(rows, cols, down)
            return p.conj, conj(x)
        if choice == "scalar":
            (p, x), (q, y) = self.pair(ONE, ONE, down), self.pair(rows, cols, down)
            return (p * q, times(x, y)) if self.random.random() < 0.5 else (q * p, times(y, x))
        if choice == "tr" and rows == cols == ONE:
            size = self.random.choice(SHAPES)
            p, x = self.pair(size, size, down)
            return p.trace(), np.array([[trace(x)]], dtype=object)
        if choice == "block" and rows == N + K:
            (p, x), (q, y) = self.pair(N, cols, down), self.pair(K, cols, down)
            return _block(2, 1, [p, q]), np.concatenate([x, y])
        inner = self.random.choice(SHAPES)
        (p, x), (q, y) = self.pair(rows, inner, down), self.pair(inner, cols, down)
        if inner == ONE or p.is_scalar or q.is_scalar:
            return p * q, times(x, y)
        return p * q, x.dot(y)


@pytest.mark.parametrize("seed", range(20))
def test_polynomials_have_the_value_of_the_matrices_they_stand_for(seed: int):
    print(f"seed {seed}")
    for k in range(12):
        draw = Draw(100 * seed + k)
        shape = draw.random.choice(SHAPES), draw.random.choice(SHAPES)
        poly, matrix = draw.pair(*shape, 4)
        assert (poly.rows, poly.cols) == shape
        assert (draw.values(poly) == matrix).all(), (seed, k, poly.terms)


def test_equal_keys_have_equal_values_and_equal_polynomials_equal_keys():
    print("seeds 0..149")
    for seed in range(150):
        draw = Draw(seed)
        seen: dict[str, np.ndarray] = {}
        for _ in range(8):
            poly, matrix = draw.pair(ONE, N, 2)
            known = seen.setdefault(poly.key, matrix)
            assert (known == matrix).all(), (seed, poly.key)


A = of_letter(letter("A", N, N))
Z = of_letter(letter("Z", N, N, is_complex=True))
X, Y = (of_letter(letter(x, N, ONE)) for x in "xy")
W = of_letter(letter("w", N, ONE, is_complex=True))


def test_a_scalar_product_is_symmetric_and_a_hermitian_one_is_not():
    assert X.T * Y == Y.T * X
    assert W.T.conj * X != X.T * W
    assert W.T.conj * X == X.T * W.conj
    assert (W.T.conj * X).conj == X.T * W


def test_traces_are_equal_under_rotation_and_transposition_only():
    B = of_letter(letter("B", N, N))
    C = of_letter(letter("C", N, N))
    assert (A * B * C).trace() == (C * A * B).trace() == (C.T * B.T * A.T).trace()
    assert (A * B * C).trace() != (A * C * B).trace()
    assert (A * B).trace() != (A * B.T).trace()
    assert Z.T.conj.trace() != Z.trace()
    assert Z.T.conj.trace() == Z.trace().conj
    assert identity(N).trace() == of_size(N)


def test_a_power_of_i_turns_by_four():
    i = of_atom(IMAGINARY)
    assert i * i == number(-1)
    assert i * i * i == -i
    assert i.conj == -i
    assert (i * Z).conj == -i * Z.conj


def test_a_trace_atom_knows_the_letters_of_its_own_scope():
    """The same letters, with the one or the other complex: both in one process."""
    for first_is_complex in (True, False):
        P = of_letter(letter("P", N, N, is_complex=first_is_complex))
        Q = of_letter(letter("Q", N, N, is_complex=not first_is_complex))
        assert (P * Q).trace().conj == (P.conj * Q.conj).trace()


def test_units_and_injections_cancel_only_where_they_must():
    u, v = _unit_vector(N + K, number(1)), _unit_vector(N + K, number(2))
    j = _unit_vector(N, of_atom(atom("j")))
    m = _unit_vector(N, of_atom(atom("m")))
    assert u.T * u == number(1)
    assert u.T * v == number(0)
    assert j.T * j == number(1)
    assert (j.T * m).constant is None
    assert u * u.T != identity(N + K)
    assert (u * v.T).trace() == number(0)
    assert (u * u.T).trace() == number(1)
    upper, lower = _injections([N, K])
    assert upper.T * lower == Poly(N, K, {})
    assert (u.T * upper).terms  # the first unit vector lies in the first block
    assert (lower.T * u) == Poly(K, ONE, {})
    assert (lower.T * v).terms  # where n = 1 it doesn't lie in the first block
    head, _, tail = _injections([ONE, N, K])
    assert (_injections([ONE, N + K])[1].T * tail).terms
    assert not (head.T * tail).terms


def test_shapes_are_never_mixed():
    B = of_letter(letter("B", N, K))
    for wrong in (lambda: A + B, lambda: B * B, lambda: B.trace(), lambda: X - number(1)):
        with pytest.raises(TooLarge):
            wrong()


def test_look_alikes_have_different_keys():
    pairs = [
        (identity(N), number(1)),
        (identity(N), identity(K)),
        (Poly(N, N, {}), Poly(N, K, {})),
        (of_atom(atom("A")), A),
        (A, A.T),
        (Z, Z.conj),
        (X * X.T, A),
        (of_atom(atom("i")), of_atom(IMAGINARY)),
        (number(Fraction(1, 2)), number(2)),
    ]
    for p, q in pairs:
        assert p.key != q.key
        assert p != q


def test_long_keys_differ_where_their_ends_do():
    x = of_atom(atom("x"))
    long = x
    for k in range(60):
        long = long * of_atom(atom(f"name{k}"))
    assert len(long.key) < 100
    assert (long + x).key != long.key != (long + number(1)).key
    assert of_atom(atom("y" * 300 + "1")) != of_atom(atom("y" * 300 + "2"))


@pytest.mark.parametrize(
    "bomb",
    [
        lambda x: [x := x * x for _ in range(100)],
        lambda x: [x := x * (x + number(1)) for _ in range(40)],
        lambda x: [x := x.scale(Fraction(3**2000)) for _ in range(40)],
        lambda x: [x := x + x.scale(Fraction(1, 2**MAX_BITS)) for _ in range(3)],
    ],
)
def test_growth_is_stopped(bomb):
    with pytest.raises(TooLarge), limited(500_000):
        bomb(of_atom(atom("x")) + number(1))


def test_words_and_sums_have_a_greatest_length():
    longest = of_letter(letter("A", N, N))
    for _ in range(MAX_WORD - 1):
        longest = longest * A
    with pytest.raises(TooLarge, match=str(MAX_WORD)):
        assert longest * A
    with pytest.raises(TooLarge, match=str(MAX_TERMS)):
        Poly(ONE, ONE, {(((atom(f"x{i}"), 1),), ()): Fraction(1) for i in range(MAX_TERMS + 1)})


def test_work_is_counted_only_where_it_is_limited():
    x = of_atom(atom("x")) + number(1)
    with pytest.raises(TooLarge, match="more work"), limited(3):
        assert x * x
    assert len((x * x).terms) == 3
