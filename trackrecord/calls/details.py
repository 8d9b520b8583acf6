"""The calls that show one thing with all that belongs to it, by its id or the beginning of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.beside import awaited
from trackrecord.resources.checks import Moment, moment_of, text_of
from trackrecord.resources.project_store import read_project

if TYPE_CHECKING:
    from trackrecord.queries.runs import RunOnRecord


def show_run(
    outcome_id: str, *, at: Moment | None = None, project: str | None = None
) -> RunOnRecord:
    """Return one run: its calls, its verdict, the grounds for it, and later amendments.

    Args:
        outcome_id: the id of the run's outcome, or the beginning of it.
        at: a past moment to answer for.
        project: the run's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    outcome_id, moment = text_of("outcome_id", outcome_id), moment_of(at)
    with read_project(project) as here:
        from trackrecord.queries import runs

        return runs.show_run(here.connection, here.project, outcome_id, at=moment)


ashow_run = awaited(show_run)
