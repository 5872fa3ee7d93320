"""Typing: any tree of JSON gets a type or an error; what has a type can be evaluated."""

from __future__ import annotations

import json
import random
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from proofs.checker.judge import Rejected
from proofs.checker.judge import check as judge
from proofs.evaluate import Evaluation, Truth, Undecided, Undefined
from proofs.instances import Instances
from proofs.language import show
from proofs.language.errors import StatementError
from proofs.language.infer import check
from proofs.language.tree import Statement, from_json, to_json
from tests.proofs.checker.test_tampering import WORLDS, random_rows

SEEDS = st.integers(0, 2**48)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 30) | st.text(max_size=4) | st.just("eq"),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=20,
)


def read(text: str) -> Statement | None:
    """The statement, if the text is one and it is well-typed."""
    try:
        found = from_json(text)
        check(found)
    except StatementError:
        return None
    return found


def of_rows(seed: int) -> Statement | None:
    """A statement of random rows, its goal and hypotheses anywhere among them."""
    draw = random.Random(seed)
    world = draw.choice(WORLDS)
    raw = json.loads(to_json(world))
    raw["nodes"] += random_rows(world, draw)
    top = len(raw["nodes"])
    raw["goal"] = draw.randrange(top // 2, top)
    raw["hypotheses"] = [draw.randrange(top) for _ in range(draw.choice((0, 0, 1)))]
    if draw.random() < 0.3:
        draw.choice(raw["declarations"])[1] = draw.randrange(top)
    return read(json.dumps(raw))


@given(SEEDS)
def test_any_tree_has_a_type_or_an_error_and_can_be_handled(seed: int):
    found = of_rows(seed)
    if found is None:
        return
    show.pretty(found)
    with suppress(Rejected):
        judge(found, {"statement": found.hash, "nodes": [], "steps": []})
    instances = Instances(found, seed=1)
    for place in range(3):
        answer = Evaluation(instances.draw(place))(found.goal)
        assert isinstance(answer, Truth | Undefined | Undecided)


@given(ANYTHING)
def test_any_json_is_a_statement_or_an_error(value: object):
    read(json.dumps(value))


@given(SEEDS, ANYTHING)
def test_a_statement_with_anything_anywhere(seed: int, value: object):
    draw = random.Random(seed)
    raw = json.loads(to_json(draw.choice(WORLDS)))
    places = [(raw, key) for key in raw]
    for holder in (raw["nodes"], raw["declarations"]):
        for row in holder:
            places += [(row, i) for i in range(len(row))]
    holder, key = draw.choice(places)
    holder[key] = value
    read(json.dumps(raw))
