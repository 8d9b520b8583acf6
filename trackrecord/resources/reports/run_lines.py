"""Runs line by line, for a list. Only a search of their tasks' texts reads what was reported."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from sqlalchemy import Connection

from trackrecord.resources.access.project_rows import project_row
from trackrecord.resources.access.tasks import check_task
from trackrecord.resources.declaration.paging import cursor_of, place_of
from trackrecord.store.advice.run_records import (
    RunRecord,
    RunRecordPlace,
    rows_of_task,
    runs_before,
    runs_of_rows,
)

from .runs import RunFilter, RunVerdict, task_texts, verdict_of

# A filter that admits hardly any run must not read a million of them for one page.
MOST_READ: Final = 10_000
_MOST_OF_TASK: Final = 1000


@dataclass(frozen=True)
class RunLine:
    """One run in a list.

    Attributes:
        outcome_id: the id of its outcome.
        task_id: the task.
        source: the agent that reported it; "" if not reported.
        ended_at: when it ended, seconds since the epoch.
        success: whether the task reached its goal; None where nobody knows it.
        duration_ms: how long it took, None if not reported.
        calls: how many calls it made.
        failed_calls: how many of them failed.
        tools: the tools that it called, in the order of their first call.
    """

    outcome_id: str
    task_id: str
    source: str
    ended_at: float
    success: bool | None
    duration_ms: int | None
    calls: int
    failed_calls: int
    tools: tuple[str, ...]

    @property
    def verdict(self) -> RunVerdict:
        """Return the word for the run's verdict."""
        return verdict_of(self.success)


@dataclass(frozen=True)
class RunLines:
    """A page of runs.

    Attributes:
        lines: the runs, the newest first.
        next: the cursor for the next page; None where there is nothing more.
        read: how many runs were looked at for it.
    """

    lines: tuple[RunLine, ...]
    next: str | None
    read: int


def line_of(found: RunRecord) -> RunLine:
    """Return a run's line in a list."""
    run = found.run
    return RunLine(
        outcome_id=found.outcome_id,
        task_id=run.task_id,
        source=run.source,
        ended_at=run.ended_at,
        success=run.success,
        duration_ms=run.duration_ms,
        calls=len(run.steps),
        failed_calls=sum(step.failed for step in run.steps),
        tools=tuple(dict.fromkeys(step.tool for step in run.steps)),
    )


def list_run_lines(
    connection: Connection,
    project: str,
    *,
    at: float | None = None,
    wanted: RunFilter | None = None,
    after: str | None = None,
    limit: int = 50,
    most_read: int = MOST_READ,
) -> RunLines:
    """Return a page of the runs of a project, the newest first.

    Where few runs are asked for a page may have fewer than `limit` and not be the last one: then
    `next` says where to look further.

    Args:
        connection: a reading transaction.
        project: whose runs.
        at: a past moment to answer for: only what had been received by then.
        wanted: which runs; None for all.
        after: the cursor that the page before ended with; None for the newest.
        limit: how many runs at most.
        most_read: how many runs are looked at for one page at most.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: runs of one task are asked for, and no outcome of it is on record.
        InvalidCursor: no page ended with this cursor.
    """
    before = None if after is None else place_of(after, RunRecordPlace)
    project_id = project_row(connection, project)
    wanted = wanted or RunFilter()
    is_any = wanted == RunFilter()
    found: Iterable[RunRecord]
    if wanted.task_id is not None:
        rows = rows_of_task(connection, project_id, wanted.task_id, at=at, limit=_MOST_OF_TASK)
        if not rows:
            check_task(connection, project, wanted.task_id)
        of_task = runs_of_rows(connection, project_id, rows, at=at)
        found = [each for each in of_task if before is None or _place(each) < before]
    else:
        at_once = limit + 1 if is_any else 500
        found = runs_before(connection, project_id, before=before, at=at, at_once=at_once)
    texts = partial(task_texts, connection, project_id, at=at)
    return _page(iter(found), wanted, texts, limit, most_read)


def _page(
    found: Iterator[RunRecord],
    wanted: RunFilter,
    texts: Callable[[Sequence[str]], Mapping[str, str]],
    limit: int,
    most_read: int,
) -> RunLines:
    lines: list[RunLine] = []
    last: RunRecord | None = None
    read = 0
    seen = islice(found, most_read)
    while portion := list(islice(seen, limit)):
        kept = {each.outcome_id for each in portion if wanted.admits_line(each.run)}
        if wanted.text is not None:
            said = texts(sorted(kept))
            kept = {each for each in kept if wanted.admits_text(said.get(each))}
        for position, last in enumerate(portion, start=1):
            read += 1
            if last.outcome_id in kept:
                lines.append(line_of(last))
            if len(lines) == limit:
                are_more = position < len(portion) or next(found, None) is not None
                return RunLines(tuple(lines), cursor_of(_place(last)) if are_more else None, read)
    are_more = last is not None and next(found, None) is not None
    return RunLines(tuple(lines), cursor_of(_place(last)) if are_more and last else None, read)


def _place(found: RunRecord) -> RunRecordPlace:
    return RunRecordPlace(found.run.ended_at, found.run.outcome)
