"""`trackrecord lessons`: lessons from the calls of tools."""

from __future__ import annotations

from pathlib import Path

import click

from trackrecord.resources.experience.lessons import LESSONS

from ...access import known_project, read_store
from ...arguments.options import json_option, project_option
from ...history.page import print_check, print_page
from ...output.screen import print_json
from ...resource_commands import group_of


@click.command("lessons")
@project_option
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Show what does not work in a file of instructions, such as AGENTS.md, and a block with "
    "what it lacks. The file is never changed.",
)
@json_option
@click.pass_context
def _page(ctx: click.Context, project: str | None, file: Path | None, *, as_json: bool) -> None:
    """Print the page that an import of sessions ends with, of this project or else of all."""
    if ctx.invoked_subcommand is not None:
        return
    if file is not None:
        _check(file, project, as_json=as_json)
        return
    from trackrecord.resources.reports.agents_work import work_of_agents
    from trackrecord_capture.agents.installed import read_installed

    with read_store(project) as (connection, settings, name):
        project = project or known_project(name)
        works = work_of_agents(connection, settings, project)
    if as_json:
        print_json([work.to_document() for work in works])
    elif works:
        print_page(works, is_installed=bool(read_installed(settings.home)))
    else:
        click.echo("nothing is on record yet; `trackrecord import all` reads your agents' sessions")


def _check(file: Path, project: str | None, *, as_json: bool) -> None:
    from trackrecord.resources.reports.instruction_file import check_instructions

    text = file.read_text("utf-8", "replace")
    with read_store(project) as (connection, settings, name):
        check = check_instructions(connection, settings, name, text)
    if as_json:
        print_json(check.to_document())
    else:
        print_check(file.name, name, check)


command = group_of(LESSONS, alone=_page)
