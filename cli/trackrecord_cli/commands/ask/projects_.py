"""`trackrecord projects`: whose experience is on record."""

from __future__ import annotations

from collections.abc import Sequence

from trackrecord.resources.operation.projects import PROJECTS, Project

from ...output.drawing import bar
from ...resource_commands import declared


def _rates(projects: Sequence[Project], _project: str) -> list[str]:
    rates = [each.success_rate for each in projects]
    return ["" if rate is None else f"{bar(rate)} {rate:.0%}" for rate in rates]


command = declared(PROJECTS, drawn={"success rate": _rates})
