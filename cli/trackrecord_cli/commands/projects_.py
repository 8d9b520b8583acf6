"""`trackrecord projects`: whose experience is on record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trackrecord.queries.sorting import PROJECTS
from trackrecord.resources.paging import Order

from ..access import read_store
from ..drawing import bar
from ..options import at_option, json_option, limit_option, sort_option
from ..screen import on_terminal, print_json, print_table, say_more
from ..trends import day_trends

if TYPE_CHECKING:
    from trackrecord.queries.projects import Project

_MOST_DRAWN = 100


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
        trends = (
            [""] * len(shown)
            if as_json or len(shown) > _MOST_DRAWN
            else [day_trends(connection, [project.name], at)[0] for project in shown]
        )
    documents = [project.to_document() for project in shown]
    if as_json:
        print_json(documents)
        return
    if not documents:
        click.echo("no projects on record: nothing has been learnt yet")
        return
    if on_terminal():
        _print_rich(shown, trends)
    else:
        columns = [name for name in documents[0] if name != "name"]
        print_table(
            ["project", *(name.replace("_", " ") for name in columns)],
            ([each["name"], *(each[name] for name in columns)] for each in documents),
        )
    say_more(beyond + len(found) - len(shown), "projects")


def _print_rich(shown: list[Project], trends: list[str]) -> None:
    from trackrecord.times import iso

    print_table(
        (
            "project", "outcomes", "success rate", "patterns", "records", "memories",
            "last outcome", "trend",
        ),
        (
            (
                each.name,
                each.outcomes,
                "" if each.success_rate is None
                else f"{bar(each.success_rate)} {each.success_rate:.0%}",
                each.patterns,
                each.competences,
                each.memories,
                iso(each.last_outcome),
                trend,
            )
            for each, trend in zip(shown, trends, strict=True)
        ),
    )  # fmt: skip
