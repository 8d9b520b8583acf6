"""The calls that list what is on record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from trackrecord.beside import awaited
from trackrecord.resources.checks import (
    Moment,
    moment_of,
    optional_choice_of,
    optional_commit_of,
    optional_limit_of,
    optional_text_of,
)
from trackrecord.resources.project_store import read_project

if TYPE_CHECKING:
    from trackrecord.queries.runs import RunOnRecord

_VERDICTS = ("success", "failure", "none")
_ORDERS = ("ended", "-ended")
_USUAL_RUNS = 20


def list_runs(
    *,
    task_id: str | None = None,
    source: str | None = None,
    verdict: Literal["success", "failure", "none"] | None = None,
    ground: str | None = None,
    tool: str | None = None,
    failed: bool = False,
    commit: str | None = None,
    at: Moment | None = None,
    limit: int | None = _USUAL_RUNS,
    sort: Literal["ended", "-ended"] | None = None,
    after: str | None = None,
    project: str | None = None,
) -> list[RunOnRecord]:
    """Return the runs of a project that ended last, the newest first.

    Args:
        task_id: only runs of this task.
        source: only runs that this agent reported.
        verdict: only runs with this verdict.
        ground: only runs whose verdict rests on this kind of evidence, such as `interrupted`.
        tool: only runs that called this tool.
        failed: only runs in which a call failed: of the tool, if one is given.
        commit: only runs that made this commit: its SHA, or the first seven digits of it or more.
        at: a past moment to answer for.
        limit: the maximum number of runs to return; None for all.
        sort: "ended" for those that ended first.
        after: the `cursor` of a run: only the runs that follow it.
        project: the runs' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    task_id, source = optional_text_of("task_id", task_id), optional_text_of("source", source)
    tool, moment, limit = optional_text_of("tool", tool), moment_of(at), optional_limit_of(limit)
    after, ground = optional_text_of("after", after), optional_text_of("ground", ground)
    commit = optional_commit_of("commit", commit)
    optional_choice_of("verdict", verdict, _VERDICTS)
    sort = optional_choice_of("sort", sort, _ORDERS)  # type: ignore[assignment] # one of these
    with read_project(project) as here:
        from trackrecord.queries import runs
        from trackrecord.queries.sorting import RUNS

        wanted = runs.RunFilter(
            source=source,
            verdict=verdict,
            ground=ground,
            tool=tool,
            failed=bool(failed),
            task_id=task_id,
            commit=commit,
        )
        return runs.list_runs(
            here.connection,
            here.project,
            at=moment,
            wanted=wanted,
            limit=limit,
            order=None if sort is None else RUNS.order(sort),
            after=after,
        )


alist_runs = awaited(list_runs)
