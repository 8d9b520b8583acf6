"""`trackrecord competences`: which tool procedures have worked."""

from __future__ import annotations

from collections.abc import Sequence

from trackrecord.resources.experience.competences import COMPETENCES, CompetenceRecord

from ...output.drawing import bar
from ...resource_commands import group_of
from ...subcommands.revising import COMMANDS
from ...subcommands.selecting import select_competences as select_command


def _bars(records: Sequence[CompetenceRecord], _project: str) -> list[str]:
    rates = [each.record.performance.success_rate for each in records]
    return [f"{bar(rate)} {rate:.2f}" for rate in rates]


command = group_of(COMPETENCES, drawn={"rate": _bars})
for each_command in (select_command, *COMMANDS):
    command.add_command(each_command)
