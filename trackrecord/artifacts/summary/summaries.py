"""Summaries of oversized outputs: their kind, their main facts, and how to read them back.

Pure. An output is whatever a page or a server said, so that of its text only names in the form of
names, what an error tells, and the first words of a line stand in the summary, the latter quoted.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from trackrecord.learning.text.error_summary import error_summary, opening
from trackrecord.learning.text.inert import ELLIPSIS, bounded, identifier

from ..contents import StoredPart, line_blocks, lines_of
from .json_shape import Shape, json_shape
from .kinds import OutputKind, declared, kind_of

_ERRORS: Final = (b"error", b"fatal", b"critical", b"panic", b"exception", b"traceback")
_WARNINGS: Final = (b"warn",)


def _lines_with(words: tuple[bytes, ...]) -> re.Pattern[bytes]:
    """Return a pattern that finds each line with one of the words once, as a whole word.

    A word with a negation does not count: "0 errors".
    """
    # The text in front is checked last: a search for a pattern that begins with letters is fast.
    apart = (rb"[a-z]", rb"\b0 ", rb"\bno ", rb"\bwithout ")
    branches = (word + b"".join(b"(?<!" + each + word + b")" for each in apart) for word in words)
    return re.compile(rb"(?:" + rb"|".join(branches) + rb")[^\n]*+")


_ERROR_LINE: Final = _lines_with(_ERRORS)
_LINE: Final = _lines_with((*_ERRORS, *_WARNINGS))


@dataclass(frozen=True)
class LineCounts:
    """The numbers of a log's lines with errors and with warnings.

    Attributes:
        errors: lines that mention an error.
        warnings: lines that mention a warning, but not an error.
        first_error: the position of the first line with an error; None without one.
    """

    errors: int
    warnings: int
    first_error: int | None


def count_lines(data: bytes) -> LineCounts:
    """Count lines with errors, and other lines with warnings, in linear time."""
    errors = warnings = 0
    first: int | None = None
    for start, block in line_blocks(data):
        lowered = block.lower()
        # Each from its first word on.
        for line in _LINE.findall(lowered):
            if line.startswith(_WARNINGS) and _ERROR_LINE.search(line) is None:
                warnings += 1
            else:
                errors += 1
        if errors and first is None and (match := _ERROR_LINE.search(lowered)):
            first = start + lowered.rfind(b"\n", 0, match.start()) + 1
    return LineCounts(errors, warnings, first)


READING: Final = "trackrecord artifacts get"
# What every summary begins with.
BEGINNING: Final = "[output kept as artifact "
_LONGEST_READING: Final = 180
_QUOTE_BYTES = 600
_NAMES_TOLD = 40
_SIGNATURES: Final = {
    b"\x89PNG": "PNG image", b"\xff\xd8\xff": "JPEG image", b"GIF8": "GIF image",
    b"%PDF": "PDF document", b"PK\x03\x04": "ZIP archive", b"\x1f\x8b": "gzip data",
    b"\x7fELF": "ELF program", b"SQLite format 3": "SQLite database", b"BZh": "bzip2 data",
    b"\xfd7zXZ": "xz data", b"\x28\xb5\x2f\xfd": "zstd data",
}  # fmt: skip


@dataclass(frozen=True)
class Description:
    """The description of an output.

    Attributes:
        kind: its kind.
        size: its size in bytes, before anything was cut.
        lines: number of lines of the kept part.
        gone: number of bytes from its middle that are not kept.
        details: the facts for its kind, most important first.
    """

    kind: OutputKind
    size: int
    lines: int
    gone: int
    details: tuple[str, ...]


def describe(data: bytes, kept: StoredPart) -> Description:
    """Describe an output of which `kept` is stored."""
    shape = json_shape(data)
    kind = kind_of(data, is_json=shape is not None)
    details = _of_json(shape) if shape is not None else _DETAILS[kind](data)
    return Description(kind, len(data), lines_of(kept.data), kept.gone, tuple(details))


def kind_of_output(data: bytes) -> OutputKind:
    """Return the kind of an output."""
    return kind_of(data, is_json=json_shape(data) is not None)


def reading(project: str | None = None, command: str | None = None) -> str | None:
    """Return the command that reads an artifact back, up to its id; None if it is too long.

    Args:
        project: the artifact's project; None for that which the command takes by itself.
        command: the program and what stands before the project; the usual one when not given.
    """
    text = command or READING
    if project is not None:
        text += f" --project {shlex.quote(project)}"
    return text if len(text) <= _LONGEST_READING and text.isprintable() else None


def summary(artifact_id: str, told: Description, max_chars: int, command: str = READING) -> str:
    """Return the text in place of the output, at most `max_chars` (≥ 400) characters long.

    Args:
        artifact_id: the artifact's id.
        told: its description.
        max_chars: the length of the text, which a long command may exceed.
        command: what `reading` returned.
    """
    gone = ""
    if told.gone:
        gone = f"Too large: its middle is gone, {told.gone} of {told.size} bytes were not kept.\n"
    head = (
        f"{BEGINNING}{artifact_id}: {told.kind}, {told.size} bytes, "
        f"{_many(told.lines, 'line')}]\n{gone}"
    )
    # One line may be all of it: nobody is told to read that at once.
    part = "--lines 1:100 (or --bytes 0:9999)" if told.lines > 1 else "--bytes 0:9999"
    tail = f"Read it: {command} ID {part}"
    room = max_chars - len(head) - len(tail)
    lines = []
    for detail in told.details:
        if room < _SHORTEST_DETAIL:
            break
        line = bounded(detail, room - 1)
        lines.append(line + "\n")
        room -= len(line) + 1
    return f"{head}{''.join(lines)}{tail}"


_SHORTEST_DETAIL = 24


def _of_json(shape: Shape) -> Iterator[str]:
    if not shape.is_object:
        yield f"array of {_many(shape.items, 'item')}"
        return
    names = (
        _data(key) + ("" if items is None else f" ({_many(items, 'item')})")
        for key, items in shape.keys
    )
    more = f", {ELLIPSIS}" if shape.items > len(shape.keys) else ""
    yield f"object with {_many(shape.items, 'key')}: {', '.join(names)}{more}"


def _of_code(data: bytes) -> Iterator[str]:
    names = declared(data)
    told = list(islice(names, _NAMES_TOLD))
    count = len(told) + sum(1 for _ in names)
    listed = ", ".join(dict.fromkeys(_data(_decoded(name)) for name in told))
    more = f", {ELLIPSIS}" if count > len(told) else ""
    yield f"{_many(count, 'declaration')}: {listed}{more}"


def _of_log(data: bytes) -> Iterator[str]:
    counts = count_lines(data)
    yield f"{_many(counts.errors, 'error')}, {_many(counts.warnings, 'warning')}"
    if counts.first_error is not None:
        number = data.count(b"\n", 0, counts.first_error) + 1
        yield f"first error, line {number}: {_line_at(data, counts.first_error)}"
    yield f"last line: {_last_line(data)}"


def _of_text(data: bytes) -> Iterator[str]:
    yield f"begins: {_first_line(data)}"
    yield f"ends: {_last_line(data)}"
    counts = count_lines(data)
    if counts.errors or counts.warnings:
        yield f"lines that speak of errors: {counts.errors}, of warnings: {counts.warnings}"


def _of_binary(data: bytes) -> Iterator[str]:
    for signature, name in _SIGNATURES.items():
        if data.startswith(signature):
            yield name
            return
    yield f"begins with the bytes {data[:16].hex(' ')}"


_DETAILS: Final = {
    OutputKind.CODE: _of_code,
    OutputKind.LOG: _of_log,
    OutputKind.TEXT: _of_text,
    OutputKind.BINARY: _of_binary,
}


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _data(text: str) -> str:
    return identifier(text)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _line_at(data: bytes, place: int) -> str:
    line = data[place : place + _QUOTE_BYTES].split(b"\n", 1)[0]
    return error_summary(_decoded(line), keeps_quoted=True) or _opening(line)


def _first_line(data: bytes) -> str:
    return _opening(data[:_QUOTE_BYTES].lstrip().split(b"\n", 1)[0])


def _last_line(data: bytes) -> str:
    line = data[-_QUOTE_BYTES:].rstrip().rsplit(b"\n", 1)[-1]
    return _opening(line)


def _opening(line: bytes) -> str:
    said = opening(_decoded(line))
    return f'"{said}"' if said else ELLIPSIS
