"""`trackrecord import`: recorded runs as outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..access import open_redis, settings_for
from ..import_format import FORMAT
from ..options import json_option, project_option

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from trackrecord_producers.importers import Imported, Rejected


@click.command("import")
@click.argument("form", metavar="FORMAT", type=FORMAT)
@click.argument(
    "paths",
    metavar="PATH...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@project_option
@json_option
@click.option("--wait", is_flag=True, help="Wait until the outcomes are learnt.")
def command(
    form: str, paths: tuple[Path, ...], project: str | None, *, wait: bool, as_json: bool
) -> int:
    """Import recorded runs as outcomes.

    FORMAT is one of: jsonl (outcomes as the wire format describes them), tau-bench. Importing a
    file twice changes nothing; the answer says how many outcomes were new, and how many were known
    already.
    """
    from trackrecord_producers.importers import read_recorded

    from ..outcome_input import given_outcomes
    from ..publishing import Publication, find_known, report, wait_until_learnt
    from ..screen import progress_bar

    settings, project = settings_for(project)
    most = settings.max_body_bytes
    with open_redis(settings) as client, progress_bar() as progress:
        shown = progress.add_task("importing", total=None)
        publication = Publication(client, settings.keys, find_known(settings))
        for path in paths:
            records = _counted(read_recorded(form, path), progress, shown)
            published = publication.publish(
                given_outcomes(records, project=project, max_bytes=most, file=str(path))
            )
        if wait:
            progress.update(shown, description="learning")
            wait_until_learnt(client, settings.keys, published)
    return report(published, waited=wait, as_json=as_json)


def _counted(
    records: Iterable[Imported | Rejected], progress: Progress, shown: TaskID
) -> Iterator[Imported | Rejected]:
    for record in records:
        progress.advance(shown)
        yield record
