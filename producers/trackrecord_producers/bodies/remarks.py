"""Log remarks on calls that are not quite right for the agent's author, once per kind."""

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from trackrecord.learning.text.spelling import closest

from ..delivery.diversion import current_diversion

Say = Callable[[str, str], None]

_SHOWN_CHARS: Final = 40
_MOST_NAMES: Final = 20
_NOTHING_IS_LEARNT: Final = "nothing is learnt from it; put data of your own into 'metadata'"


def say_unknown(where: str, names: Iterable[object], known: Iterable[str], say: Say) -> None:
    """Report each unknown name, and the field that may have been meant.

    Args:
        where: the object that has the field, for example "an outcome".
        names: as the agent gave them.
        known: the existing fields.
        say: takes the kind of the remark and its text.
    """
    known = sorted(known)
    # An object with names made up at run time, for example by id, must not cost more and more.
    for name in list(names)[:_MOST_NAMES]:
        shown = str(name)[:_SHOWN_CHARS]
        suggestion = closest(shown, known)
        hint = f"did you mean {suggestion!r}?" if suggestion else _NOTHING_IS_LEARNT
        say(f"unknown {where} {shown}", f"{where} has no field {shown!a}: {hint}")


_log = logging.getLogger("trackrecord")
# Names of fields may be made up at run time: neither memory nor the log may grow with them.
_MOST_KINDS = 100


class Remarks:
    """Log lines of which each kind comes once in a process.

    Needs no lock, so that a fork may happen at any time: two threads that say the same thing at
    the same moment are two lines.
    """

    def __init__(self) -> None:
        self._said: set[str] = set()

    def say(self, kind: str, message: str) -> None:
        """Log a warning unless its kind was logged before; never raises."""
        if kind in self._said or len(self._said) > _MOST_KINDS:
            return
        self._said.add(kind)
        if len(self._said) > _MOST_KINDS:
            message = "further remarks on fields are not logged in this process"
        # The agent's own handlers and filters are called here.
        with suppress(Exception):
            _log.warning("%s", message)


_of_this_process = Remarks()


def remark(kind: str, message: str) -> None:
    """Log a remark, once for each kind; inside `captured()` keep it for the test."""
    diversion = current_diversion()
    if diversion is None:
        _of_this_process.say(kind, message)
    else:
        diversion.remark(message)
