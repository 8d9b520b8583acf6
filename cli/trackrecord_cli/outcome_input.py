"""Outcomes as people hand them in: JSON or JSON Lines, from a file or from standard input."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import msgspec

from trackrecord.errors import InvalidOutcome
from trackrecord_producers.body import build_wire_body


@dataclass(frozen=True)
class GivenOutcome:
    """An outcome that is in order.

    Attributes:
        outcome_id: the one given, else a new one.
        body: its wire form.
    """

    outcome_id: str
    body: bytes


@dataclass(frozen=True)
class BadLine:
    """Something that is no outcome.

    Attributes:
        place: where it stands, for example "line 3".
        reason: what is wrong, in one line.
    """

    place: str
    reason: str


def read_outcomes(
    source: BinaryIO, *, project: str, max_bytes: int
) -> Iterator[GivenOutcome | BadLine]:
    """Read outcomes one by one.

    JSON Lines are read line by line, however many they are. A source whose first line is no JSON
    by itself (a list, or an object written over several lines) is read as one JSON document.

    Args:
        source: open for reading bytes.
        project: of outcomes that name none.
        max_bytes: the largest body that is allowed.
    """
    for place, text in _texts(source):
        try:
            outcome_id, body = build_wire_body(_fields(text), project=project, max_bytes=max_bytes)
        except InvalidOutcome as error:
            yield BadLine(place, str(error))
        else:
            yield GivenOutcome(outcome_id, body)


def _texts(source: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """Each outcome's JSON, with the place where it stands."""
    numbered = ((number, line) for number, line in enumerate(source, start=1) if line.strip())
    for number, line in numbered:
        if number == 1 and not _is_object(line):
            rest = [line, *source]
            items = _document(b"".join(rest))
            yield from items or _lines(enumerate(rest, start=1))
            return
        yield f"line {number}", line


def _lines(numbered: Iterable[tuple[int, bytes]]) -> Iterator[tuple[str, bytes]]:
    return ((f"line {number}", line) for number, line in numbered if line.strip())


def _is_object(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


def _document(text: bytes) -> list[tuple[str, bytes]]:
    """The outcomes of one JSON document: a list of objects, or one object; else none."""
    if _is_object(text):
        return [("the document", text)]
    try:
        items = msgspec.json.decode(text, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return []
    return [(f"item {number}", bytes(item)) for number, item in enumerate(items, start=1)]


def _fields(text: bytes) -> dict[str, Any]:
    """An outcome's fields; their values stay undecoded but for those that are filled in."""
    try:
        fields: dict[str, Any] = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError) as error:
        message = f"no JSON object ({error})"
        raise InvalidOutcome(message) from None
    except RecursionError:
        message = "nested too deeply"
        raise InvalidOutcome(message) from None
    given = {name: value for name, value in fields.items() if bytes(value) != b"null"}
    if "outcome_id" in given:
        given["outcome_id"] = _text_or_raw(given["outcome_id"])
    return given


def _text_or_raw(value: msgspec.Raw) -> Any:  # noqa: ANN401 - what it is, the check of the body says
    try:
        return msgspec.json.decode(value, type=str)
    except (msgspec.MsgspecError, UnicodeError):
        return value
