"""The options that decisions by hand share: their author and the reason."""

from __future__ import annotations

from collections.abc import Callable

import click

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
            actor_option("--by", by),
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


def actor_option(name: str, help_text: str) -> Callable[[Command], Command]:
    """The option that names who makes a change.

    Args:
        name: of the option.
        help_text: its help, without the default.
    """
    return click.option(
        name,
        "actor",
        type=_ACTOR,
        default=_who,
        help=f"{help_text}  [default: the user's name]",
    )


def _who() -> str:
    """Return the name of the user who calls."""
    from trackrecord.resources.checks import user_name

    return user_name()
