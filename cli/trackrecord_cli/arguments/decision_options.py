"""The options that decisions by hand share: their author and the reason."""

from __future__ import annotations

from collections.abc import Callable

import click

from .options import Command, Read, line_of

_ACTOR = Read("text", line_of(128))
REASON = Read("text", line_of(1000))


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
    from trackrecord.resources.declaration.checks import user_name

    return user_name()
