"""Outcomes as JSON Lines: each line an object as the wire format describes it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from trackrecord.errors import ImportFormatError, InvalidOutcome
from trackrecord.wire.outcome import MAX_BODY_BYTES, decode_outcome

from .records import Imported, Rejected, stable_id


def read_jsonl(path: Path, *, max_bytes: int = MAX_BODY_BYTES) -> Iterator[Imported | Rejected]:
    """Yield the outcomes of a file of JSON Lines; see `read_lines`.

    Raises:
        ImportFormatError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            yield from read_lines(file, max_bytes=max_bytes)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise ImportFormatError(message) from None


def read_lines(file: BinaryIO, *, max_bytes: int = MAX_BODY_BYTES) -> Iterator[Imported | Rejected]:
    """Yield the outcomes of a stream of JSON Lines, one by one; empty lines are skipped.

    A line without an outcome_id gets one from its content and from how many equal lines came
    before it: two equal lines are two outcomes, and the same ones when the file is read again.

    Args:
        file: read once, from where it stands.
        max_bytes: the longest line that is allowed; no longer one is held in memory.
    """
    seen: Counter[str] = Counter()
    for number, line in _numbered_lines(file, max_bytes):
        try:
            outcome = decode_outcome(line, max_bytes=max_bytes)
            fields = msgspec.json.decode(line)
        except InvalidOutcome as error:
            yield Rejected(number, str(error))
            continue
        except (ValueError, RecursionError):  # in a field that is not of the wire format
            yield Rejected(number, "an unknown field cannot be read")
            continue
        if outcome.outcome_id is None:
            fields["outcome_id"] = _id_by_content(line, seen)
        yield Imported(number, fields)


def _id_by_content(line: bytes, seen: Counter[str]) -> str:
    by_content = stable_id("line", line)
    seen[by_content] += 1
    occurrence = seen[by_content]
    return by_content if occurrence == 1 else f"{by_content}-{occurrence}"


def _numbered_lines(file: BinaryIO, max_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield non-empty lines with their numbers; only the start of a line that is too long."""
    number = 0
    while line := file.readline(max_bytes + 2):
        number += 1
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(max_bytes + 2)
        # A file that was written on Windows may begin with a byte order mark.
        content = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
        if content:
            yield number, content
