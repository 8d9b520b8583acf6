"""Outcomes as JSON Lines: each line an object as the wire format describes it.

A file may also be one JSON document: a list of outcomes, or one outcome over several lines. Whoever
reads outcomes from files or pipes reads them here, so that one rule says which are the same.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from trackrecord.errors import ImportFormatError, InvalidOutcome
from trackrecord.wire.outcome import MAX_BODY_BYTES, decode_reported
from trackrecord.wire.storable import storable

_ID_DIGITS = 32


@dataclass(frozen=True)
class Imported:
    """A recorded run as an outcome.

    Attributes:
        place: where it stands, for example "line 3".
        fields: fields of the wire format; outcome_id is among them. The timestamp is missing
            where the recording has none.
    """

    place: str
    fields: dict[str, Any]


@dataclass(frozen=True)
class BadLine:
    """Something that is not an outcome; the import continues with the others.

    Attributes:
        place: where it stands, for example "line 3".
        reason: what is wrong, in one line, without its content.
    """

    place: str
    reason: str


def stable_id(prefix: str, content: bytes) -> str:
    """Return an outcome_id that depends on a record's content alone."""
    return f"{prefix}-{hashlib.sha256(content).hexdigest()[:_ID_DIGITS]}"


# A document is held in memory as a whole; lines are not.
MAX_DOCUMENT_BYTES: Final = 64 * 1024 * 1024
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def read_jsonl(path: Path) -> Iterator[Imported | BadLine]:
    """Read the outcomes of a file; see `read_outcomes`.

    Raises:
        ImportFormatError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            yield from read_outcomes(file)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise ImportFormatError(message) from None


def read_outcomes(
    file: BinaryIO, *, max_bytes: int = MAX_BODY_BYTES
) -> Iterator[Imported | BadLine]:
    """Read outcomes one by one from JSON Lines or from one JSON document.

    An outcome without an outcome_id gets one from its content and from how many equal ones came
    before it: two equal lines are two outcomes, and the same ones when the file is read again.
    Space between the parts of an outcome does not matter. Empty lines are skipped.

    Args:
        file: read once, from where it stands; a byte order mark at its start is skipped.
        max_bytes: the longest line that is allowed; a longer one is refused, and never held in
            memory.
    """
    seen: Counter[str] = Counter()
    for place, text in _texts(_pieces(file, max_bytes), max_bytes):
        try:
            fields = _fields(text, max_bytes)
        except InvalidOutcome as error:
            yield BadLine(place, str(error))
            continue
        if "outcome_id" not in fields:
            fields["outcome_id"] = _id_by_content(text, seen)
        yield Imported(place, fields)


def _fields(text: bytes, max_bytes: int) -> dict[str, Any]:
    """Return the fields of an outcome, without null ones.

    Only a success that is null says something: nobody knows it.

    Raises:
        InvalidOutcome: the text is not an outcome.
    """
    if b"null" in text and len(text) <= max_bytes:
        text = _without_nulls(text)
    decode_reported(text, max_bytes=max_bytes)
    try:
        fields: dict[str, Any] = msgspec.json.decode(text)
    except (ValueError, RecursionError):  # in a field that is not of the wire format
        message = "an unknown field cannot be read"
        raise InvalidOutcome(message) from None
    return fields


def _without_nulls(text: bytes) -> bytes:
    try:
        fields = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return text  # the check of the outcome will report the error
    return msgspec.json.encode(
        {name: raw for name, raw in fields.items() if name == "success" or bytes(raw) != b"null"}
    )


def _id_by_content(text: bytes, seen: Counter[str]) -> str:
    by_content = stable_id("line", _compact(text))
    seen[by_content] += 1
    occurrence = seen[by_content]
    return by_content if occurrence == 1 else f"{by_content}-{occurrence}"


def _compact(text: bytes) -> bytes:
    return msgspec.json.format(text, indent=-1)


def _pieces(file: BinaryIO, max_bytes: int) -> Iterator[bytes]:
    """Yield the lines with their ends; a line that is too long comes in pieces."""
    return iter(lambda: storable(file.readline(max_bytes + 2)), b"")


def _texts(pieces: Iterator[bytes], max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Yield the place and the JSON of each outcome."""
    held = _up_to_first_text(pieces)
    if held and _begins_a_document(held[-1], max_bytes):
        _hold_more(held, pieces, MAX_DOCUMENT_BYTES)
        items = _items(b"".join(held))
        if items is not None:
            yield from ((f"item {number}", item) for number, item in enumerate(items, start=1))
            return
    # Not a document, or one that is too long: then each line is judged by itself.
    for number, line in _numbered_lines(chain(held, pieces)):
        yield f"line {number}", line


def _up_to_first_text(pieces: Iterator[bytes]) -> list[bytes]:
    held = []
    for piece in pieces:
        held.append(piece)
        if _content(piece):
            break
    return held


def _content(piece: bytes) -> bytes:
    # A file that was written on Windows may begin with a byte order mark.
    return piece.removeprefix(_BYTE_ORDER_MARK).strip()


def _begins_a_document(piece: bytes, max_bytes: int) -> bool:
    """Return whether a first line may begin a list, or an object that goes on."""
    content = _content(piece)
    if content.startswith(b"["):
        return True
    return content.startswith(b"{") and len(piece) <= max_bytes and not _is_object(content)


def _hold_more(held: list[bytes], pieces: Iterator[bytes], most: int) -> None:
    """Read more pieces into memory, until they exceed the size of a document."""
    size = sum(map(len, held))
    while size <= most and (piece := next(pieces, b"")):
        held.append(piece)
        size += len(piece)


def _items(text: bytes) -> list[bytes] | None:
    """Return the outcomes of a document, each compact; None if it is not a list or an object."""
    document = _content(text)
    if _is_object(document):
        return [_compact(document)]
    try:
        items = msgspec.json.decode(document, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return [_compact(bytes(item)) for item in items]


def _is_object(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


def _numbered_lines(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield non-empty lines with their numbers; only the start of a line that is too long."""
    for number, piece in enumerate(pieces, start=1):  # what follows takes the rest of a line away
        rest = piece
        while rest and not rest.endswith(b"\n"):
            rest = next(pieces, b"")
        content = _content(piece) if number == 1 else piece.strip()
        if content:
            yield number, content
