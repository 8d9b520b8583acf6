"""`patterns promote`, `deprecate` and `reset`: decisions by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from .access import open_store, settings_for
from .by_hand import signed
from .completing import complete
from .options import Command
from .screen import print_json

if TYPE_CHECKING:
    from trackrecord.changes.patterns import Action


def _options(*, reason_required: bool) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        options = signed(
            by="Name the person who decides.",
            reason="Give the reason; the history keeps it.",
            reason_required=reason_required,
        )
        return click.argument("pattern_id", metavar="ID", shell_complete=complete("pattern"))(
            options(command)
        )

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
    action: Action,
    *,
    pattern_id: str,
    reason: str | None,
    actor: str,
    project: str | None,
    as_json: bool,
) -> None:
    from trackrecord.changes.patterns import decide_about_pattern

    settings, project = settings_for(project)
    with open_store(settings) as engine:
        decision = decide_about_pattern(
            engine, settings, project, pattern_id, action, by=actor, reason=reason
        )
    if as_json:
        print_json(decision.to_document())
    elif decision.changed:
        click.echo(f"{decision.id}: {decision.before} -> {decision.after}")
    else:
        click.echo(f"{decision.id}: nothing was decided by hand, so there is nothing to reset")
