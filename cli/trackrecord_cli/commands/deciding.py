"""`patterns promote`, `deprecate` and `reset`: decisions by hand."""

import time
from collections.abc import Callable
from typing import Any

import click

from trackrecord.learning.patterns.decisions import Action
from trackrecord.learning.strategies.identity import pattern_id_of
from trackrecord.store.database.engine import writing
from trackrecord.store.patterns.decide import decide
from trackrecord.store.patterns.transitions import Transition

from ..access import open_store, project_on_record, settings_for
from ..by_hand import refresh_rankings, signed
from ..options import Command
from ..screen import print_json


def _options(*, reason_required: bool) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        options = signed(
            by="Who decides.", reason="Why; kept in the history.", reason_required=reason_required
        )
        return click.argument("pattern_id", metavar="ID")(options(command))

    return decorate


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
            change = decide(
                connection,
                project_on_record(connection, project),
                slug,
                action,
                actor=actor,
                reason=reason or "",
                rules=settings.rules,
                now=time.time(),
            )
        if change is not None:
            refresh_rankings(engine, settings, project)
    _say(slug, action, change, actor=actor, reason=reason, as_json=as_json)


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
