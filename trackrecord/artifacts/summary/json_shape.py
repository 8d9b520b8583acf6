"""The outermost shape of a JSON document: its keys, and how many items each one has.

A large document is read token by token: ten megabytes of small numbers would take three
hundred and more as objects, even as views (msgspec.Raw, measured).
"""

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import msgspec

_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_FLAT = rb'(?:[^\[\]{}"]++|' + _STRING + rb")*+"
# A container that holds no other one is one token.
_TOKEN: Final = re.compile(
    rb"(?P<string>" + _STRING + rb")|(?P<flat>\[" + _FLAT + rb"\]|\{" + _FLAT + rb"\})"
    rb"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)",
    re.DOTALL,
)
_IN_FLAT: Final = re.compile(_STRING, re.DOTALL)
_SPACE: Final = re.compile(rb"\s*+")
_KEYS_TOLD = 24
_SMALL = 2 * 1024 * 1024
_items: Final = msgspec.json.Decoder(list[msgspec.Raw])
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass
class Shape:
    """The outermost shape of a JSON object or array.

    Attributes:
        is_object: whether it is an object, else an array.
        items: its number of members or items.
        keys: the first keys of an object, each with how many items its value has; None where the
            value holds none.
    """

    is_object: bool
    items: int = 0
    keys: list[tuple[str, int | None]] = field(default_factory=list)


def json_shape(data: bytes) -> Shape | None:
    """Return the shape of a JSON object or array; None when the bytes are neither."""
    first = data[:64].lstrip()[:1]
    if first not in (b"{", b"[") or not _is_json(data):
        return None
    if len(data) <= _SMALL:
        return _decoded(data, is_object=first == b"{")
    return _walked(data, is_object=first == b"{")


def _decoded(data: bytes, *, is_object: bool) -> Shape:
    """Return the shape from views into the document: fast, with some 50 bytes per member."""
    if not is_object:
        return Shape(is_object, len(_items.decode(data)))
    members = _members.decode(data)
    told = islice(members.items(), _KEYS_TOLD)
    return Shape(is_object, len(members), [(key, _items_in(value)) for key, value in told])


def _items_in(value: msgspec.Raw) -> int | None:
    first = bytes(memoryview(value)[:1])
    if first == b"[":
        return len(_items.decode(value))
    return len(_members.decode(value)) if first == b"{" else None


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


def _walked(data: bytes, *, is_object: bool) -> Shape:
    """Return the shape from tokens, in hardly any memory; a duplicate key counts twice."""
    shape = Shape(is_object)
    start = data.index(b"{" if is_object else b"[")
    end = max(data.rfind(b"}"), data.rfind(b"]"))
    if _is_space(data, start + 1, end):
        return shape
    shape.items = 1
    walk = _ShapeWalk(shape)
    for token in _TOKEN.finditer(data, start + 1, end):
        walk.step(token)
    return shape


@dataclass
class _ShapeWalk:
    """A walk through a document, within its outermost container."""

    shape: Shape
    depth: int = 1
    key: str | None = None
    inner: int = 0

    def step(self, token: re.Match[bytes]) -> None:
        kind = token.lastgroup
        if kind == "open":
            self.depth += 1
            if self.depth == 2:
                self.inner = 1
        elif kind == "close":
            self.depth -= 1
            if self.depth == 1:
                self._tell(self.inner)
        elif self.depth == 1:
            self._member(token, kind)
        elif self.depth == 2 and kind == "comma":
            self.inner += 1

    def _member(self, token: re.Match[bytes], kind: str | None) -> None:
        if kind == "comma":
            self.shape.items += 1
            self.key = None
        elif kind == "flat" and self.key is not None:
            self._tell(_flat_items(token.group()))
        elif kind == "string" and self._awaits_key():
            self.key = _text(token.group())
            self.shape.keys.append((self.key, None))

    def _awaits_key(self) -> bool:
        return self.shape.is_object and self.key is None and len(self.shape.keys) < _KEYS_TOLD

    def _tell(self, items: int) -> None:
        if self.key is not None:
            self.shape.keys[-1] = (self.key, items)


def _is_space(data: bytes, start: int, end: int) -> bool:
    space = _SPACE.match(data, start, end)
    return space is not None and space.end() == end


def _flat_items(container: bytes) -> int:
    inside = container[1:-1]
    if not inside.strip():
        return 0
    commas = inside.count(b",")
    if b'"' in inside:
        commas -= sum(each.group().count(b",") for each in _IN_FLAT.finditer(inside))
    return commas + 1


def _text(string: bytes) -> str:
    # Already checked, except for bytes that are not UTF-8.
    return msgspec.json.decode(string, type=str)
