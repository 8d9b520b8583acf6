"""What the sessions of a project show of its commands, counted from the calls on record."""

import time
from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.advice.moments.commands import MOST_RUNS, Command, commands_of
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.advice.runs import read_tried_runs

from ..access.answer_cache import AnswerCache

_kept: Final = AnswerCache[tuple[Command, ...]](8)


def found_commands(
    connection: Connection, settings: DaemonSettings, project_id: int, *, at: float | None = None
) -> tuple[Command, ...]:
    """Return what runs in a project's repositories and what does not; see `AnswerCache`.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project_id: whose commands.
        at: a past moment to answer for.
    """
    limit = min(settings.advice.max_runs, MOST_RUNS)

    def find() -> tuple[Command, ...]:
        runs = read_tried_runs(connection, project_id, limit=limit, at=at)
        return tuple(commands_of(runs, now=time.time() if at is None else at))

    return _kept.answer(connection, project_id, (limit, at), find)
