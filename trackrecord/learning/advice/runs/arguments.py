"""Shapes of arguments: of which kind each argument of a call is, without its value.

What a failing call changed before it worked is found by comparing shapes. Of a value no more is
kept than its kind and a digest so short that many values share it; of an id like "order_1042" its
prefix, too, which is told only where `lessons.counting.arguments` finds that it names a kind.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple
from zlib import crc32

import msgspec

_MOST: Final = 16
_LONGEST_NAME: Final = 64
_LONGEST_ARGUMENTS: Final = 64 * 1024
_SHORT_DIGEST: Final = 0xFFFF
_SHORT_TEXT: Final = 60
_NAME: Final = re.compile(r"[A-Za-z_][\w-]*")
# Two words at most, with the separator that the digits follow: `gift_card_1042`, `ord-77120`.
_PREFIXED: Final = r"((?:[a-z]{2,20}[_-]){1,2})\d{3,20}"
# The first one that a whole text matches is its shape.
_SHAPES: Final = (
    (r"\d{4}-\d\d-\d\d", "a date"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S{0,20}", "a time"),
    (r"[^\s@]{1,200}@[^\s@]{1,200}", "a mail address"),
    (r"(?i:[a-z][a-z0-9+.-]{1,15}://\S{1,2000})", "a URL"),
    (r"[-+]?\d{1,400}", "digits"),
    (r"[-+]?\d{1,400}[.,]\d{1,400}", "a decimal number as text"),
    (r"(?=\S*\d)[0-9a-fA-F]{7,64}(?:-[0-9a-fA-F]{2,32}){0,8}", "a hexadecimal id"),
    (r"(?=\S*\d)[A-Z0-9]{2,64}", "capitals and digits"),
    (r"[^\s\\/]{0,1000}[\\/]\S{0,1000}", "a path"),
    (r"(?=\S*\d)\S{1,200}", "a word with digits"),
    (r"\S{1,200}", "a word"),
)
# All of them in one expression, each a group; the prefix is the first group.
_SHAPED: Final = re.compile("|".join([_PREFIXED, *(f"({pattern})" for pattern, _ in _SHAPES)]))
MISSING: Final = "missing"
_PREFIX_END: Final = "…"

_json: Final = msgspec.json.Decoder()
_encoder: Final = msgspec.msgpack.Encoder()


class CallArgument(NamedTuple):
    """One argument of a call.

    Attributes:
        shape: of which kind its value is.
        digest: 16 bits of a digest: equal values have equal ones.
    """

    shape: str
    digest: int


_decoder: Final = msgspec.msgpack.Decoder(dict[str, CallArgument])


def noted_arguments(arguments: bytes) -> bytes:
    """Return the shapes of a call's arguments as they are stored; b"" if it names none.

    Args:
        arguments: the arguments as JSON: an object, or a text that holds one. The members of an
            argument that is an object count as arguments. The first sixteen are kept.
    """
    found = shapes_of(arguments)
    return _encoder.encode(found) if found else b""


def shapes_of(arguments: bytes) -> dict[str, CallArgument]:
    """Return the arguments of a call by name; empty if it names none."""
    if len(arguments) > _LONGEST_ARGUMENTS:
        return {}
    try:
        named = _json.decode(arguments)
        if isinstance(named, str):
            named = _json.decode(named)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}
    if not isinstance(named, dict):
        return {}
    found: dict[str, CallArgument] = {}
    for name, value in _leaves(named) if dict in map(type, named.values()) else named.items():
        if len(name) <= _LONGEST_NAME and _is_name(name):
            said = crc32(name.encode() + _encoder.encode(value)) & _SHORT_DIGEST
            found[name] = CallArgument(_shape(value), said)
            if len(found) == _MOST:
                break
    return found


# The same few names come again and again.
@lru_cache(maxsize=4096)
def _is_name(name: str) -> bool:
    return all(map(_NAME.fullmatch, name.split(".")))


# Calls of a run share few of them, but the same runs are read again and again.
@lru_cache(maxsize=4096)
def arguments_of(noted: bytes) -> Mapping[str, CallArgument]:
    """Return the arguments of a call by name, from what `noted_arguments` returned."""
    return _decoder.decode(noted) if noted else {}


def only_change(before: bytes, after: bytes) -> tuple[str, str, str] | None:
    """Return the one argument that differs between two calls, with both shapes.

    None if several do, or none, or if the values differ within one shape.
    """
    one, other = arguments_of(before), arguments_of(after)
    changed = [name for name in {**one, **other} if (one.get(name) != other.get(name))]
    if len(changed) != 1:
        return None
    name = changed[0]
    shapes = tuple(each[name].shape if name in each else MISSING for each in (one, other))
    return None if shapes[0] == shapes[1] else (name, shapes[0], shapes[1])


def prefix_of(shape: str) -> str:
    """Return the prefix of ids of a shape; "" for all other shapes."""
    return shape.removesuffix(_PREFIX_END) if shape.endswith(_PREFIX_END) else ""


def _leaves(named: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in named.items():
        if isinstance(value, dict) and value:
            yield from ((f"{name}.{inner}", each) for inner, each in value.items())
        else:
            yield name, value


def _shape(value: object) -> str:
    if value.__class__ is str:  # nearly always
        return _text(value)
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _number(value)
        case str():
            return _text(value)
        case list():
            return "a list of several" if len(value) > 1 else f"a list of {len(value)}"
        case _:
            return "an object"


def _number(value: float) -> str:
    if value == 0:
        return "zero"
    sign = "a negative" if value < 0 else "a"
    return f"{sign} whole number" if value == int(value) else f"{sign} decimal number"


def _text(value: str) -> str:
    value = value.strip()
    if not value:
        return "an empty text"
    # Of what holds a space only a time has a shape.
    could_be = " " not in value or value[0].isdigit()
    if could_be and (shaped := _SHAPED.fullmatch(value)) and shaped.lastindex is not None:
        if shaped.lastindex == 1:
            return f"{shaped[1]}{_PREFIX_END}"
        return _SHAPES[shaped.lastindex - 2][1]
    return "a short text" if len(value) <= _SHORT_TEXT else "a long text"
