"""JSON with the position of each value, so that values can be added and removed in place.

Everything else keeps its characters: order, indentation, line ends and numbers.
"""

import json
import re
from collections.abc import Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # what json itself reads texts with
from typing import Any, Final

import msgspec

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_PLAIN: Final = re.compile(r"[^\s,\]}]+")
_DEEPEST: Final = 100
_INDENT: Final = "  "


class NotJson(Exception):
    """Raised for a text that is not a JSON document."""


class Node(msgspec.Struct, frozen=True):
    """A value and its position.

    Attributes:
        start: the place of its first character.
        end: the place behind its last one.
        value: the value.
        names: of an object, the name of each item.
        items: of an object or an array, its values in order.
        starts: where each item starts; of an object, where its name does.
    """

    start: int
    end: int
    value: Any
    names: tuple[str, ...] = ()
    items: tuple["Node", ...] = ()
    starts: tuple[int, ...] = ()

    def get(self, name: str) -> "Node | None":
        """Return the item of this name: the last one, as readers of JSON take it."""
        for at in range(len(self.names) - 1, -1, -1):
            if self.names[at] == name:
                return self.items[at]
        return None


class Edit(msgspec.Struct, frozen=True):
    """A part of a text that another one takes the place of."""

    start: int
    end: int
    text: str


def parsed(text: str) -> Node:
    """Return the document of a text.

    Raises:
        NotJson: it is not JSON; the message says where.
    """
    try:
        json.loads(text)
        at = _skip(text, 0)
        return _node(text, at, 0)
    except json.JSONDecodeError as error:
        message = f"line {error.lineno}: {error.msg}"
        raise NotJson(message) from None
    except (RecursionError, ValueError) as error:
        raise NotJson(str(error)) from None


def _node(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        message = "it is nested too deeply"
        raise NotJson(message)
    if text[at] == "{":
        return _container(text, at, depth, "}")
    if text[at] == "[":
        return _container(text, at, depth, "]")
    if text[at] == '"':
        value, end = scanstring(text, at + 1, True)
        return Node(at, end, value)
    found = _PLAIN.match(text, at)
    assert found is not None  # noqa: S101 - json has read it
    return Node(at, found.end(), json.loads(found.group()))


def _container(text: str, start: int, depth: int, closing: str) -> Node:
    names: list[str] = []
    items: list[Node] = []
    starts: list[int] = []
    at = _skip(text, start + 1)
    while text[at] != closing:
        starts.append(at)
        if closing == "}":
            name, at = scanstring(text, at + 1, True)
            names.append(name)
            at = _skip(text, _skip(text, at) + 1)
        items.append(_node(text, at, depth + 1))
        at = _skip(text, items[-1].end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    values = [each.value for each in items]
    value = dict(zip(names, values, strict=True)) if closing == "}" else values
    return Node(start, at + 1, value, tuple(names), tuple(items), tuple(starts))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def added(text: str, into: Node, value: object, *, name: str | None = None) -> Edit:
    """Return the edit that adds an item behind the last one, laid out as the others are.

    Args:
        text: the document.
        into: an object or an array in it.
        value: the value to add.
        name: its name, for an object.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    outer = _indentation(text, into.start)
    if into.items:
        last = into.items[-1]
        before = text[into.starts[-1] - _space_before(text, into.starts[-1]) : into.starts[-1]]
        is_split = "\n" in before
        inner = before.rpartition("\n")[2] if is_split else ""
        lead = f",{newline}{inner}" if is_split else ", "
        step = inner.removeprefix(outer) or _INDENT
        written = _written(value, name, inner, step, newline, is_split=is_split)
        return Edit(last.end, last.end, lead + written)
    step = _unit(text)
    inner = outer + step
    written = _written(value, name, inner, step, newline, is_split=True)
    body = f"{newline}{inner}{written}{newline}{outer}"
    return Edit(into.start + 1, into.end - 1, body)


def removed(of: Node, places: Sequence[int]) -> list[Edit]:
    """Return the edits that take items out of an object or an array, with their commas."""
    gone = set(places)
    if len(gone) == len(of.items):
        return [Edit(of.start + 1, of.end - 1, "")]
    edits = []
    for place in sorted(gone):
        if any(other not in gone for other in range(place)):
            edits.append(Edit(of.items[place - 1].end, of.items[place].end, ""))
        else:
            edits.append(Edit(of.starts[place], of.starts[place + 1], ""))
    return edits


def _space_before(text: str, at: int) -> int:
    """Return the number of white characters before a place."""
    return at - len(text[:at].rstrip(" \t\r\n"))


def _indentation(text: str, at: int) -> str:
    """Return the white characters that the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """Return by how much a document indents: that of its first indented line."""
    found = re.search(r"\n([ \t]+)\S", text)
    return _INDENT if found is None else found.group(1)


def _written(
    value: object, name: str | None, inner: str, step: str, newline: str, *, is_split: bool
) -> str:
    indent = step if is_split else None
    lines = json.dumps(value, indent=indent, ensure_ascii=False).split("\n")
    whole = f"{newline}{inner}".join(lines)
    return whole if name is None else f"{json.dumps(name, ensure_ascii=False)}: {whole}"
