"""The hints of a project: what failing calls were told, or would have been told."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from trackrecord.learning.advice.hint_effect import HintEffect, TrialHint, hint_effect_of
from trackrecord.learning.advice.rules import MAX_RUNS
from trackrecord.wire.hint import HintBody

from ..database.upsert import insert_rows
from .runs import read_tried_runs
from .tables import hints

_COLUMNS = tuple(column for column in hints.c if column.name != "id")
# The newest of a project; the trial of older ones was of another history.
_MOST_HINTS = 20_000


@dataclass(frozen=True)
class ReceivedHint:
    """A hint as it arrived.

    Attributes:
        body: what it says.
        hint_id: its id, or what stands for a missing one.
        received_at: when it arrived, seconds since the epoch.
    """

    body: HintBody
    hint_id: str
    received_at: float


def record_hints(
    connection: Connection, project_ids: Mapping[str, int], received: Iterable[ReceivedHint]
) -> None:
    """Record hints; those that are on record already change nothing.

    Args:
        connection: within a writing transaction.
        project_ids: the rows of their projects.
        received: in any order.
    """
    rows = [
        (
            project_ids[each.body.project],
            each.hint_id,
            each.body.session,
            each.body.agent,
            each.body.source,
            each.body.entry,
            each.body.kind,
            each.received_at if each.body.at is None else min(each.body.at, each.received_at),
            each.received_at,
            each.body.given,
            each.body.probability,
            each.body.key,
            each.body.check,
            each.body.tool,
            each.body.text,
        )
        for each in received
    ]
    insert_rows(connection, hints, _COLUMNS, sorted(rows, key=lambda row: row[:2]))


def read_hints(connection: Connection, project_id: int) -> list[TrialHint]:
    """Return the newest hints of a project, the oldest first.

    Args:
        connection: a reading transaction.
        project_id: whose hints.
    """
    of = hints.c
    query = (
        select(
            of.session, of.agent, of.entry, of.kind, of.at, of.is_given, of.probability, of.key,
            of.check_kind.label("check"), of.tool,
        )
        .where(of.project_id == project_id)
        .order_by(of.at.desc(), of.hint_id.desc())
        .limit(_MOST_HINTS)
    )  # fmt: skip
    return [TrialHint(**row) for row in connection.execute(query).mappings().all()[::-1]]


def read_hint_effect(
    connection: Connection, project_id: int, *, limit: int = MAX_RUNS
) -> HintEffect:
    """Return what a project's hints did; the calls of its sessions tell.

    Args:
        connection: a reading transaction.
        project_id: whose hints.
        limit: how many runs are looked at.
    """
    found = read_hints(connection, project_id)
    if not any(each.is_random for each in found):
        return HintEffect()
    runs = read_tried_runs(connection, project_id, limit=limit)
    return hint_effect_of(found, runs)
