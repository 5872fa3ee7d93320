"""Soundness, tried hard: certificates changed in every way, and bound to statements that are false.

All proved statements take part: the theorems of the library, and the given statements that a short
search proves. Two attacks on the checker:

 - **tampering**: each certificate is changed, one change of each kind in turn. A change may leave a
   proof (a step that no one needed is lost). So whatever the judge accepts is held against the
   evaluator, which shares no code with it: each new fact must be true, and defined, at exact models
   of the hypotheses.
 - **mutants**: small changes of the statements themselves, one or two at once, with the theorem's
   certificate bound to each in several ways. What is accepted must resist the refuter, and must be
   shown to be as true as the original. Of the others, a sample is held against the refuter, which
   shows how many of them are false indeed.

Anything but a rejection, a proof that stays a proof, or a true mutant is a hole, and printed.
"""

from benchmarks.soundness.cases import Proved
from benchmarks.soundness.certificates import tamper
from benchmarks.soundness.mutated import mutate
from benchmarks.soundness.run import Result, as_json, as_text, run

__all__ = ["Proved", "Result", "as_json", "as_text", "mutate", "run", "tamper"]
