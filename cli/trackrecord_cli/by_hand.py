"""What changes by hand share: who makes them and why, and rankings that follow at once."""

import contextlib
from collections.abc import Callable
from getpass import getuser

import click
import redis
from sqlalchemy import Engine

from trackrecord.errors import ServerUnavailable
from trackrecord.redis_client import agent_client
from trackrecord.settings import Settings
from trackrecord_worker.refresh import RankingsRefresher

from .options import Command, Read, json_option, line_of, project_option

_ACTOR = Read("text", line_of(128))
REASON = Read("text", line_of(1000))


def signed(*, by: str, reason: str, reason_required: bool) -> Callable[[Command], Command]:
    """The options of every change by hand: `--by`, `--reason`, `--project` and `--json`.

    Args:
        by: the help of `--by`, without its default.
        reason: the help of `--reason`.
        reason_required: whether it must be given.
    """

    def decorate(command: Command) -> Command:
        for option in (
            json_option,
            project_option,
            click.option(
                "--by",
                "actor",
                type=_ACTOR,
                default=_who,
                help=f"{by}  [default: the user's name]",
            ),
            click.option(
                "--reason",
                type=REASON,
                required=reason_required,
                help=reason,
            ),
        ):
            command = option(command)
        return command

    return decorate


def _who() -> str:
    """The name of the user who calls."""
    try:
        return getuser()
    except (KeyError, OSError):  # a container's user without a name
        return "unknown"


def refresh_rankings(engine: Engine, settings: Settings, project: str) -> None:
    """At once, so that the next prompt honours it; without Redis a worker does it later."""
    with (
        contextlib.suppress(redis.RedisError, OSError, ServerUnavailable),
        agent_client(settings) as client,
    ):
        RankingsRefresher(engine, client, settings).refresh(project)
