"""`trackrecord commands`: what runs in the repositories that agents work in, and what does not."""

from __future__ import annotations

from collections.abc import Sequence

import click

from trackrecord.resources.experience.commands import COMMANDS, CommandAnswer

from ...access import read_store
from ...arguments.options import json_option, project_option
from ...output.screen import Coloured, print_json
from ...resource_commands import group_of

_COLOURS = {
    "runs": "green",
    "never ran": "red",
    "does not run": "yellow",
    "needs another first": "yellow",
    "dismissed": "dim",
}


@click.command("commands")
@project_option
@json_option
@click.pass_context
def _page(ctx: click.Context, project: str | None, *, as_json: bool) -> None:
    """Print what never runs and what does, of all projects or of one."""
    if ctx.invoked_subcommand is not None:
        return
    from trackrecord.resources.reports.agents_work import told_commands

    from ...history.page import print_commands

    with read_store(project) as (connection, settings, _):
        found = told_commands(connection, settings, project)
    if as_json:
        print_json({name: [each.to_document() for each in told] for name, told in found.items()})
    elif any(found.values()):
        print_commands(found)
    else:
        click.echo("nothing is known of commands yet")


def _states(commands: Sequence[CommandAnswer], _project: str) -> list[Coloured]:
    words = [each.state_in_words for each in commands]
    return [Coloured(each, _COLOURS[each]) for each in words]


command = group_of(COMMANDS, drawn={"state": _states}, alone=_page)
