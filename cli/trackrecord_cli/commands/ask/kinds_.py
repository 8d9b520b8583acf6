"""`trackrecord kinds`: the kinds of task that estimates compare within."""

from __future__ import annotations

from collections.abc import Sequence

from trackrecord.resources.reports.kinds import KINDS, KindOfTask

from ...output.drawing import bar
from ...resource_commands import command_of


def _bars(kinds: Sequence[KindOfTask], _project: str) -> list[str]:
    return [bar(each.rate) for each in kinds]


command = command_of(KINDS, KINDS.operations[0], drawn={"rate": _bars})
