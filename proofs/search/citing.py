"""Untrusted. Lemmas put to use: each with its own names, and as its hypotheses match what is known.

A lemma without hypotheses is matched by a side of its equation, or by its whole goal, with
the parts of the statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from proofs.checker.algebra import Poly, number
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Statement, Term, bound, name, names_in, postorder, rational, term
from proofs.search import equations
from proofs.search.ideal import Ideal
from proofs.search.linear import combination
from proofs.search.raising import size_term
from proofs.search.workbench import Workbench

MAX_INSTANCES = 8  # of one lemma
MAX_ROUNDS = 3  # through the lemmas, each with what the last one brought
MAX_LEVEL = 3  # of relations under way that are added up
MAX_COLUMNS = 80  # inequalities, and equations twice
MAX_TRIES = 10_000  # partial matches of one lemma
NUMBERS = {f"{n}_type" for n in ("real", "positive", "nonnegative", "nonzero", "complex")}
MATRICES = ("matrix_type", "complex_matrix_type")
TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}

Values = dict[str, Term]


def cite(w: Workbench, of_gaussians: bool) -> None:
    """Take the instances of the lemmas that may be cited whose hypotheses are found to hold: of
    those on Gaussian names, whose moments must be known, or of the others. What one lemma says may
    be what the hypotheses of another ask for, so that they are gone through again."""
    taken: list[tuple[str, Values]] = []
    for _ in range(MAX_ROUNDS):
        known = len(w.facts.facts)
        for hash_, lemma in w.judge.lemmas.items():
            if any(d.type.op == "gaussian_type" for d in lemma.declarations) is not of_gaussians:
                continue
            for values in _instances(w, lemma):
                if (hash_, values) in taken:
                    continue
                place = w.lemma(hash_, **values)
                w.failed.clear()
                if place is not None:
                    taken.append((hash_, values))
                    if place >= 0 and w.facts.facts[place].relation is w.statement.goal:
                        return
        if len(w.facts.facts) == known:
            return


def cite_at(w: Workbench, at: Term, x: Term) -> None:
    """The same for what is known at a fresh number x, which stands for a number of a lemma where
    its own names do for the others, or as the lemma's parts match those of a term."""
    for hash_, lemma in w.judge.lemmas.items():
        if any(d.type.op == "gaussian_type" for d in lemma.declarations):
            continue
        here = {n: d.type for d in w.judge.declarations for n in d.names}
        types = {n: d.type for d in lemma.declarations for n in d.names}
        rest = [m for m, type_ in types.items() if here.get(m) is type_]
        for n in [m for m in types if m not in rest] or types:
            others = {m: _itself(m, types[m]) for m in rest if m != n}
            if types[n].op in NUMBERS and len(others) + 1 == len(types):
                w.lemma(hash_, **others, **{n: x})
        for values in _instances(w, lemma, [at]):
            w.lemma(hash_, **values)
        w.failed.clear()


def added_up(w: Workbench, relation: Term) -> int | None:
    """An inequality as a sum of multiples of what hypotheses and lemmas say, as it stands or modulo
    the known equations."""
    if not w.judge.lemmas or w.level > MAX_LEVEL:
        return None
    for ideal in (None, equations.known(w, [relation])):
        found = _sum(w, relation, ideal)
        if found is not None:
            return found
    return None


def _sum(w: Workbench, relation: Term, ideal: Ideal | None) -> int | None:
    """The same, modulo an ideal, or with multiples of the equations among the facts."""
    goal = w.facts.difference(relation)
    columns: list[dict[Any, Fraction]] = [{((), ()): Fraction(1)}]
    meaning: list[tuple[int, Poly]] = [(-1, number(1))]
    for place, fact in enumerate(w.facts.facts):
        op = fact.relation.op
        if op not in ("eq", "lt", "le", "gt", "ge") or len(columns) > MAX_COLUMNS:
            continue
        value = w.facts.difference(fact.relation)
        if not value.is_scalar or value.is_complex or (ideal is not None and op == "eq"):
            continue
        for turn in (1, -1) if op == "eq" else (1,) if op in ("gt", "ge") else (-1,):
            up = value.scale(Fraction(turn))
            meaning.append((place, up))
            columns.append((up if ideal is None else ideal.reduce(up)[0]).terms)
    target = (goal if ideal is None else ideal.reduce(goal)[0]).terms
    found = combination(columns, target) if goal.is_scalar and target else None
    if found is None:
        return None
    rows: list[Any] = []
    terms: list[Any] = []
    rest = goal
    for i, factor in found.items():
        place, up = meaning[i]
        if place >= 0 and w.facts.facts[place].relation.op == "eq":
            turned = up == w.facts.difference(w.facts.facts[place].relation)
            rows.append([w.place(rational(factor if turned else -factor)), place, None, ""])
        else:
            terms.append([str(factor), [] if place < 0 else [place], None])
        rest = rest - up.scale(factor)
    if ideal is None:
        return w.positive(relation, terms, rows)
    return w.closed(relation, terms, rest, ideal)


def _instances(w: Workbench, lemma: Statement, roots: Sequence[Term] = ()) -> list[Values]:
    """What may be put for the names of a lemma, the names themselves first."""
    here = {n: d.type for d in w.statement.declarations for n in d.names}
    types = {n: d.type for d in lemma.declarations for n in d.names}
    found: list[Values] = []
    if all(here.get(n) is type_ for n, type_ in types.items()):
        found.append({n: _itself(n, type_) for n, type_ in types.items()})
    free = {n for n, type_ in types.items() if type_.op != "function_type"}
    tries = [MAX_TRIES]
    for matched in _matches(w, lemma, free, tries, roots):
        values = {**_sizes(w, types, matched), **matched}
        rest = {
            n: _itself(n, type_)
            for n, type_ in types.items()
            if n not in values and here.get(n) is type_
        }
        complete = {**_idle(lemma), **rest, **values}
        if complete.keys() == types.keys() and complete not in found:
            found.append(complete)
        if len(found) >= MAX_INSTANCES:
            break
    return found


def _itself(n: str, type_: Term) -> Term:
    """A name as a value for a name like it; of a function, its body."""
    if type_.op == "function_type":
        return term("apply", name(n), bound(0, term("real_type")))
    return name(n)


def _sizes(w: Workbench, types: Values, values: Values) -> Values:
    """The dimensions of a lemma that are sizes of what is put for its matrices."""
    found: Values = {}
    for n, value in values.items():
        if types[n].op not in MATRICES:
            continue
        try:
            kind = infer(value, w.facts.scope)
        except StatementError:
            continue
        for size, actual in zip(types[n].args, (kind.rows, kind.cols), strict=True):
            if size.op == "name":
                found.setdefault(str(size.data), size_term(actual))
    return found


def _idle(lemma: Statement) -> Values:
    """A number for each number that a lemma's file declares and the lemma doesn't speak of."""
    mentioned = set[str]().union(*map(names_in, (*lemma.hypotheses, lemma.goal)))
    mentioned |= set[str]().union(*(names_in(d.type) for d in lemma.declarations))
    return {
        n: rational(1)
        for d in lemma.declarations
        for n in d.names
        if n not in mentioned and d.type.op in NUMBERS
    }


def _matches(
    w: Workbench, lemma: Statement, free: set[str], tries: list[int], roots: Sequence[Term]
) -> Iterator[Values]:
    relations = [fact.relation for fact in w.facts.facts]
    if lemma.hypotheses:
        yield from _all(list(lemma.hypotheses), relations, free, {}, tries)
        return
    parts = [n for n in postorder([*relations, w.statement.goal, *roots]) if not n.free]
    patterns = [*lemma.goal.args] if lemma.goal.op == "eq" else [lemma.goal]
    for pattern in patterns:
        if pattern.op not in ("name", "rational", "constant"):
            for part in parts:
                values = _match(pattern, part, free, {}, tries)
                if values is not None:
                    yield values


def _all(
    patterns: list[Term], relations: list[Term], free: set[str], values: Values, tries: list[int]
) -> Iterator[Values]:
    """Values with which each pattern is one of the relations."""
    if not patterns:
        yield values
        return
    for relation in relations:
        for side in (relation, _turned(relation)):
            found = None if side is None else _match(patterns[0], side, free, values, tries)
            if found is not None:
                yield from _all(patterns[1:], relations, free, found, tries)


def _turned(relation: Term) -> Term | None:
    """a < b as b > a."""
    op = TURNED.get(relation.op)
    return None if op is None else term(op, *reversed(relation.args))


def _match(
    pattern: Term, target: Term, free: set[str], values: Values, tries: list[int]
) -> Values | None:
    """The values, and more of them, with which the pattern is the target; None: there are none."""
    tries[0] -= 1
    if tries[0] < 0:
        return None
    found = dict(values)
    stack = [(pattern, target)]
    while stack:
        p, t = stack.pop()
        if p.op == "name" and str(p.data) in free:
            if t.free or found.setdefault(str(p.data), t) is not t:
                return None
        elif p is not t:
            if (p.op, p.data, len(p.args)) != (t.op, t.data, len(t.args)) or not p.args:
                return None
            stack += zip(p.args, t.args, strict=True)
    return found
