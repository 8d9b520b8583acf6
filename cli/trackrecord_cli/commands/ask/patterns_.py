"""`trackrecord patterns`: the standing of patterns."""

from __future__ import annotations

from typing import Any

import click

from trackrecord.resources.declaration.paging import Order
from trackrecord.resources.experience.patterns import (
    PATTERNS,
    list_patterns,
)

from ...access import own_store
from ...arguments.options import format_option
from ...output.screen import coloured_states
from ...resource_commands import group_of


def _with_prompt(listing: click.Command) -> click.Command:
    """Let the list be printed as prompt text, too."""

    def callback(*, form: str, **given: Any) -> None:  # noqa: ANN401 - what the options read
        assert listing.callback is not None  # noqa: S101 - it lists
        if form == "prompt" and not given["as_json"]:
            _print_prompt(**given)
        else:
            listing.callback(**given)

    command = click.Command("list", params=[*listing.params], callback=callback, help=listing.help)
    return format_option(
        "Print a table or prompt text. Prompt text leaves out deprecated patterns unless "
        "--state deprecated is given."
    )(command)


def _print_prompt(
    project: str | None,
    limit: int | None,
    order: Order | None,
    *,
    of_all: bool,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - as above
) -> None:
    from trackrecord.prompt.answers.learnt_entries import patterns_text

    del as_json
    if of_all:
        message = "a prompt is for one project: give --project in place of --all"
        raise click.UsageError(message)
    with own_store(project) as name:
        found = PATTERNS.sorting("list").sorted(list_patterns(**given, project=name), order)
    shown = (pattern.shown for pattern in found[:limit])
    with_deprecated = given["state"] == "deprecated"
    if text := patterns_text(shown, given["lang"], with_deprecated=with_deprecated):
        click.echo(text)


command = group_of(PATTERNS, drawn={"state": coloured_states}, more={"list": _with_prompt})
