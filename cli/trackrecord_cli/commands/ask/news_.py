"""`trackrecord news`: list recent changes."""

from __future__ import annotations

import time

import click

from trackrecord.resources.declaration.paging import Order
from trackrecord.resources.operation.news import NEWS

from ...access import open_redis, open_store, settings_for
from ...arguments.options import MOMENT, list_options
from ...output.screen import print_json, print_table, say_more

_DAY_S = 86_400.0


@click.command("news")
@list_options(NEWS, default=100)
@click.option(
    "--since",
    type=MOMENT,
    default=None,
    help="Start after this moment.  [default: a day ago]",
)
def command(
    project: str | None,
    limit: int,
    order: Order | None,
    since: float | None,
    *,
    as_json: bool,
) -> None:
    """List what changed: patterns that became proven or warnings, lessons that appeared.

    The list covers the last day, newest first.
    """
    from trackrecord.learning.text.times import iso
    from trackrecord.resources.operation.news import changes_between
    from trackrecord.store.database.engine import reading

    settings, name = settings_for(project)
    until = time.time()
    start = until - _DAY_S if since is None else since
    if start > until:
        message = "--since must not be later than now"
        raise click.UsageError(message)
    with (
        open_redis(settings) as client,
        open_store(settings) as engine,
        reading(engine) as connection,
    ):
        found = changes_between(connection, client, settings, name, since=start, until=until)
    found = NEWS.sorted(reversed(found), order)
    if as_json:
        print_json([each.to_document() for each in found[:limit]])
        return
    if not found:
        click.echo(f"nothing changed in project {name!r} after {iso(start)}")
        return
    print_table(
        ("at", "what", "of"),
        ((iso(each.at), each.text, each.subject) for each in found[:limit]),
        about="what",
        secondary=("at",),
    )
    say_more(max(0, len(found) - limit), "pieces of news")
