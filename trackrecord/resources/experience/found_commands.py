"""What the sessions of a project show of its commands, counted from the calls on record."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection

from ..access.answer_cache import AnswerCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    import redis

    from trackrecord.learning.advice.moments.calls import TriedRun
    from trackrecord.learning.advice.moments.commands import Command
    from trackrecord.learning.advice.moments.facts import Defect
    from trackrecord.settings.daemon_settings import DaemonSettings

_kept: Final[AnswerCache[tuple[Command, ...]]] = AnswerCache(8)


def found_commands(
    connection: Connection, project_id: int, runs: Sequence[TriedRun] | None = None
) -> tuple[Command, ...]:
    """Return what runs in a project's repositories and what does not; see `AnswerCache`.

    Args:
        connection: a reading transaction.
        project_id: whose commands.
        runs: the calls of its newest runs, where they are read already.
    """

    def find() -> tuple[Command, ...]:
        from trackrecord.learning.advice.moments.commands import MOST_RUNS, commands_of
        from trackrecord.store.advice.runs import read_tried_runs

        read = read_tried_runs(connection, project_id, limit=MOST_RUNS) if runs is None else runs
        return tuple(commands_of(read, now=time.time()))

    return _kept.answer(connection, project_id, None, find)


def standing_defects(
    client: redis.Redis,
    settings: DaemonSettings,
    project: str,
) -> Sequence[Defect]:
    """Return what has failed for so long that people should hear of it, the longest streak first.

    The worker has counted it.

    Args:
        client: a Redis client.
        settings: the rules, and where the worker leaves it.
        project: whose commands.
    """
    from trackrecord.prompt.reading.noted_news import cached_defects

    found = cached_defects(client, settings, project)
    return [each for each in found if not each.ended_at]
