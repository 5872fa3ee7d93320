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
    """Determinants or entries, traces, powers and inverses of small matrices, by their entries."""
    difference = w.facts.difference(goal)
    nodes = postorder([goal])
    ops = {n.op for n in nodes} & POLYNOMIAL
    inverses = [n.args[0] for n in nodes if n.op == "inv" and _is_small(w, n.args[0])]
    if not inverses and (not ops or not (difference.is_scalar or ops - {"entry"})):
        return None
    if "adj" in ops:  # before anything else is said of adjugates
        for node in nodes:
            if node.op == "adj" and not node.free:
                adjugate(w, node.args[0])
        known = equations.plain_ideal(w, [goal])
        rest, used = known.reduce(difference)
        if not rest.terms:
            return w.combine(goal, known, used)
    rest, _ = equations.known(w, [goal]).reduce(difference)
    found = {a.word: None for v in (difference, rest) for m, _ in v.terms for a, _ in m if a.word}
    words = [word for word in found if word[0].rows != ONE or len(word) > ENTRY]
    words += [word for _, word in difference.terms]
    before = len(w.facts.facts)
    entries = written_out(w, words)
    if not entries and not inverses and "adj" not in ops:
        return None
    for x in entries:
        _symmetric_entries(w, w.raising.letters[x])
    for a in inverses:
        _by_adjugate(w, a)
        _symmetric_entries(w, a)
    brought = range(before, len(w.facts.facts))
    instances.gather(w, [goal])
    ideal = Ideal(w.tick)
    for a in inverses:
        for _, word in w.facts.lowering.lower(term("inv", a)).terms:
            ideal.weigh(word[0], 2 * HEAVY)
    for x, atoms in entries.items():
        ideal.weigh(x, HEAVY)  # in a trace, every matrix is written out
        for a in atoms:
            ideal.weigh(a, 1)
    # The latest come first: the entries, and the minors of a determinant before it. What is left
    # for the end are reciprocals, of determinants by then.
    facts = sorted(enumerate(w.facts.facts), key=lambda f: (-_is_reciprocal(f[1].relation), f[0]))
    for place, fact in reversed(facts):
        if fact.relation.op == "eq" and not _is_roundabout(fact.relation):
            value = w.facts.difference(fact.relation)
            equations.weigh(w, ideal, value)
            ideal.add(value, place, ("",) if value.is_scalar else ("", "T"))
    rest, used = ideal.reduce(difference)
    if rest.terms:
        w.aside.update(brought)
        return None
    return w.combine(goal, ideal, used)


def _symmetric_entries(w: Workbench, a: Term) -> None:
    """A[j, i] = A[i, j] for a matrix that is known to be equal to its transpose."""
    place, n = w.find(term("eq", term("transpose", a), a)), w.size(a)
    if place is None or place == ARITHMETIC:
        return
    size = infer(a, w.facts.scope).rows.value or 0
    for j in range(1, size + 1):
        for i in range(1, j):
            x, y = (term("entry", a, rational(p), rational(q)) for p, q in ((j, i), (i, j)))
            row, column = (term("unit", n, rational(p)) for p in (i, j))
            rows = [[w.place(term("transpose", row)), place, w.place(column), ""]]
            for sides in ((x, y), (y, x)):  # as the fact has its sides
                goal = term("eq", *sides)
                if w.take({"rule": "combine", "goal": w.place(goal), "terms": rows}) is not None:
                    break


def _is_small(w: Workbench, a: Term) -> bool:
    """Whether a matrix is a name or a sum whose adjugate can be written by entries."""
    size = infer(a, w.facts.scope).rows.value
    return a.op in ("name", "add", "sub") and size is not None and size in ADJUGATES


def _by_adjugate(w: Workbench, a: Term) -> int | None:
    """inv(a) = 1/det(a)*adj(a), the adjugate by its entries."""
    n, d, adj, inverse = w.size(a), term("det", a), term("adj", a), term("inv", a)
    r, one = term("div", rational(1), d), rational(1)
    entries = adjugate(w, a)
    if entries is None:
        return None
    block = next(b for b in w.facts.facts[entries].relation.args if b.op == "block")
    rows: list[object] = []
    for relation, place, factor in (
        (term("eq", adj, term("mul", d, inverse)), w.schema("adj_inverse", n=n, A=a), r),
        (term("eq", term("mul", d, r), one), w.schema("reciprocal", x=d), inverse),
        (term("eq", block, adj), entries, r),
    ):
        stated = None if place is None else w.sided(relation, place)
        if stated is None:
            return None
        rows.append([w.place(term("neg", factor)), stated, None, ""])
    goal = term("eq", inverse, term("mul", r, block))
    return w.take({"rule": "combine", "goal": w.place(goal), "terms": rows})


def _is_reciprocal(relation: Term) -> bool:
    """Whether an equation is x*(1/x) = 1."""
    return relation.op == "eq" and any(
        side.op == "mul" and side.args[1].op == "div" and other is rational(1)
        for side, other in (relation.args, relation.args[::-1])
    )


def _is_roundabout(relation: Term) -> bool:
    """Whether an equation speaks of sums, or of an adjugate or inverse in a product: of no
    entries."""
    return any(
        n.op == "sum" or (n.op == "mul" and any(a.op in ("adj", "inv") for a in n.args))
        for n in postorder([relation])
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
