"""Untrusted. From a statement to a certificate, or to what stood in the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any

from proofs.checker.algebra import TooLarge
from proofs.checker.definedness import NotDefined
from proofs.checker.facts import duties
from proofs.checker.judge import Rejected, check
from proofs.language.effort import limited
from proofs.language.errors import StatementError
from proofs.language.tree import Statement, Term
from proofs.search.citing import cite
from proofs.search.conditions import establish
from proofs.search.ideal import OutOfTime
from proofs.search.moments import declare_moments
from proofs.search.prune import pruned
from proofs.search.workbench import Stuck, Workbench

WORK = 400_000  # elementary operations of the algebra for each second of the budget


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no certificate.

    `missing` is the relation that could not be established, and `definedness` says that it is
    needed for the statement to have a meaning. `final` says that the search has tried all that it
    knows, so that more time would change nothing.
    """

    reason: str
    missing: Term | None = None
    definedness: bool = False
    final: bool = False


def prove(
    statement: Statement, seconds: float = 10.0, lemmas: Mapping[str, Statement] | None = None
) -> dict[str, Any] | Failure:
    """A certificate that the checker accepts, or the reason why none was found.

    Args:
        statement: a well-typed statement.
        seconds: the budget of wall-clock time.
        lemmas: statements that may be cited, by hash.
    """
    found = search(statement, seconds, lemmas)
    if isinstance(found, Failure):
        return found
    try:
        check(statement, found, lemmas)
    except Rejected as problem:
        return Failure(f"the pruned certificate is rejected: {problem}")
    return found


def search(
    statement: Statement,
    seconds: float = 10.0,
    lemmas: Mapping[str, Statement] | None = None,
    meanwhile: Callable[[], bool] = lambda: False,
) -> dict[str, Any] | Failure:
    """Like `prove`, but nobody has checked the certificate.

    Args:
        statement: a well-typed statement.
        seconds: the budget of wall-clock time.
        lemmas: statements that may be cited, by hash.
        meanwhile: called all the time; says whether the search may stop.
    """
    if not lemmas:
        return _search(statement, seconds, {}, meanwhile)
    # What is known besides is one more thing to look through: most goals are easier without it.
    started = time.monotonic()
    alone = _search(statement, seconds / 2, {}, meanwhile)
    if not isinstance(alone, Failure):
        return alone
    left = seconds - (time.monotonic() - started)
    found = _search(statement, left, lemmas, meanwhile)
    if isinstance(found, Failure):
        return replace(found, final=found.final and alone.final)
    return found


def _search(
    statement: Statement,
    seconds: float,
    lemmas: Mapping[str, Statement],
    meanwhile: Callable[[], bool],
) -> dict[str, Any] | Failure:
    deadline = time.monotonic() + seconds
    outside = copy_context()  # what others do meanwhile isn't counted as work of the search

    def tick() -> None:
        if outside.run(meanwhile) or time.monotonic() > deadline:
            raise OutOfTime

    definedness = True
    # The algebra looks at no clock: its work is limited as well.
    with limited(int(WORK * max(seconds, 1))) as left:
        try:
            w = Workbench(statement, tick, lemmas)
            _make_sense(w)
            definedness = False
            w.failed.clear()
            w.instanced.clear()
            establish(w, statement.goal)
        except OutOfTime:
            return Failure(f"no proof within {seconds:g} s", None, definedness)
        except Stuck as stuck:
            reason = "a relation is not established"
            return Failure(reason, stuck.relation, definedness, final=left[0] >= 0)
        except NotDefined as problem:
            return Failure(str(problem), problem.condition, True, final=left[0] >= 0)
        except (TooLarge, StatementError) as problem:
            return Failure(str(problem), None, definedness, final=left[0] >= 0)
    return pruned(w)


def _make_sense(w: Workbench) -> None:
    """The hypotheses, each once it is defined, and that declarations and goal are defined."""
    w.declare_all()
    for index, hypothesis in enumerate(w.statement.hypotheses):
        _define(w, hypothesis)
        w.take({"rule": "hypothesis", "index": index})
        w.failed.clear()
    cite(w, of_gaussians=False)
    for duty in duties(w.statement):
        establish(w, duty)
    for declaration in w.statement.declarations:
        if declaration.type.op == "gaussian_type":
            for parameter in declaration.type.args:
                _define(w, parameter)
    declare_moments(w)
    cite(w, of_gaussians=True)
    _define(w, w.statement.goal)


def _define(w: Workbench, root: Term) -> None:
    """All conditions for a term to be defined, those of inner terms first."""
    for condition in reversed(w.facts.conditions(root)):
        establish(w, condition)
