"""Untrusted. Small matrices of literal size: inverses of numbers, determinants by entries."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from proofs.checker.algebra import IMAGINARY, ONE, Atom, Letter, Poly, Word
from proofs.checker.definedness import ZERO
from proofs.language.infer import infer
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import equations, instances
from proofs.search.ideal import Ideal
from proofs.search.workbench import ARITHMETIC, Workbench

MAX_SIZE = 4
ENTRY = 3  # letters of an entry of a name: unit vectors around it
POLYNOMIAL = frozenset({"det", "entry", "adj"})  # in the entries, as traces are
HEAVY = 80  # what a matrix weighs that is to be written out by its entries
DETERMINANTS = {2: "det_two", 3: "det_three", 4: "det_four"}
ADJUGATES = {2: "adj_two", 3: "adj_three"}


def determinant(w: Workbench, a: Term) -> int | None:
    """det(a) by its entries, for a matrix of two to four rows."""
    rule = DETERMINANTS.get(infer(a, w.facts.scope).rows.value or 0)
    return None if rule is None else w.schema(rule, A=a)


def adjugate(w: Workbench, a: Term) -> int | None:
    """adj(a) by its entries, for a matrix of two or three rows."""
    rule = ADJUGATES.get(infer(a, w.facts.scope).rows.value or 0)
    return None if rule is None else w.schema(rule, A=a)


def invertible(w: Workbench, a: Term) -> int | None:
    """invertible(a) for numbers, or for a determinant that is known not to be zero."""
    kind = infer(a, w.facts.scope)
    size = kind.rows.value
    if size is None or not 2 <= size <= MAX_SIZE:
        return None
    inverse = numeric_inverse(w, a)
    if inverse is not None:
        return w.schema("one_sided_unit", n=rational(size), A=a, B=inverse)
    place = determinant(w, a)
    if place is None:
        return None
    left, right = w.facts.facts[place].relation.args
    value = w.facts.lowering.lower(right)
    simpler = w.raising.poly(value)
    if w.attempt(term("ne", simpler, ZERO)) is None:
        return None
    one = rational(1)
    w.schema("unit_equal", n=one, A=simpler, B=left)
    w.schema("unit_nonzero", A=left)
    return w.schema("unit_det", n=rational(size), A=a)


def written_out(w: Workbench, words: Iterable[Word]) -> dict[Letter, list[Atom]]:
    """The matrices of literal size in these words that are now known by their entries, with
    these."""
    found: dict[Letter, list[Atom]] = {}
    for x in dict.fromkeys(x.T if x.transposed else x for word in words for x in word):
        rows, cols = x.rows.value, x.cols.value
        node = w.raising.letters.get(x)
        if x.block is not None or rows is None or cols is None or node is None:
            continue
        if node.op != "name" or not 2 <= rows <= MAX_SIZE >= cols >= 2:
            continue
        places = [(rational(i + 1), rational(j + 1)) for i in range(rows) for j in range(cols)]
        entries = [term("entry", node, *place) for place in places]
        for size in {rows, cols}:
            w.schema("eye_units", n=rational(size))
        if w.attempt(term("eq", node, term("block", *entries, data=(rows, cols)))) is not None:
            values = [w.facts.lowering.lower(e) for e in entries]
            found[x] = [a for v in values for m, _ in v.terms for a, _ in m]
    return found


def traces_by_entries(w: Workbench, goal: Term) -> int | None:
    """Determinants or entries and traces of small matrices, all of them polynomials in entries."""
    difference = w.facts.difference(goal)
    ops = {n.op for n in postorder([goal])} & POLYNOMIAL
    if not ops or not (difference.is_scalar or "adj" in ops):
        return None
    rest, _ = equations.known(w, [goal]).reduce(difference)
    found = {a.word: None for v in (difference, rest) for m, _ in v.terms for a, _ in m if a.word}
    words = [word for word in found if word[0].rows != ONE or len(word) > ENTRY]
    words += [word for _, word in difference.terms]
    before = len(w.facts.facts)
    entries = written_out(w, words)
    if not entries and "adj" not in ops:
        return None
    brought = range(before, len(w.facts.facts))
    instances.gather(w, [goal])
    ideal = Ideal(w.tick)
    for x, atoms in entries.items():
        ideal.weigh(x, HEAVY)  # in a trace, every matrix is written out
        for a in atoms:
            ideal.weigh(a, 1)
    # The latest come first: the entries, and the minors of a determinant before it.
    for place, fact in reversed(list(enumerate(w.facts.facts))):
        if fact.relation.op == "eq" and not _is_roundabout(fact.relation):
            value = w.facts.difference(fact.relation)
            equations.weigh(w, ideal, value)
            ideal.add(value, place, ("",) if value.is_scalar else ("", "T"))
    rest, used = ideal.reduce(difference)
    if rest.terms:
        w.aside.update(brought)
        return None
    return w.combine(goal, ideal, used)


def _is_roundabout(relation: Term) -> bool:
    """Whether an equation speaks of sums, or of an adjugate in a product: of no entries."""
    nodes = postorder([relation])
    return any(
        n.op == "sum" or (n.op == "mul" and any(a.op == "adj" for a in n.args)) for n in nodes
    )


def numeric_inverse(w: Workbench, a: Term) -> Term | None:
    """The inverse of a matrix of Gaussian rationals, as a block of its entries."""
    size = infer(a, w.facts.scope).rows.value
    if size is None or not 2 <= size <= MAX_SIZE or infer(a, w.facts.scope).cols.value != size:
        return None
    table = _entries(w.facts.lowering.lower(a), size) if a.op == "block" else None
    if table is None:
        return None
    # The matrix R + i*J as the real matrix [[R, -J], [J, R]].
    real = [[x for x, _ in row] + [-y for _, y in row] for row in table]
    real += [[y for _, y in row] + [x for x, _ in row] for row in table]
    inverse = _gauss_jordan(real)
    if inverse is None:
        return None
    entries = [
        _number(inverse[i][j], inverse[size + i][j]) for i in range(size) for j in range(size)
    ]
    return term("block", *entries, data=(size, size))


def inverse_is(w: Workbench, a: Term, y: Term) -> int | None:
    """inv(a) = y from a*y = identity."""
    n, inverse = w.size(a), term("inv", a)
    one = term("eq", term("mul", a, y), term("eye", n))
    product, left = w.attempt(one), w.schema("inv_left", n=n, A=a)
    if product is None or left is None:
        return None
    terms = [[None, left, w.place(y), ""]]
    if product != ARITHMETIC:  # the fact may be the equation with its sides exchanged
        known = w.facts.difference(w.facts.facts[product].relation)
        factor = term("neg", inverse) if known == w.facts.difference(one) else inverse
        terms.append([w.place(factor), product, None, ""])
    goal = term("eq", inverse, y)
    return w.take({"rule": "combine", "goal": w.place(goal), "terms": terms})


def _entries(value: Poly, size: int) -> list[list[tuple[Fraction, Fraction]]] | None:
    """The entries as pairs of a real and an imaginary part; None where one isn't a number."""
    table = [[(Fraction(0), Fraction(0))] * size for _ in range(size)]
    for (monomial, word), c in value.terms.items():
        if len(word) != 2 or word[0].block is None or word[1].block is None:
            return None
        if any(a is not IMAGINARY for a, _ in monomial):
            return None
        i, j = word[0].block[0].value, word[1].block[0].value
        if i is None or j is None:
            return None
        x, y = table[i][j]
        table[i][j] = (x, y + c) if monomial else (x + c, y)
    return table


def _gauss_jordan(matrix: list[list[Fraction]]) -> list[list[Fraction]] | None:
    n = len(matrix)
    rows = [[*row, *(Fraction(i == j) for j in range(n))] for i, row in enumerate(matrix)]
    for col in range(n):
        pivot = next((r for r in range(col, n) if rows[r][col]), None)
        if pivot is None:
            return None
        rows[col], rows[pivot] = rows[pivot], rows[col]
        rows[col] = [x / rows[col][col] for x in rows[col]]
        for r in range(n):
            if r != col and rows[r][col]:
                factor = rows[r][col]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[col], strict=True)]
    return [row[n:] for row in rows]


def _number(real: Fraction, imaginary: Fraction) -> Term:
    i = term("constant", data="i")
    if not imaginary:
        return rational(real)
    multiple = i if imaginary == 1 else term("mul", rational(imaginary), i)
    return multiple if not real else term("add", rational(real), multiple)
