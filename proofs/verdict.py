"""What can be said of a statement: one enum, used everywhere, with no truth value."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NoReturn


class Verdict(Enum):
    """The answer to a statement. Its value is the word that is printed.

    `if verdict:` is an error, so that "unknown" is never read as "false" or "true":

        >>> Verdict.OPEN is Verdict.PROVED
        False
        >>> bool(Verdict.REFUTED)
        Traceback (most recent call last):
        TypeError: a verdict has no truth value; compare it, as in `verdict is Verdict.PROVED`
    """

    PROVED = "proved"  # from the hypotheses and the checker's rules alone
    CONDITIONAL = "conditional"  # from cited facts too, which are named
    CHECKED = "checked"  # not proved, and no counterexample on the stated instances
    OPEN = "open"  # nothing found in the time given
    REFUTED = "refuted"  # an exact counterexample
    ILL_POSED = "ill-posed"  # says nothing, or can be undefined

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a verdict has no truth value; compare it, as in `verdict is Verdict.PROVED`"
        )

    def __str__(self) -> str:
        return self.value

    @property
    def exit_status(self) -> int:
        """0 proved; 1 refuted; 2 conditional, checked or open; 3 ill-posed."""
        return _EXIT_STATUS[self]


_EXIT_STATUS = {
    Verdict.PROVED: 0,
    Verdict.REFUTED: 1,
    Verdict.CONDITIONAL: 2,
    Verdict.CHECKED: 2,
    Verdict.OPEN: 2,
    Verdict.ILL_POSED: 3,
}


def weakest(verdicts: Iterable[Verdict]) -> Verdict:
    """What can be said of several statements that must all hold.

    A false one makes all of it false, a meaningless one leaves nothing to say; else the least
    that was shown of any of them.

        >>> weakest([Verdict.PROVED, Verdict.CONDITIONAL])
        <Verdict.CONDITIONAL: 'conditional'>

    Raises:
        ValueError: there are none.
    """
    order = list(Verdict)
    return max(verdicts, key=order.index)
