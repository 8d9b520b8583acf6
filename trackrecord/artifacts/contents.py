"""Outputs as bytes: their text, their lines, and the parts kept of one that is too large."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

# Work is done in pieces, so that a large output is not in memory several times over.
_PIECE = 256 * 1024


@dataclass(frozen=True)
class StoredPart:
    """The part of an output that is kept.

    Attributes:
        data: its bytes; of one that was cut: head, a line that says so, and tail.
        gone: how many bytes from its middle are not kept.
    """

    data: bytes
    gone: int = 0


def as_bytes(output: str | bytes) -> bytes:
    """Return an output's bytes; text becomes UTF-8, with lone surrogates as they are."""
    if isinstance(output, bytes):
        return output
    return output.encode("utf-8", "surrogatepass")


def characters_of(data: bytes) -> int | None:
    """Return the number of characters of a UTF-8 text; None if the bytes are not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        count = sum(len(decoder.decode(piece)) for piece in pieces(data))
        return count + len(decoder.decode(b"", final=True))
    except UnicodeDecodeError:
        return None


def lines_of(data: bytes) -> int:
    """Return the number of lines; text after the last line end counts as one."""
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def keep(data: bytes, max_bytes: int) -> StoredPart:
    """Return the whole output, or the head and tail of one with more than `max_bytes`.

    The kept part has at most `max_bytes`, including the line that stands for the middle.
    """
    if len(data) <= max_bytes:
        return StoredPart(data)
    room = (max_bytes - len(_missing(len(data), len(data)))) // 2
    head = before_character(data, room)
    tail = after_character(data, len(data) - room)
    return StoredPart(data[:head] + _missing(tail - head, len(data)) + data[tail:], tail - head)


def _missing(gone: int, size: int) -> bytes:
    text = f"\n[trackrecord: the middle is gone: {gone} of {size} bytes were not kept]\n"
    return text.encode()


def before_character(data: bytes, place: int) -> int:
    """Return the place, moved back to where a character of UTF-8 begins."""
    for back in range(min(4, place + 1)):
        if place - back >= len(data) or not _continues(data[place - back]):
            return place - back
    return place


def after_character(data: bytes, place: int) -> int:
    """Return the place, moved on to where a character of UTF-8 begins."""
    for on in range(4):
        if place + on >= len(data) or not _continues(data[place + on]):
            return min(place + on, len(data))
    return place


def _continues(byte: int) -> bool:
    return byte & 0xC0 == 0x80


def pieces(data: bytes) -> Iterator[memoryview]:
    """Yield the bytes piece by piece, without a copy."""
    view = memoryview(data)
    for start in range(0, len(data), _PIECE):
        yield view[start : start + _PIECE]


def line_blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the bytes in blocks that end where a line ends, each with its position.

    A line that is longer than a block is cut.
    """
    start = 0
    while start < len(data):
        end = start + _PIECE
        if end < len(data):
            last = data.rfind(b"\n", start, end)
            end = last + 1 if last >= start else end
        yield start, data[start:end]
        start = end
