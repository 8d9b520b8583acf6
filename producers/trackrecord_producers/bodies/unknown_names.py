"""Names that are not fields of the wire format, and the fields that were probably meant."""

from collections.abc import Callable, Iterable
from typing import Final

from trackrecord.learning.text.spelling import closest

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
