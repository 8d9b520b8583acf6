"""`trackrecord commands`: what runs in the repositories that agents work in, and what does not."""

from __future__ import annotations

import click

from trackrecord.resources.experience.commands import COMMANDS

from ...access import known_project, read_store
from ...arguments.options import json_option, project_option
from ...history.page import print_commands
from ...output.screen import print_json
from ...resource_commands import group_of


@click.command("commands")
@project_option
@json_option
@click.pass_context
def _page(ctx: click.Context, project: str | None, *, as_json: bool) -> None:
    """Print what never runs and what does, in this project or else in all."""
    if ctx.invoked_subcommand is not None:
        return
    from trackrecord.resources.reports.agents_work import told_commands

    with read_store(project) as (connection, settings, name):
        project = project or known_project(name)
        found = told_commands(connection, settings, project)
    if as_json:
        print_json({name: [each.to_document() for each in told] for name, told in found.items()})
    elif any(found.values()):
        print_commands(found)
    else:
        click.echo("nothing is known of commands yet")


command = group_of(COMMANDS, alone=_page)
