"""Read the lines of a log that an agent appends to, in bounded memory and from any position."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

# The longest line that is read; an image in a message has some megabytes.
LONGEST_LINE: Final = 16 * 1024 * 1024
_BUFFER: Final = 256 * 1024


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


def read_lines(path: Path, start: int = 0, *, longest: int = LONGEST_LINE) -> Iterator[LogLine]:
    """Yield the lines from a position on; a last line without a line feed is still being written.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb", buffering=_BUFFER) as file:
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


def place_of(line: LogLine) -> str:
    """Return the position of a line, for people; its number is unknown after the first reading."""
    return f"the line at byte {line.start}"
