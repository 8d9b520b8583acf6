"""Parts of an artifact: by lines, by bytes, a page at a time; and whether a call asked for one."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Literal, Self

from .contents import before_character


@dataclass
class OngoingCall:
    """One call of a wrapped tool.

    Attributes:
        within: the wrapped tool that calls it, if any.
        has_retrieved: whether it asked for an artifact.
    """

    within: "OngoingCall | None"
    has_retrieved: bool = False


_current: ContextVar[OngoingCall | None] = ContextVar("trackrecord_tool_call", default=None)


@contextmanager
def tool_call() -> Iterator[OngoingCall]:
    """Treat the block as one call of a tool, with the tasks and threads that get its context."""
    call = OngoingCall(_current.get())
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)


def note_retrieval() -> None:
    """Note that the current tool call and those around it return retrieved content."""
    call = _current.get()
    while call is not None:
        call.has_retrieved = True
        call = call.within


Unit = Literal["lines", "bytes"]
# The size of a page where an artifact is read page by page.
PAGE_BYTES: Final = 10_000
_RANGE: Final = re.compile(r"([0-9]{0,15}):([0-9]{0,15})")


class RetrievedText(str):
    """Text from an artifact: it is never replaced by a summary again."""

    __slots__ = ()


class RetrievedBytes(bytes):
    """Bytes from an artifact: they are never replaced by a summary again."""

    __slots__ = ()


@dataclass(frozen=True)
class Range:
    """A requested part of an artifact.

    Attributes:
        unit: lines, counted from 1, or bytes, counted from 0.
        start: the first one.
        last: the last one, which belongs to the part; None: up to the end.
    """

    unit: Unit
    start: int
    last: int | None = None

    @classmethod
    def parse(cls, unit: Unit, text: str) -> Self:
        """Parse a range written as `a:b`; either number may be missing.

        Raises:
            ValueError: the text is not a valid range.
        """
        match = _RANGE.fullmatch(text)
        lowest = _LOWEST[unit]
        if match is None:
            message = (
                f"{text!r} is not a range of {unit}: write {lowest}:{lowest + 99}, 100: or :99"
            )
            raise ValueError(message)
        return cls.checked(unit, int(match[1] or lowest), int(match[2]) if match[2] else None)

    @classmethod
    def checked(cls, unit: Unit, start: int, last: int | None) -> Self:
        """Return a range of this unit after checking its bounds.

        Raises:
            ValueError: it begins before the first one, or ends before it begins.
        """
        if start < _LOWEST[unit]:
            message = f"{unit} are counted from {_LOWEST[unit]}, not from {start}"
            raise ValueError(message)
        if last is not None and last < start:
            message = f"a range of {unit} cannot end at {last} and begin at {start}"
            raise ValueError(message)
        return cls(unit, start, last)


_LOWEST: Final[dict[Unit, int]] = {"lines": 1, "bytes": 0}


@dataclass(frozen=True)
class Page:
    """A part of an artifact.

    Attributes:
        id: the artifact.
        data: the part, byte for byte.
        start: the position of its first byte in the artifact.
        size: the bytes of the whole artifact.
        following: the range to ask for next; None if the requested part ends here.
    """

    id: str
    data: RetrievedBytes
    start: int
    size: int
    following: Range | None = None

    @property
    def text(self) -> RetrievedText:
        """The part as text; bytes that are not UTF-8 become U+FFFD."""
        return RetrievedText(self.data.decode("utf-8", "replace"))


def page_of(artifact_id: str, data: bytes, wanted: Range, max_bytes: int | None = None) -> Page:
    """Return the requested part of an artifact, or as much from its beginning as fits a page.

    A page holds whole lines when lines are asked for, but for a line that is longer than a page:
    there the page ends within the line, and the rest of it is asked for by bytes.

    Args:
        artifact_id: the artifact.
        data: the whole of it.
        wanted: the part; it is empty beyond the end.
        max_bytes: how much fits a page; None for everything.
    """
    start, end = _span(data, wanted)
    if max_bytes is None or end - start <= max_bytes:
        return _page(artifact_id, data, start, end, None)
    if wanted.unit == "bytes":
        cut = _within(data, start, start + max_bytes)
        return _page(artifact_id, data, start, cut, Range("bytes", cut, wanted.last))
    cut = data.rfind(b"\n", start, start + max_bytes) + 1
    if cut > start:
        following = Range("lines", wanted.start + data.count(b"\n", start, cut), wanted.last)
        return _page(artifact_id, data, start, cut, following)
    cut = _within(data, start, start + max_bytes)
    return _page(artifact_id, data, start, cut, Range("bytes", cut, end - 1))


def _within(data: bytes, start: int, end: int) -> int:
    """Return an end that cuts no character, unless nothing would be left."""
    before = before_character(data, end)
    return before if before > start else end


def _page(artifact_id: str, data: bytes, start: int, end: int, following: Range | None) -> Page:
    return Page(artifact_id, RetrievedBytes(data[start:end]), start, len(data), following)


def _span(data: bytes, wanted: Range) -> tuple[int, int]:
    """Return the positions where the part begins and ends."""
    if wanted.unit == "bytes":
        start = min(wanted.start, len(data))
        return start, len(data) if wanted.last is None else min(wanted.last + 1, len(data))
    start = _line_start(data, 0, wanted.start - 1)
    if wanted.last is None:
        return start, len(data)
    return start, _line_start(data, start, wanted.last - wanted.start + 1)


def _line_start(data: bytes, place: int, skipped: int) -> int:
    """Return where the line begins that is `skipped` lines further on; the end beyond the last."""
    for _ in range(skipped):
        place = data.find(b"\n", place) + 1
        if place == 0:
            return len(data)
    return place
