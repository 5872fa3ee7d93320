"""Untrusted. From a statement to a certificate, or to what stood in the way."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proofs.checker.algebra import TooLarge
from proofs.checker.definedness import NotDefined, obligations
from proofs.checker.facts import duties
from proofs.checker.judge import Rejected, check
from proofs.language.effort import limited
from proofs.language.errors import StatementError
from proofs.language.tree import Statement, Term
from proofs.search.conditions import establish
from proofs.search.gaussians import declare_moments
from proofs.search.ideal import OutOfTime
from proofs.search.prune import pruned
from proofs.search.workbench import Stuck, Workbench

WORK = 400_000  # elementary operations of the algebra for each second of the budget


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no certificate.

    `missing` is the relation that could not be established, and `definedness` says that it is
    needed for the statement to have a meaning.
    """

    reason: str
    missing: Term | None = None
    definedness: bool = False


def prove(
    statement: Statement, seconds: float = 10.0, lemmas: Mapping[str, Statement] | None = None
) -> dict[str, Any] | Failure:
    """A certificate that the checker accepts, or the reason why none was found.

    Args:
        statement: a well-typed statement.
        seconds: the budget of wall-clock time.
        lemmas: statements that may be cited, by hash.
    """
    definedness = True
    try:
        # The algebra looks at no clock: its work is limited as well.
        with limited(int(WORK * max(seconds, 1))):
            w = Workbench(statement, time.monotonic() + seconds, lemmas)
            _make_sense(w)
            definedness = False
            w.failed.clear()
            w.instanced.clear()
            establish(w, statement.goal)
    except OutOfTime:
        return Failure(f"no proof within {seconds:g} s", None, definedness)
    except Stuck as stuck:
        return Failure("a relation is not established", stuck.relation, definedness)
    except NotDefined as problem:
        return Failure(str(problem), problem.condition, True)
    except (TooLarge, StatementError) as problem:
        return Failure(str(problem), None, definedness)
    certificate = pruned(w)
    try:
        check(statement, certificate, lemmas)
    except Rejected as problem:
        return Failure(f"the pruned certificate is rejected: {problem}")
    return certificate


def _make_sense(w: Workbench) -> None:
    """The hypotheses, each once it is defined, and that declarations and goal are defined."""
    w.declare_all()
    for index, hypothesis in enumerate(w.statement.hypotheses):
        _define(w, hypothesis)
        w.take({"rule": "hypothesis", "index": index})
        w.failed.clear()
    for duty in duties(w.statement):
        establish(w, duty)
    for declaration in w.statement.declarations:
        if declaration.type.op == "gaussian_type":
            for parameter in declaration.type.args:
                _define(w, parameter)
    declare_moments(w)
    _define(w, w.statement.goal)


def _define(w: Workbench, root: Term) -> None:
    """All conditions for a term to be defined, those of inner terms first."""
    for condition in reversed(obligations(root, w.facts.scope)):
        establish(w, condition)
