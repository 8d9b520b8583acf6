"""Runs on record: what came in for each task, its calls, its verdict and the grounds for it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, Select, and_, false, func, or_, select, tuple_

from trackrecord.errors import UnknownId
from trackrecord.resources.paging import Order, cursor_of, place_of
from trackrecord.store.advice.tables import runs
from trackrecord.store.outcomes.commits import outcomes_of_commit
from trackrecord.store.outcomes.entries import entries_of
from trackrecord.store.outcomes.standing import stood
from trackrecord.store.outcomes.tables import outcomes
from trackrecord.times import iso
from trackrecord.wire.join import OutcomeEntry
from trackrecord.wire.outcome import Outcome, ToolCall, decode_outcome

from .project_rows import project_row
from .short_ids import ids_next_to, whole_stored_id
from .tasks import check_task, is_known_task

RunVerdict = Literal["success", "failure", "none"]

_PAGE: Final = 500
_any = msgspec.json.Decoder()


class RunPlace(NamedTuple):
    """A place in the order of runs: the newest first.

    Attributes:
        ended_at: seconds since the epoch.
        row: the run's row in the store.
    """

    ended_at: float
    row: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


_Decoded = tuple[Row[Any], Outcome]


@dataclass(frozen=True)
class RunFilter:
    """The runs that are asked for; a field that is None asks for nothing.

    Attributes:
        source: the agent that reported them.
        verdict: whether they succeeded, failed, or nobody knows.
        ground: a kind of evidence that the verdict rests on.
        tool: a tool that they called.
        failed: only runs in which a call failed: of that tool if one is given, else of any.
        task_id: the task.
        commit: a commit that they made, or its first seven digits or more.
    """

    source: str | None = None
    verdict: RunVerdict | None = None
    ground: str | None = None
    tool: str | None = None
    failed: bool = False
    task_id: str | None = None
    commit: str | None = None

    def admits(self, outcome: Outcome) -> bool:
        """Return whether a run is asked for."""
        return (
            self.source in (None, outcome.source)
            and self.verdict in (None, verdict_of(outcome.success))
            and self.task_id in (None, outcome.task_id)
            and (self.ground is None or self._has_ground(outcome))
            and ((self.tool is None and not self.failed) or self._has_call(outcome))
        )

    def _has_ground(self, outcome: Outcome) -> bool:
        return any(ground.kind == self.ground for ground in outcome.grounds or ())

    def _has_call(self, outcome: Outcome) -> bool:
        return any(
            self.tool in (None, call.tool) and (not self.failed or failed(call))
            for call in outcome.tool_graph or ()
        )


@dataclass(frozen=True)
class Amendment:
    """Something that was reported of a run after the first report.

    Attributes:
        received_at: when, seconds since the epoch.
        outcome: what was reported.
    """

    received_at: float
    outcome: Outcome

    def to_document(self) -> dict[str, Any]:
        """Return the amendment as a JSON object."""
        by = self.outcome.judged_by or self.outcome.source or self.outcome.speaker
        return {"received_at": iso(self.received_at), "by": by, **_verdict(self.outcome)}


@dataclass(frozen=True)
class RunOnRecord:
    """One run, as it is on record.

    Attributes:
        outcome_id: the id of its outcome.
        project: whose run.
        received_at: when what is shown was received, seconds since the epoch.
        ended_at: when it ended.
        outcome: what was reported, all reports joined.
        row: its row in the store.
        amendments: what was reported after the first report, in the order of receipt.
    """

    outcome_id: str
    project: str
    received_at: float
    ended_at: float
    outcome: Outcome
    row: int
    amendments: tuple[Amendment, ...] = ()

    @property
    def cursor(self) -> str:
        """The text that `after` takes for the runs that follow this one in a list."""
        return cursor_of(RunPlace(self.ended_at, self.row))

    def to_document(self) -> dict[str, Any]:
        """Return the run as a JSON object."""
        said = self.outcome
        return {
            "outcome_id": self.outcome_id,
            "project": self.project,
            "source": said.source,
            "task_id": said.task_id,
            "instruction": said.instruction,
            **_verdict(said),
            "amended_by": said.judged_by or said.amended_by,
            "failure_mode": said.failure_mode,
            "commits": list(said.commits or ()),
            "received_at": iso(self.received_at),
            "ended_at": iso(self.ended_at),
            "duration_ms": said.duration_ms,
            "calls": [_call(call) for call in said.tool_graph or ()],
            "amendments": [amendment.to_document() for amendment in self.amendments],
        }


def _verdict(said: Outcome) -> dict[str, Any]:
    return {
        "success": said.success,
        "outcome_source": None if said.success is None else said.outcome_source,
        "captured_from": said.captured_from,
        "grounds": [msgspec.to_builtins(ground) for ground in said.grounds or ()],
    }


def verdict_of(success: bool | None) -> RunVerdict:
    """Return the word for what an outcome says of its task."""
    if success is None:
        return "none"
    return "success" if success else "failure"


def failed(call: ToolCall) -> bool:
    """Return whether a call failed."""
    return call.ok is False or (call.ok is None and bytes(call.error) not in (b"", b"null"))


def _call(call: ToolCall) -> dict[str, Any]:
    error = bytes(call.error)
    return {
        "tool": call.tool,
        "ok": call.ok,
        "error": _any.decode(error) if error else None,
        "duration_ms": call.duration_ms,
    }


def list_runs(
    connection: Connection,
    project: str,
    *,
    at: float | None = None,
    wanted: RunFilter | None = None,
    limit: int | None = None,
    order: Order | None = None,
    after: str | None = None,
) -> list[RunOnRecord]:
    """Return the runs of a project that ended last, the newest first.

    Args:
        connection: a reading transaction.
        project: whose runs.
        at: a past moment to answer for: only what had been received by then.
        wanted: which runs; None for all.
        limit: how many at most; None for all.
        order: one of `sorting.RUNS`: those that ended first instead, unless it is descending.
        after: the cursor of a run: only those that follow it.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: runs of one task are asked for, and no outcome of it is on record.
        InvalidCursor: `after` is not the cursor of a run.
    """
    place = None if after is None else place_of(after, RunPlace)
    project_id = project_row(connection, project)
    wanted = wanted or RunFilter()
    query = _on_record(project_id, at)
    if wanted.commit is not None:
        made = outcomes_of_commit(connection, project_id, wanted.commit)
        query = query.where(outcomes.c.outcome_id.in_(made))
    found: list[_Decoded] = []
    oldest_first = order is not None and not order.is_descending
    for row in _in_pages(connection, query, place, oldest_first=oldest_first):
        outcome = _decoded(row.body)
        if wanted.admits(outcome):
            found.append((row, outcome))
            if len(found) == limit:
                break
    if not found and place is None and wanted.task_id is not None:
        check_task(connection, project, wanted.task_id)
    return _read(connection, project_id, project, found, at)


def runs_of_commit(connection: Connection, project: str, commit: str) -> list[RunOnRecord]:
    """Return the runs of a project that made a commit.

    Args:
        connection: a reading transaction.
        project: whose runs.
        commit: the commit's hash, or its first seven digits or more.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: none of the project's runs made it.
    """
    found = list_runs(connection, project, wanted=RunFilter(commit=commit))
    if not found:
        message = f"no run of project {project!r} made commit {commit!r}"
        raise UnknownId(message)
    return found


def show_run(
    connection: Connection, project: str, outcome_id: str, *, at: float | None = None
) -> RunOnRecord:
    """Return one run.

    Args:
        connection: a reading transaction.
        project: whose run.
        outcome_id: the id of its outcome, or the beginning of it.
        at: a past moment to answer for.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such outcome.
        AmbiguousId: several outcomes' ids begin so.
    """
    project_id = project_row(connection, project)
    whole = whole_outcome_id(connection, project, outcome_id)
    named = select(outcomes.c.ended_at, outcomes.c.id).where(
        outcomes.c.project_id == project_id, outcomes.c.outcome_id == whole
    )
    # By their whole key: asked for both at once, SQLite looks through all runs of the project.
    keys = [
        and_(runs.c.ended_at == ended_at, runs.c.outcome == row)
        for ended_at, row in connection.execute(named)
    ]
    query = _on_record(project_id, at).where(or_(false(), *keys))
    rows = [(row, _decoded(row.body)) for row in connection.execute(query)]
    found = _read(connection, project_id, project, rows, at)
    if not found:
        message = f"outcome {whole!r} was not on record at {iso(at)}"
        raise UnknownId(message)
    return found[0]


def whole_outcome_id(connection: Connection, project: str, given: str) -> str:
    """Return the id of the outcome that an id, or the beginning of one, stands for.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such outcome.
        AmbiguousId: several outcomes' ids begin so.
    """
    message = f"project {project!r} has no outcome {given!r}"
    try:
        return whole_stored_id(
            connection,
            outcomes.c.outcome_id,
            outcomes.c.project_id == project_row(connection, project),
            given,
            message,
            hint="`trackrecord runs list` shows its runs",
        )
    except UnknownId as error:
        if error.nearest is not None or not is_known_task(connection, project, given):
            raise
        hint = "that is the id of a task: `trackrecord runs list --task` shows its runs"
        raise UnknownId(message, hint=hint) from None


def _on_record(project_id: int, at: float | None) -> Select[Any]:
    query = (
        select(
            runs.c.ended_at,
            runs.c.outcome,
            outcomes.c.outcome_id,
            outcomes.c.received_at,
            outcomes.c.body,
        )
        .join(outcomes, outcomes.c.id == runs.c.outcome)
        .where(runs.c.project_id == project_id, stood(runs.c.replaced_at, at))
    )
    return query if at is None else query.where(runs.c.received_at <= at)


def _in_pages(
    connection: Connection, query: Select[Any], place: RunPlace | None, *, oldest_first: bool
) -> Iterator[Row[Any]]:
    """Yield the rows that follow a place page by page: a body may have a megabyte."""
    columns = (runs.c.ended_at, runs.c.outcome)
    query = query.order_by(*(each if oldest_first else each.desc() for each in columns))
    while True:
        following = query
        if place is not None:
            key = tuple_(*columns)
            beyond = key > tuple(place) if oldest_first else key < tuple(place)
            following = query.where(beyond)
        page = connection.execute(following.limit(_PAGE)).all()
        yield from page
        if len(page) < _PAGE:
            return
        place = RunPlace(page[-1].ended_at, page[-1].outcome)


def count_runs(connection: Connection, project: str, *, at: float | None = None) -> int:
    """Return how many runs of a project are on record.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    query = select(func.count()).where(
        runs.c.project_id == project_row(connection, project), stood(runs.c.replaced_at, at)
    )
    if at is not None:
        query = query.where(runs.c.received_at <= at)
    return connection.execute(query).scalar_one()


def outcome_ids_for_tables(connection: Connection, project: str, shown: Iterable[str]) -> list[str]:
    """Return the ids of outcomes that the short ids of those shown must not stand for.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    where = outcomes.c.project_id == project_row(connection, project)
    return ids_next_to(connection, outcomes.c.outcome_id, where, shown)


def _read(
    connection: Connection,
    project_id: int,
    project: str,
    rows: Sequence[_Decoded],
    at: float | None,
) -> list[RunOnRecord]:
    entries = entries_of(connection, [(project_id, row.outcome_id) for row, _ in rows])
    return [
        RunOnRecord(
            outcome_id=row.outcome_id,
            project=project,
            received_at=row.received_at,
            ended_at=row.ended_at,
            outcome=outcome,
            row=row.outcome,
            amendments=_amendments(entries.get((project_id, row.outcome_id), ()), at),
        )
        for row, outcome in rows
    ]


def _amendments(entries: Sequence[OutcomeEntry], at: float | None) -> tuple[Amendment, ...]:
    received = sorted(entries, key=lambda entry: entry.received_at)[1:]
    return tuple(
        Amendment(entry.received_at, _decoded(entry.body))
        for entry in received
        if at is None or entry.received_at <= at
    )


def _decoded(body: bytes) -> Outcome:
    # It was small enough when it was recorded, whatever the limit is now.
    return decode_outcome(body, max_bytes=len(body))
