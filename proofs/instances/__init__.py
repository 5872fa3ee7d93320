"""Draws models of a statement: small first, special structures on purpose, hypotheses by design.

A model drawn here is only a proposal: whether it satisfies the hypotheses is decided by the
evaluator. What is cheap to arrange is arranged: declared domains, structures that hypotheses name
(definite, orthogonal, idempotent, ...), blocks of a definite matrix, order between matrices,
nested partitions, and every equation that is linear in some letter, which is solved exactly, with
slopes of functions among the letters (so that `diff(v(t), t) = ...` holds at the point).
"""

from proofs.instances.domains import conforms
from proofs.instances.stream import Instances

__all__ = ["Instances", "conforms"]
