"""Read the lines of a log that an agent appends to, in bounded memory and from any position.

A line may be damaged: its writer was killed in the middle, or the machine went down, which leaves
NULs. Whole records that stand on such a line are read all the same.
"""

import errno
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeVar

import msgspec

from .source import Unreadable

_Record = TypeVar("_Record")
# The longest line that is read; an image in a message has some megabytes.
LONGEST_LINE: Final = 16 * 1024 * 1024
_BUFFER: Final = 256 * 1024
_NEEDS_ZSTD: Final = "it is compressed: `pip install backports-zstd` to read it"
# How many places of a damaged line are tried at which no whole record begins.
_MOST_TRIES: Final = 32
# Records of one log begin alike.
_ALIKE: Final = 12
_BLANK: Final = "\0 \t\r\n"
# A record that broke off before anything but its ids was written.
_BEGINNING: Final = re.compile(r"\{[^{\[]{0,2000}")
_json: Final = json.JSONDecoder(strict=False)


class LogLine(NamedTuple):
    """One line of a log.

    Attributes:
        start: the position of its first byte.
        end: the position after its line feed.
        text: the line; None if it is longer than the longest that is read.
    """

    start: int
    end: int
    text: bytes | None


class Damage(NamedTuple):
    """A place at which something was lost.

    Attributes:
        unreadable: the place, unless what was lost is of no worth.
        is_record: whether a record broke off there, which no other one takes the place of.
    """

    unreadable: Unreadable | None = None
    is_record: bool = False


def read_lines(path: Path, start: int = 0, *, longest: int = LONGEST_LINE) -> Iterator[LogLine]:
    """Yield the lines from a position on; a last line without a line feed is still being written.

    The positions in a compressed log are those in its content.

    Raises:
        OSError: the file cannot be read.
    """
    with _opened(path) as file:
        file.seek(start)
        position = start
        while text := file.readline(longest + 1):
            end = position + len(text)
            is_whole = text.endswith(b"\n")
            while not text.endswith(b"\n") and end - position > longest:
                text = file.readline(longest + 1)
                if not text:
                    break
                end += len(text)
            if not text.endswith(b"\n"):
                return
            yield LogLine(position, end, text if is_whole else None)
            position = end


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path.suffix != ".zst":
        with path.open("rb", buffering=_BUFFER) as file:
            yield file
        return
    try:
        name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
        zstd: Any = import_module(name)
    except ImportError:
        raise OSError(errno.ENOTSUP, _NEEDS_ZSTD) from None
    try:
        with zstd.open(path) as file:
            yield file
    except (EOFError, zstd.ZstdError):
        raise OSError(errno.EIO, "its compressed content is damaged") from None


def decoded_lines(
    path: Path, start: int, decode: Callable[[bytes], _Record]
) -> Iterator[tuple[LogLine, _Record | Damage]]:
    """Yield the records of a log from a position on, and where something was lost.

    Args:
        path: the log.
        start: the position.
        decode: decodes a record; raises a ValueError or a RecursionError for what is none.

    Raises:
        OSError: the file cannot be read.
    """
    for line in read_lines(path, start):
        text = line.text
        if text is None:
            yield line, Damage(_unreadable(line, "it is longer than any line that is read"))
        elif not text.isspace():
            try:
                record = decode(text)
            except (ValueError, RecursionError) as error:
                yield from ((line, each) for each in _salvaged(line, text, decode, error))
            else:
                yield line, record


def _unreadable(line: LogLine, reason: str) -> Unreadable:
    # Its number is unknown after the first reading.
    return Unreadable(place=f"the line at byte {line.start}", reason=reason)


def _salvaged(
    line: LogLine, text: bytes, decode: Callable[[bytes], _Record], error: Exception
) -> Iterator[_Record | Damage]:
    """Yield the whole records on a damaged line, after what was lost."""
    whole, records, lost, end = text.decode(errors="replace"), [], [], 0
    tries, place = 0, whole.find('{"')
    while place >= 0 and tries < _MOST_TRIES:
        after = place + 1
        try:
            _, after = _json.raw_decode(whole, place)
        except (ValueError, RecursionError):
            tries += 1
        else:
            before = whole[end:place].strip(_BLANK)
            is_part = before.endswith((":", ",", "["))
            if not is_part or before.startswith(whole[place:][:_ALIKE]):
                with suppress(ValueError, RecursionError):
                    records.append(decode(whole[place:after].encode()))
                    lost.append(before)
                    end = after
        place = whole.find('{"', after)
    left = filter(None, (*lost, whole[end:].strip(_BLANK)))
    unreadable = None
    if not all(records and _BEGINNING.fullmatch(each) for each in left):
        is_json = not isinstance(error, msgspec.MsgspecError)
        reason = str(error) if is_json else "it is not an object in JSON"
        unreadable = _unreadable(line, reason or "it cannot be read")
    yield Damage(unreadable, is_record=not records and "{" in whole)
    yield from records
