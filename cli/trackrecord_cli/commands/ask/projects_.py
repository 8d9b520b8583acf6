"""`trackrecord projects`: whose experience is on record."""

from __future__ import annotations

from collections.abc import Sequence

from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.operation.projects import PROJECTS, Project

from ...output.drawing import bar
from ...output.trends import day_trends
from ...resource_commands import command_of

_MOST_DRAWN = 100


def _rates(projects: Sequence[Project], _project: str, _at: float | None) -> list[str]:
    rates = [each.success_rate for each in projects]
    return ["" if rate is None else f"{bar(rate)} {rate:.0%}" for rate in rates]


def _trends(projects: Sequence[Project], _project: str, at: float | None) -> list[str]:
    if len(projects) > _MOST_DRAWN:
        return [""] * len(projects)
    with read_project(None) as it:
        return [day_trends(it.connection, [each.name], at)[0] for each in projects]


command = command_of(
    PROJECTS, PROJECTS.operations[0], drawn={"success rate": _rates, "trend": _trends}
)
