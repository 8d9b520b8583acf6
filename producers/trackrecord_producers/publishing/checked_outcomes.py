"""Outcomes from a caller, each ready to be published or named as bad."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trackrecord.errors import InvalidOutcome

from ..bodies.body import build_wire_body
from ..importers.jsonl import BadLine, Imported


@dataclass(frozen=True)
class CheckedOutcome:
    """An outcome that is in order.

    Attributes:
        project: whose outcome it is.
        outcome_id: the one given, else one by its content.
        body: its wire form.
        place: where it stood, for example "line 3".
    """

    project: str
    outcome_id: str
    body: bytes
    place: str = ""


def given_outcomes(
    records: Iterable[Imported | BadLine], *, project: str, max_bytes: int, file: str = ""
) -> Iterator[CheckedOutcome | BadLine]:
    """Return each record as an outcome, or as a bad line.

    Args:
        records: as an importer read them.
        project: of outcomes that name none.
        max_bytes: the largest body that is allowed.
        file: the file's name, which stands before the place of a bad line; "" for none.
    """
    for record in records:
        place = f"{file}, {record.place}" if file else record.place
        if isinstance(record, BadLine):
            yield BadLine(place, record.reason)
            continue
        fields = dict(record.fields)
        try:
            outcome_id, body = build_wire_body(fields, project=project, max_bytes=max_bytes)
        except InvalidOutcome as error:  # the project's name has made it too large
            yield BadLine(place, str(error))
        else:
            yield CheckedOutcome(fields["project"], outcome_id, body, place)
