"""`trackrecord status`: is the loop alive?"""

import click

from ..access import open_redis, read_store
from ..options import at_option, json_option, project_option
from ..screen import print_json, print_table

_NO = 1


@click.command("status")
@project_option
@at_option
@json_option
def command(project: str | None, at: float | None, *, as_json: bool) -> int:
    """Show whether the loop is alive and how much it has learnt.

    With --project the counts are those of the project, otherwise those of all projects. Exit
    status 1 means that nothing can be learnt because no worker is running, 3 that a server cannot
    be reached.
    """
    from trackrecord.queries.status import read_status
    from trackrecord_producers.spool import spool_size

    with read_store(None) as (connection, settings, _), open_redis(settings) as client:
        spooled = spool_size(settings).outcomes
        status = read_status(client, connection, settings, project=project, spooled=spooled, at=at)
    document = status.to_document()
    if as_json:
        print_json(document)
    else:
        verdict = document.pop("verdict")
        due = ", ".join(status.rebuild_due) or "no"
        print_table(("field", "value"), (document | {"rebuild_due": due}).items())
        click.echo(verdict)
    return 0 if status.is_learning else _NO
