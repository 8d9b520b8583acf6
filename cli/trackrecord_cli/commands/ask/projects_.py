"""`trackrecord projects`: whose experience is on record."""

from __future__ import annotations

from trackrecord.resources.operation.projects import PROJECTS, Project

from ...output.drawing import bar
from ...resource_commands import declared


def _rate(project: Project) -> str:
    """Return the rate, or its counts where most outcomes have no verdict and it says little."""
    rate = project.success_rate
    if rate is None:
        return ""
    judged = project.outcomes - project.without_verdict
    if judged < project.without_verdict:
        return f"{project.successes} of {judged}"
    return f"{bar(rate)} {rate:.0%}"


command = declared(PROJECTS, drawn={"success rate": lambda projects, _: [*map(_rate, projects)]})
