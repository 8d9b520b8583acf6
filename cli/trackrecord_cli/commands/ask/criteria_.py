"""`trackrecord criteria`: how far each criterion can be relied on."""

from __future__ import annotations

import click

from trackrecord.resources.experience.criteria import (
    CRITERIA,
)

from ...access import TypedId, own_store, say_removed_of
from ...arguments.options import json_option, project_option
from ...output.screen import print_details, print_json
from ...resource_commands import group_of

_MOST = 10_000


command = group_of(CRITERIA)


@command.command("show")
@click.argument("criterion", metavar="NAME")
@project_option
@click.option(
    "--limit",
    type=click.IntRange(min=1, max=_MOST),
    help="Show at most this many pieces of feedback.  [default: 10]",
)
@click.option(
    "--after",
    metavar="CURSOR",
    help="Show the feedback that follows a page: give the cursor that it ended with.",
)
@json_option
def show_criterion(
    criterion: str,
    project: str | None,
    limit: int | None,
    after: str | None,
    *,
    as_json: bool,
) -> None:
    """Show one criterion: its numbers, and its feedback, newest first."""
    from trackrecord.resources.experience.criteria import show_criterion as show

    with own_store(project, TypedId(criterion, ("criterion",))) as name:
        details = show(criterion, limit=limit, after=after, project=name)
        is_whole = details.cursor is None
        removed = say_removed_of(name, ("outcomes",), {}, is_whole=is_whole)
    if as_json:
        print_json(details.to_document() | removed)
    else:
        print_details(details.to_document())
