"""`patterns promote`, `deprecate` and `reset`: decisions by hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from .access import open_store, settings_for
from .by_hand import refresh_rankings, signed
from .options import Command
from .screen import print_json

if TYPE_CHECKING:
    from trackrecord.store.patterns.transitions import Transition


def _options(*, reason_required: bool) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        options = signed(
            by="Name the person who decides.",
            reason="Give the reason; the history keeps it.",
            reason_required=reason_required,
        )
        return click.argument("pattern_id", metavar="ID")(options(command))

    return decorate


@click.command("promote")
@_options(reason_required=False)
def promote(**given: Any) -> None:  # noqa: ANN401 - handed on by name
    """Make a pattern proven, because it was validated elsewhere.

    It stays so until reset. A deprecated pattern cannot be promoted, only reset.
    """
    _decide("promote", **given)


@click.command("deprecate")
@_options(reason_required=True)
def deprecate(**given: Any) -> None:  # noqa: ANN401 - as above
    """Deprecate a pattern, so that it is not recommended again until reset."""
    _decide("deprecate", **given)


@click.command("reset")
@_options(reason_required=False)
def reset(**given: Any) -> None:  # noqa: ANN401 - as above
    """Take back a decision by hand, so that the evidence decides about the pattern again."""
    _decide("reset", **given)


COMMANDS = (promote, deprecate, reset)


def _decide(
    action: str,
    *,
    pattern_id: str,
    reason: str | None,
    actor: str,
    project: str | None,
    as_json: bool,
) -> None:
    from trackrecord.learning.patterns.decisions import DecisionAction
    from trackrecord.queries.patterns import pattern_slug
    from trackrecord.queries.project_rows import project_row
    from trackrecord.store.database.engine import writing
    from trackrecord.store.patterns.decide import decide

    settings, project = settings_for(project)
    with open_store(settings) as engine:
        with writing(engine) as connection:
            slug = pattern_slug(connection, project, pattern_id)
            change = decide(
                connection,
                project_row(connection, project),
                slug,
                DecisionAction(action),
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
    action: str,
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
                "action": action,
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
