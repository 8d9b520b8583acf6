"""`trackrecord kinds`: the kinds of task that estimates compare within."""

from __future__ import annotations

import click

from trackrecord.queries.sorting import KINDS
from trackrecord.resources.paging import Order

from ..access import read_store
from ..drawing import bar
from ..options import list_options
from ..screen import for_people, print_json, print_table, say_more


@click.command("kinds")
@list_options(KINDS)
def command(
    project: str | None,
    at: float | None,
    limit: int | None,
    order: Order | None,
    *,
    as_json: bool,
) -> None:
    """List the kinds of task, and how often each succeeds.

    A kind is a trigger, a cluster of instructions with the same rare words, or a repository.
    """
    from trackrecord.queries.estimates import list_kinds

    with read_store(project) as (connection, settings, name):
        found = list_kinds(connection, settings, name, at=at)
    shown = KINDS.sorted(found, order)[:limit]
    if as_json:
        print_json([kind.to_document() for kind in shown])
        return
    if not shown:
        click.echo(f"no kinds of task in project {name!r}: no run is on record")
        return
    print_table(
        ("kind", *for_people("rate"), "succeeds in"),
        ((kind.name, *for_people(bar(kind.estimate.posterior.mean)), kind.words) for kind in shown),
    )
    say_more(len(found) - len(shown), "kinds")
