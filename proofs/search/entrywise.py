"""Untrusted. Instances for entrywise products and diagonal matrices."""

from __future__ import annotations

from proofs.checker.algebra import ONE, Letter, TooLarge, Word
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, bound, rational, term
from proofs.search.raising import NoTerm
from proofs.search.workbench import Workbench

MAX_LITERAL = 8  # diagonals of at most this literal size are written out
MAX_TRACES = 12  # that entrywise products are moved about in
MAX_DIAGONALS = 5  # whose products are compared


def hadamard(w: Workbench, node: Term) -> None:
    """An entrywise product by the form of its factors."""
    a, b = node.args
    sizes = w.sizes(node)
    w.schema("hadamard_total", **sizes, A=a, B=b)
    w.schema("hadamard_symmetric", **sizes, A=a, B=b)
    scope = w.facts.scope
    if b.op == "ones":
        w.schema("hadamard_ones", **sizes, A=a)
    if a.op == b.op == "eye":
        w.schema("hadamard_eye", n=sizes["n"])
    elif b.op == "eye":
        w.schema("hadamard_eye_symmetric", n=sizes["n"], A=a)
    if not w.facts.lowering.lower(b).terms:  # hadamard(A, 0*B) = 0*hadamard(A, B)
        w.schema("hadamard_scale", **sizes, A=a, B=b, c=rational(0))
    if {a.op, b.op} in ({"transpose"}, {"transpose", "eye"}):
        w.schema("hadamard_transpose", n=sizes["k"], k=sizes["n"], A=_turned(a), B=_turned(b))
    if infer(node, scope).cols == ONE:
        w.schema("hadamard_vector", n=sizes["n"], x=a, y=b)
    if a.op == "hadamard":
        w.schema("hadamard_associative", **sizes, A=a.args[0], B=a.args[1], C=b)
    if a.op == "eye" and b.op == "hadamard" and "eye" in (b.args[0].op, b.args[1].op):
        _diagonal_part(w, a, b.args[1] if b.args[0].op == "eye" else b.args[0])
    b = _pushed(b)
    if b.op in ("add", "sub"):
        second = b.args[1] if b.op == "add" else term("neg", b.args[1])
        w.schema("hadamard_sum", **sizes, A=a, B=b.args[0], C=second)
    elif b.op == "neg":
        w.schema("hadamard_scale", **sizes, A=a, B=b.args[0], c=rational(-1))
    elif b.op == "mul" and infer(b.args[0], scope).is_scalar:
        w.schema("hadamard_scale", **sizes, A=a, B=b.args[1], c=b.args[0])
    if a.op == "mul":
        one, two = a.args
        if infer(one, scope).cols == ONE and not infer(one, scope).is_scalar:
            y = two.args[0] if two.op == "transpose" else term("transpose", two)
            w.schema("hadamard_outer", **sizes, A=b, x=one, y=y)
        if one.op == "diag":
            w.schema("hadamard_rows", **sizes, A=two, B=b, x=one.args[0])
        if two.op == "diag":
            w.schema("hadamard_columns", **sizes, A=one, B=b, y=two.args[0])


def _diagonal_part(w: Workbench, one: Term, b: Term) -> None:
    """hadamard(I, hadamard(I, B)) = hadamard(I, B)."""
    n = w.size(one)
    place = w.schema("hadamard_eye", n=n)
    w.schema("hadamard_associative", n=n, k=n, A=one, B=one, C=b)
    if place is not None:
        w.congruence(place, term("hadamard", bound(0, term("matrix_type", n, n)), b))


def _pushed(a: Term) -> Term:
    """The transpose of a sum or difference as that of the transposes."""
    if a.op == "transpose" and a.args[0].op in ("add", "sub", "neg"):
        return term(a.args[0].op, *(term("transpose", x) for x in a.args[0].args))
    return a


def _turned(a: Term) -> Term:
    if a.op == "eye":
        return a
    return a.args[0] if a.op == "transpose" else term("transpose", a)


def transposed(w: Workbench, node: Term) -> None:
    """The transpose of an entrywise product, or of a sum."""
    a = node.args[0]
    if a.op == "sum" and a.args[0] is rational(1):
        w.schema("sum_transpose", **w.sizes(a), p=a.args[1], f=a.args[2])
    if a.op == "hadamard":
        w.schema("hadamard_transpose", **w.sizes(a), A=a.args[0], B=a.args[1])


def diagonal(w: Workbench, node: Term) -> None:
    """A diagonal matrix by the form of its vector, and its products with others in sight."""
    x = node.args[0]
    n = w.size(node)
    w.schema("diag_transpose", n=n, x=x)
    w.schema("diag_ones", n=n, x=x)
    size = infer(node, w.facts.scope).rows.value
    if size is not None and size <= MAX_LITERAL:
        for j in range(1, size + 1):
            w.schema("diag_entry", n=n, x=x, j=rational(j))
        w.schema("eye_units", n=n)
    if x.op in ("add", "sub"):
        second = x.args[1] if x.op == "add" else term("neg", x.args[1])
        w.schema("diag_sum", n=n, x=x.args[0], y=second)
    elif x.op == "neg":
        w.schema("diag_scale", n=n, x=x.args[0], c=rational(-1))
    elif x.op == "mul" and infer(x.args[0], w.facts.scope).is_scalar:
        w.schema("diag_scale", n=n, x=x.args[1], c=x.args[0])
    elif x.op == "ones":
        w.schema("diag_of_ones", n=n)
    elif x.op == "hadamard":
        w.schema("hadamard_diag", n=n, x=x.args[0], y=x.args[1])


def gather(w: Workbench, roots: list[Term]) -> None:
    """What diagonals and entrywise products meet in the words of a goal."""
    diagonals: dict[Term, None] = {}
    in_sight = any(node.op in ("diag", "hadamard") for node in w.raising.letters.values())
    for root in (*roots, *_traces(w)) if in_sight else ():
        if root.op not in ("eq", "le", "ge", "lt", "gt"):
            continue
        try:
            value = w.facts.difference(root)
        except (TooLarge, StatementError):
            continue
        for monomial, word in value.terms:
            for letters in (word, *(a.word for a, _ in monomial if a.word)):
                for i in range(len(letters)):
                    is_trace = letters is not word
                    diagonals |= dict.fromkeys(_around(w, letters, i, is_trace))
    for fact in w.facts.facts:
        if fact.relation.op == "diagonal":
            d = fact.relation.args[0]
            diagonals[term("mul", d, term("ones", w.size(d), rational(1)))] = None
    known = list(diagonals)[:MAX_DIAGONALS]
    for i, one in enumerate(known):
        for two in known[:i]:
            if w.size(one) is w.size(two):
                w.schema("diag_commute", n=w.size(one), x=one, y=two)


def _traces(w: Workbench) -> list[Term]:
    """Equations that say what derivatives and traces are, where the goal has entrywise products."""
    if not w.speaks_of("hadamard"):
        return []
    known = [fact.relation for fact in w.facts.facts if fact.relation.op == "eq"]
    return [r for r in known if r.args[0].op in ("deriv", "grad", "tr")][:MAX_TRACES]


def _around(w: Workbench, word: Word, i: int, is_trace: bool) -> list[Term]:
    """Take what a letter's neighbours call for; the vector of a diagonal."""
    node = _node(w, word[i])
    if node is None or node.op not in ("diag", "hadamard"):
        return []
    before, after = word[i - 1], word[(i + 1) % len(word)]
    n = w.size(node)
    try:
        if node.op == "diag":
            if after.cols == ONE and after.rows == word[i].cols:
                w.schema("diag_swap", n=n, x=node.args[0], y=w.raising.letter(after))
            for neighbour in (before.T, after):
                unit = w.raising.letter(neighbour)
                if unit.op == "unit":
                    w.schema("diag_entry", n=n, x=node.args[0], j=unit.args[1])
            return [node.args[0]]
        a, b = node.args
        if after.key.startswith("$ones") and not word[i].transposed:
            w.schema("hadamard_row_sums", **w.sizes(node), A=a, B=b)
        if before.key.startswith("$ones") and not word[i].transposed:
            sizes = {"n": w.sizes(node)["k"], "k": n}
            w.schema("hadamard_transpose", **w.sizes(node), A=a, B=b)
            w.schema("hadamard_row_sums", **sizes, A=_turned(a), B=_turned(b))
        if is_trace and ONE not in (before.rows, after.cols):
            _under_trace(w, node, word, i)
        if before.rows == after.cols == ONE:
            x, y = w.raising.letter(before.T), w.raising.letter(after)
            w.schema("hadamard_form", **w.sizes(node), A=a, B=b, x=x, y=y)
    except NoTerm:
        return []
    return []


def _under_trace(w: Workbench, node: Term, word: Word, i: int) -> None:
    """tr(hadamard(A, B).T*C) = tr(A.T*hadamard(B, C)), for the word of a trace."""
    rest = word[i + 1 :] + word[:i]
    if word[-1].cols != word[0].rows:
        return
    if not rest:
        w.schema("hadamard_eye", n=w.size(node))
    c = w.raising.word(rest) if rest else term("eye", w.size(node))
    c = c if word[i].transposed else term("transpose", c)
    kind, mine = infer(c, w.facts.scope), infer(node, w.facts.scope)
    if (kind.rows, kind.cols) == (mine.rows, mine.cols):
        a, b = node.args
        for one, two in ((a, b), (b, a)):
            if one.op != "eye" and (two.op == "eye" or b.op != "eye"):
                w.schema("hadamard_trace", **w.sizes(node), A=one, B=two, C=c)


def _node(w: Workbench, x: Letter) -> Term | None:
    return None if x.conjugated else w.raising.letters.get(x.T if x.transposed else x)
