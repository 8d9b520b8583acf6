"""Outcomes as people hand them in, each ready to be published or named as bad."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from trackrecord.errors import ImportFormatError, InvalidOutcome

if TYPE_CHECKING:
    from trackrecord_producers.importers import Imported, Rejected

BAD_INPUT: Final = 2
_MOST_NAMED: Final = 10


@dataclass(frozen=True)
class GivenOutcome:
    """An outcome that is in order.

    Attributes:
        project: whose outcome it is.
        outcome_id: the one given, else one by its content.
        body: its wire form.
    """

    project: str
    outcome_id: str
    body: bytes


@dataclass(frozen=True)
class BadLine:
    """Something that is not an outcome.

    Attributes:
        place: where it stands, for example "line 3".
        reason: what is wrong, in one line.
    """

    place: str
    reason: str


def given_outcomes(
    records: Iterable[Imported | Rejected], *, project: str, max_bytes: int, file: str = ""
) -> Iterator[GivenOutcome | BadLine]:
    """Return each record as an outcome, or as a bad line.

    Args:
        records: as an importer read them.
        project: of outcomes that name none.
        max_bytes: the largest body that is allowed.
        file: the file's name, which stands before the place of a bad line; "" for none.
    """
    from trackrecord_producers.body import build_wire_body
    from trackrecord_producers.importers import Rejected

    for record in records:
        place = f"{file}, {record.place}" if file else record.place
        if isinstance(record, Rejected):
            yield BadLine(place, record.reason)
            continue
        fields = dict(record.fields)
        try:
            outcome_id, body = build_wire_body(fields, project=project, max_bytes=max_bytes)
        except InvalidOutcome as error:  # the project's name has made it too large
            yield BadLine(place, str(error))
        else:
            yield GivenOutcome(fields["project"], outcome_id, body)


def up_to_damage(
    given: Iterable[GivenOutcome | BadLine], file: str
) -> Iterator[GivenOutcome | BadLine]:
    """Return what a file holds; where it cannot be read on, that is its last bad line."""
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
