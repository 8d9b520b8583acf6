"""`patterns promote`, `deprecate` and `reset`: decisions by hand."""

import contextlib
import time
from collections.abc import Callable
from getpass import getuser
from typing import Any, TypeVar

import click
import redis
from sqlalchemy import Engine

from trackrecord.errors import ServerUnavailable, UnknownId
from trackrecord.learning.decisions import Action
from trackrecord.learning.identity import pattern_id_of
from trackrecord.redis_client import agent_client
from trackrecord.rules import recogniser_of
from trackrecord.settings import Settings
from trackrecord.store.decisions import decide
from trackrecord.store.engine import writing
from trackrecord.store.projects import project_id_of
from trackrecord.store.transitions import Transition
from trackrecord_worker.refresh import RankingsRefresher

from ..access import open_store, rules_of, settings_for
from ..options import json_option, project_option
from ..screen import print_json

MAX_ACTOR = 128
MAX_REASON = 1000

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Line(click.ParamType[str]):
    """A text of some characters at most, that says something."""

    name = "text"

    def __init__(self, most: int) -> None:
        self._most = most

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """The text without the spaces around it."""
        text = str(value).strip()
        if not text or len(text) > self._most or "\0" in text:
            self.fail(f"a text of 1 to {self._most} characters is wanted", param, ctx)
        return text


def _options(*, reason_required: bool) -> Callable[[_Command], _Command]:
    def decorate(command: _Command) -> _Command:
        for option in (
            json_option,
            project_option,
            click.option(
                "--by",
                "actor",
                type=Line(MAX_ACTOR),
                default=who,
                help="Who decides.  [default: the user's name]",
            ),
            click.option(
                "--reason",
                type=Line(MAX_REASON),
                required=reason_required,
                help="Why; kept in the history.",
            ),
            click.argument("pattern_id", metavar="ID"),
        ):
            command = option(command)
        return command

    return decorate


def who() -> str:
    """The name of the user who calls."""
    try:
        return getuser()
    except (KeyError, OSError):  # a container's user without a name
        return "unknown"


@click.command("promote")
@_options(reason_required=False)
def promote(**given: Any) -> None:  # noqa: ANN401 - handed on by name
    """Make a pattern proven, because it was validated elsewhere.

    It stays so until reset. A deprecated pattern cannot be promoted, only reset.
    """
    _decide(Action.PROMOTE, **given)


@click.command("deprecate")
@_options(reason_required=True)
def deprecate(**given: Any) -> None:  # noqa: ANN401 - as above
    """Make a pattern deprecated: it is recommended no more until reset."""
    _decide(Action.DEPRECATE, **given)


@click.command("reset")
@_options(reason_required=False)
def reset(**given: Any) -> None:  # noqa: ANN401 - as above
    """Take a decision by hand back: the pattern stands again where its evidence puts it."""
    _decide(Action.RESET, **given)


COMMANDS = (promote, deprecate, reset)


def _decide(
    action: Action,
    *,
    pattern_id: str,
    reason: str | None,
    actor: str,
    project: str | None,
    as_json: bool,
) -> None:
    settings, project = settings_for(project)
    slug = pattern_id_of(pattern_id)
    with open_store(settings) as engine:
        with writing(engine) as connection:
            project_id = project_id_of(connection, project)
            if project_id is None:
                message = f"nothing is on record for project {project!r}"
                raise UnknownId(message)
            change = decide(
                connection,
                project_id,
                slug,
                action,
                actor=actor,
                reason=reason or "",
                rules=rules_of(settings),
                half_life_days=settings.decay.half_life_days,
                now=time.time(),
            )
        if change is not None:
            refresh_rankings(engine, settings, project)
    _say(slug, action, change, actor=actor, reason=reason, as_json=as_json)


def refresh_rankings(engine: Engine, settings: Settings, project: str) -> None:
    """At once, so that the next prompt honours it; without Redis a worker does it later."""
    with (
        contextlib.suppress(redis.RedisError, OSError, ServerUnavailable),
        agent_client(settings) as client,
    ):
        RankingsRefresher(engine, client, settings, recogniser_of(settings)).refresh(project)


def _say(
    slug: str,
    action: Action,
    change: Transition | None,
    *,
    actor: str,
    reason: str | None,
    as_json: bool,
) -> None:
    if as_json:
        print_json(
            {
                "id": slug,
                "action": action.value,
                "changed": change is not None,
                "before": change.before if change else None,
                "after": change.after if change else None,
                "by": actor,
                "reason": reason,
            }
        )
    elif change is None:
        click.echo(f"{slug}: nothing was decided by hand, so there is nothing to reset")
    else:
        click.echo(f"{slug}: {change.before} -> {change.after}")
