"""`trackrecord runs`: what came in, run by run."""

from __future__ import annotations

from collections.abc import Sequence

from trackrecord.learning.text.inert import one_line
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.reports.runs import RUNS, RunAnswer, outcome_ids_for_tables

from ...output.screen import Coloured
from ...resource_commands import group_of

_COLOURS = {"success": "green", "failure": "red", "none": "dim"}
_SHOWN_CHARS = 90


def _ids(runs: Sequence[RunAnswer], project: str) -> list[str]:
    from trackrecord.resources.access.short_ids import shortened_run_ids

    ids = [each.outcome_id for each in runs]
    with read_project(project) as it:
        short = shortened_run_ids([*ids, *outcome_ids_for_tables(it.connection, project, ids)])
    return [short[each] for each in ids]


def _verdicts(runs: Sequence[RunAnswer], _project: str) -> list[Coloured]:
    return [Coloured(each.verdict, _COLOURS[each.verdict]) for each in runs]


def _instructions(runs: Sequence[RunAnswer], _project: str) -> list[str]:
    return [one_line(each.instruction or "", _SHOWN_CHARS) for each in runs]


command = group_of(
    RUNS, drawn={"outcome": _ids, "verdict": _verdicts, "instruction": _instructions}
)
