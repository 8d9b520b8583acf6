"""Outcomes from people's files: splitting them into bodies, and reporting bad lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import click

from trackrecord.errors import ImportFormatError
from trackrecord_producers.publishing.checked_outcomes import BadLine, CheckedOutcome

BAD_INPUT: Final = 2
_MOST_NAMED: Final = 10


def up_to_damage(
    given: Iterable[CheckedOutcome | BadLine], file: str
) -> Iterator[CheckedOutcome | BadLine]:
    """Return the content of a file; unreadable content becomes its last bad line."""
    try:
        yield from given
    except ImportFormatError as error:
        said = str(error).removeprefix(file).lstrip(", ")
        yield BadLine(file, said)


def say_bad_lines(bad: Sequence[BadLine]) -> int:
    """Name the first bad lines on standard error, and return the exit status."""
    for line in bad[:_MOST_NAMED]:
        click.echo(f"trackrecord: {line.place}: {line.reason}", err=True)
    if len(bad) > _MOST_NAMED:
        click.echo(f"trackrecord: and {len(bad) - _MOST_NAMED} more", err=True)
    return BAD_INPUT if bad else 0
