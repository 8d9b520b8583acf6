"""`trackrecord runs`: what came in, run by run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trackrecord.learning.text.inert import one_line
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.reports.runs import RUNS, RunAnswer, outcome_ids_for_tables

from ...output.screen import Coloured, on_terminal
from ...resource_commands import group_of

if TYPE_CHECKING:
    from sqlalchemy import Connection


def outcome_ids(connection: Connection, project: str, ids: Sequence[str]) -> dict[str, str]:
    """Return each id as a table shows it: short on a terminal, whole in a pipe."""
    from trackrecord.resources.access.short_ids import shortened_run_ids

    if not on_terminal():
        return {some_id: some_id for some_id in ids}
    return shortened_run_ids([*ids, *outcome_ids_for_tables(connection, project, ids)])


_COLOURS = {"success": "green", "failure": "red", "none": "dim"}
_SHOWN_CHARS = 90


def _ids(runs: Sequence[RunAnswer], project: str) -> list[str]:
    ids = [each.outcome_id for each in runs]
    with read_project(project) as it:
        short = outcome_ids(it.connection, project, ids)
    return [short[each] for each in ids]


def _verdicts(runs: Sequence[RunAnswer], _project: str) -> list[Coloured]:
    return [Coloured(each.verdict, _COLOURS[each.verdict]) for each in runs]


def _instructions(runs: Sequence[RunAnswer], _project: str) -> list[str]:
    return [one_line(each.instruction or "", _SHOWN_CHARS) for each in runs]


command = group_of(
    RUNS, drawn={"outcome": _ids, "verdict": _verdicts, "instruction": _instructions}
)
