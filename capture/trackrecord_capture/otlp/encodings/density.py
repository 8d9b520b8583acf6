"""The wire format of protobuf, as far as bodies are looked at before or without parsing them whole.

How many messages a body holds is counted first.

An empty message takes two bytes on the wire and up to two hundred in memory. Within the largest
size of a body, that makes two gigabytes.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

# Bodies below this size are parsed without being counted: the worst of them takes 100 MB.
_SMALL: Final = 1024 * 1024
_MOST_MESSAGES: Final = 1_000_000
_VARINT, _FIXED64, _SIZED, _FIXED32 = 0, 1, 2, 5
_WIDTHS: Final = {_FIXED64: 8, _FIXED32: 4}


def is_too_dense(body: bytes, kind: Any) -> bool:  # noqa: ANN401 - descriptors have no common static type
    """Return whether a body holds more messages than may be made of it.

    Args:
        body: the wire format; where it is malformed, the parser says so.
        kind: the descriptor of the message.
    """
    return len(body) > _SMALL and messages_in(body, kind) > _MOST_MESSAGES


def messages_in(body: bytes, kind: Any) -> int:  # noqa: ANN401 - as above
    """Return how many messages lie in a message, counted up to the most that are permitted.

    Args:
        body: as for `is_too_dense`.
        kind: as for `is_too_dense`.
    """
    count = 0
    waiting = [(0, len(body), kind)]
    while waiting and count <= _MOST_MESSAGES:
        place, end, within = waiting.pop()
        below = _messages_below(within)
        while place < end and count <= _MOST_MESSAGES:
            tag, place = _varint(body, place, end)
            wire_type = tag & 7
            if wire_type == _VARINT:
                _, place = _varint(body, place, end)
            elif wire_type == _SIZED:
                size, place = _varint(body, place, end)
                held = below.get(tag >> 3)
                if held is not None:
                    count += 1
                    if size:
                        waiting.append((place, min(place + size, end), held))
                place += size
            else:
                # A group, or nothing that there is, ends this message.
                place += _WIDTHS.get(wire_type, end)
    return count


def held_in(body: bytes, number: int) -> Iterator[bytes]:
    """Return the contents of a protobuf field, as far as its values have a length.

    Raises:
        ValueError: the body is cut off, or holds what is not the wire format.
    """
    place, end = 0, len(body)
    while place < end:
        tag, place = _varint(body, place, end)
        wire_type, size = tag & 7, 0
        if wire_type == _VARINT:
            _, place = _varint(body, place, end)
        elif wire_type == _SIZED:
            size, place = _varint(body, place, end)
            if tag >> 3 == number and place + size <= end:
                yield body[place : place + size]
        else:
            size = _WIDTHS.get(wire_type, end + 1)
        place += size
    if place > end:
        message = "the message is cut off"
        raise ValueError(message)


@cache
def _messages_below(kind: Any) -> dict[int, Any]:  # noqa: ANN401 - as above
    """Return the fields of a message that hold messages, by number."""
    return {field.number: field.message_type for field in kind.fields if field.message_type}


def _varint(body: bytes, place: int, end: int) -> tuple[int, int]:
    """Return an integer and the place behind it; 0 and the end if it is cut off."""
    number = shift = 0
    while place < end:
        byte = body[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, place
        shift += 7
        if shift > 63:
            break
    return 0, end
