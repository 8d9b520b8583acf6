"""The kinds of reports that the stream carries: the one list of them.

A new kind is a row here, a module of this package that decodes its body (`trackrecord.wire.recall`
has `decode_recall`), and an `EntryKind` of the worker in `trackrecord_worker.learning.entries`.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final, Literal, NamedTuple

import msgspec

from trackrecord.learning.text.project_names import DEFAULT_PROJECT
from trackrecord.process.forking import not_while_forking

# The field of an entry, and of a line of the spool, that says: its secrets were replaced by the
# producer. The worker replaces them in an entry without it.
MARK: Final = "redacted"

Kind = Literal["outcome", "memory", "exposure", "recall", "feedback", "error", "hint"]


class KindOfReport(NamedTuple):
    """One kind of report.

    Attributes:
        field: the field of a stream entry, and of a line of the spool, that holds the body.
        counted_as: the name that learnt entries are counted under; None for outcomes, which are
            counted by what became of each.
    """

    field: str
    counted_as: str | None


KINDS: Final[Mapping[Kind, KindOfReport]] = {
    "outcome": KindOfReport("body", None),
    "memory": KindOfReport("memory", "memories"),
    "exposure": KindOfReport("exposure", "exposures"),
    "recall": KindOfReport("recall", "recalls"),
    "feedback": KindOfReport("feedback", "feedback"),
    "error": KindOfReport("error", "errors"),
    "hint": KindOfReport("hint", "hints"),
}


class _Named(msgspec.Struct):
    project: str = DEFAULT_PROJECT


_named_decoder: Final = msgspec.json.Decoder(_Named)


def project_in(body: bytes | str) -> str | None:
    """Return the project that a body of any kind names; None if it cannot be read."""
    try:
        return _named_decoder.decode(body).project
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def decoder_of(kind: Kind) -> Callable[..., object]:
    """Return the function that checks a body of a kind, from the module that is named after it.

    Most processes never decode most kinds, and some modules take long to import.
    """
    with not_while_forking():
        module = import_module(f"trackrecord.wire.{kind}")
    decoder: Callable[..., object] = getattr(module, f"decode_{kind}")
    return decoder
