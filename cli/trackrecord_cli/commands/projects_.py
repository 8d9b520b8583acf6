"""`trackrecord projects`: whose experience is on record."""

from __future__ import annotations

import click

from trackrecord.queries.sorting import PROJECTS, Order

from ..access import read_store
from ..options import at_option, json_option, limit_option, sort_option
from ..screen import print_json, print_table, say_more


@click.command("projects")
@at_option
@limit_option("projects")
@sort_option(PROJECTS)
@json_option
def command(at: float | None, limit: int | None, order: Order | None, *, as_json: bool) -> None:
    """List the projects on record, and how much each has learnt."""
    from trackrecord.queries.projects import list_projects

    with read_store(None) as (connection, _, _name):
        # Whose counts are compared must all be counted.
        found, beyond = list_projects(connection, at=at, limit=None if order else limit)
    shown = PROJECTS.sorted(found, order)[:limit]
    documents = [project.to_document() for project in shown]
    if as_json:
        print_json(documents)
        return
    if not documents:
        click.echo("no projects on record: nothing has been learnt yet")
        return
    columns = [name for name in documents[0] if name != "name"]
    print_table(
        ["project", *(name.replace("_", " ") for name in columns)],
        ([each["name"], *(each[name] for name in columns)] for each in documents),
    )
    say_more(beyond + len(found) - len(shown), "projects")
