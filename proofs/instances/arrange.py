"""Hypotheses that are arranged before anything is solved: nested partitions, blocks, order."""

from __future__ import annotations

from collections.abc import Sequence

from proofs.evaluate import Matrix, Model, Partition, as_value, evaluate
from proofs.evaluate import values as v
from proofs.evaluate.model import from_matrix
from proofs.instances.matrices import Matrices
from proofs.language.infer import Scope
from proofs.language.tree import Term, names_in, pair


def nest_partitions(model: Model, hypotheses: Sequence[Term]) -> Model:
    """Coarsens partitions until every `F subset G` holds."""
    pairs = [h.args for h in hypotheses if h.op == "subset"]
    for _ in range(len(pairs)):
        for small, large in pairs:
            f, g = (model.values.get(str(x.data)) for x in (small, large))
            if isinstance(f, Partition) and isinstance(g, Partition) and not g.refines(f):
                model = model.with_value(str(small.data), joined(f, g))
    return model


def joined(f: Partition, g: Partition) -> Partition:
    """The finest partition that both refine."""
    label = list(range(len(f.blocks)))

    def root(i: int) -> int:
        while label[i] != i:
            i = label[i]
        return i

    for blocks in (f.blocks, g.blocks):
        first: dict[int, int] = {}
        for i, b in enumerate(blocks):
            label[root(i)] = root(first.setdefault(b, i))
    roots = [root(i) for i in range(len(label))]
    names = {r: k for k, r in enumerate(dict.fromkeys(roots))}
    return Partition(tuple(names[r] for r in roots))


def cut_blocks(model: Model, hypotheses: Sequence[Term], scope: Scope, draw: Matrices) -> Model:
    """Fills the letters of `positive_(semi)definite(block(...))` from one definite matrix."""
    for h in hypotheses:
        if h.op not in ("positive_definite", "positive_semidefinite") or h.args[0].op != "block":
            continue
        inside = h.args[0]
        rows, cols = pair(inside)
        found = [as_value(evaluate(a, model)) for a in inside.args]
        shapes = [v.shape(x) for x in found if x is not None]
        if rows != cols or len(shapes) < len(found):
            continue
        starts = [sum(shapes[r * cols][0] for r in range(before)) for before in range(rows + 1)]
        is_complex = any(scope.types[n].is_complex for n in names_in(inside))
        make = draw.definite if h.op == "positive_definite" else draw.semidefinite
        whole = make(starts[-1], is_complex)
        for place, (a, (height, width)) in enumerate(zip(inside.args, shapes, strict=True)):
            if a.op == "name" and scope.types[str(a.data)].domain != "dimension":
                r, c = starts[place // cols], starts[place % cols]
                cut = v.rearrange(height, width, lambda i, j, r=r, c=c: (r + i, c + j), whole)
                model = model.with_value(str(a.data), from_matrix(cut))
    return model


def put_in_order(
    model: Model, hypotheses: Sequence[Term], letters: Sequence[str], draw: Matrices
) -> Model:
    """Makes `X <= Y` of matrices hold where one side is a letter that the other doesn't use."""
    for h in hypotheses:
        if h.op not in ("le", "lt", "ge", "gt"):
            continue
        low, high = h.args if h.op in ("le", "lt") else h.args[::-1]
        for letter, other, sign in ((high, low, 1), (low, high, -1)):
            name = str(letter.data)
            if letter.op != "name" or name not in letters or name in names_in(other):
                continue
            value = evaluate(other, model)
            if not isinstance(value, Matrix) or not value.exact or value.shape == (1, 1):
                continue
            make = draw.definite if h.op in ("lt", "gt") else draw.semidefinite
            step = make(value.shape[0], value.im is not None)
            moved = v.add(value, v.mul(v.scalar(sign), step))
            model = model.with_value(name, from_matrix(moved))
            break
    return model
