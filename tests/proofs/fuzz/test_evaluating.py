"""The evaluator beside a second one, and the lowering beside the evaluator, on random trees."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from proofs.evaluate import Matrix, Undefined, evaluate
from proofs.language.infer import infer
from proofs.language.tree import Term
from tests.proofs.checker import trees
from tests.proofs.checker.test_lowering import array, lowered_value
from tests.proofs.fuzz.dense import Dense, NotHere, NoValue

SEEDS = st.integers(0, 2**48)


def grown(seed: int, depth: int) -> Term:
    draw = random.Random(seed)
    grow = trees.Trees(draw.randrange(10**9))
    return grow.matrix(draw.choice(trees.SIZES), draw.choice(trees.SIZES), depth)


@given(SEEDS, SEEDS, st.integers(1, 4))
def test_two_evaluators_agree(tree: int, model: int, depth: int):
    root, at = grown(tree, depth), trees.model(random.Random(model))
    try:
        wanted = Dense(at)(root)
    except NotHere:
        assume(False)
    except NoValue:
        assert isinstance(evaluate(root, at), Undefined), root
        return
    found = evaluate(root, at)
    assert isinstance(found, Matrix), (root, found)
    assert found.shape == wanted.shape
    assert found.exact
    assert np.all(array(found) == wanted), root


@given(SEEDS, SEEDS, st.integers(1, 4))
def test_a_well_typed_tree_has_a_value_of_its_type_or_none(tree: int, model: int, depth: int):
    root, at = grown(tree, depth), trees.model(random.Random(model))
    kind = infer(root, trees.SCOPE)
    found = evaluate(root, at)
    if isinstance(found, Matrix):
        sizes = {"n": at.values["n"], "k": at.values["k"]}
        assert (kind.rows.evaluate(sizes), kind.cols.evaluate(sizes)) == found.shape  # type: ignore
        assert kind.is_complex or found.im is None


@given(SEEDS, SEEDS, st.integers(1, 4))
def test_lowering_keeps_the_value(tree: int, model: int, depth: int):
    root, at = grown(tree, depth), trees.model(random.Random(model))
    pair = lowered_value(root, at)
    assume(pair is not None)
    value, wanted = pair  # type: ignore[misc]
    assert (value == wanted).all(), root
