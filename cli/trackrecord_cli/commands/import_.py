"""`trackrecord import`: recorded runs as outcomes."""

from collections.abc import Iterator
from pathlib import Path

import click
from rich.progress import Progress, TaskID

from trackrecord_producers.body import write_body
from trackrecord_producers.importers import FORMATS, Imported, read_recorded

from ..access import open_redis, settings_for
from ..options import json_option, project_option
from ..outcome_input import BadLine, GivenOutcome
from ..publishing import publish_all, wait_until_learnt
from ..screen import progress_bar
from .publish_ import report


@click.command("import")
@click.argument("form", metavar="FORMAT", type=click.Choice(sorted(FORMATS)))
@click.argument(
    "paths",
    metavar="PATH...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@project_option
@json_option
@click.option("--wait", is_flag=True, help="Return when they are learnt.")
def command(
    form: str, paths: tuple[Path, ...], project: str | None, *, wait: bool, as_json: bool
) -> int:
    """Import recorded runs as outcomes; importing twice changes nothing.

    FORMAT is one of: jsonl (outcomes as the wire format describes them), tau-bench.
    """
    settings, project = settings_for(project)
    with open_redis(settings) as client, progress_bar() as progress:
        shown = progress.add_task("importing", total=None)
        given = _outcomes(form, paths, project, progress, shown)
        published = publish_all(client, settings.keys, given)
        if wait:
            progress.update(shown, description="learning")
            wait_until_learnt(client, settings.keys, published)
    return report(published, waited=wait, as_json=as_json)


def _outcomes(
    form: str, paths: tuple[Path, ...], project: str, progress: Progress, shown: TaskID
) -> Iterator[GivenOutcome | BadLine]:
    for path in paths:
        for record in read_recorded(form, path):
            progress.advance(shown)
            if isinstance(record, Imported):
                fields = {"project": project, **record.fields}
                yield GivenOutcome(fields["outcome_id"], write_body(fields))
            else:
                yield BadLine(f"{path}, record {record.record}", record.reason)
