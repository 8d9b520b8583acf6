"""`trackrecord import`: recorded runs as outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trackrecord_capture.sources.register import agent_names

from ...access import open_redis, settings_for
from ...arguments.options import OneOf, json_option, project_option

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from trackrecord_producers.importers.records import Imported, Rejected


AGENTS = ("all", *agent_names())


class _Format(OneOf):
    def get_missing_message(
        self,
        param: click.Parameter,  # noqa: ARG002 - click's signature
        ctx: click.Context | None,  # noqa: ARG002 - as above
    ) -> str:
        """Return the formats to choose from."""
        return f"It is one of {', '.join(self.choices)}"


AGENT_OR_FORMAT = _Format(sorted((*AGENTS, "jsonl")))


@click.command("import")
@click.argument("form", metavar="FORMAT", type=AGENT_OR_FORMAT)
@click.argument("paths", metavar="[PATH...]", nargs=-1, type=click.Path(path_type=Path))
@project_option
@json_option
@click.option(
    "--wait", is_flag=True, help="Wait until the outcomes are learnt; sessions always are."
)
@click.option(
    "--again", is_flag=True, help="Import sessions from their start, also where nothing is new."
)
def command(
    form: str,
    paths: tuple[Path, ...],
    project: str | None,
    *,
    wait: bool,
    again: bool,
    as_json: bool,
) -> int:
    """Import recorded runs as outcomes.

    FORMAT names a coding agent whose sessions are recorded on this machine, or is all for all of
    them; `trackrecord install` lists them. Without a PATH the sessions are looked for where the
    agent keeps them. Each run belongs to the project of its folder, unless --project names one.
    What was learnt from them is shown at the end. If no server runs, one is started for as long as
    it takes.

    FORMAT is else jsonl: outcomes as the wire format describes them, in the files that PATH names.
    Importing twice changes nothing; the answer says how many outcomes
    were new, and how many were known already. A file that `trackrecord export` wrote is recognised
    and imported as a whole, into a project that has no data yet.
    """
    if form in AGENTS:
        from trackrecord.settings.settings import load_settings

        from ...history.importing import ImportRequest, import_history

        wanted = ImportRequest(form, paths, project, again=again)
        return import_history(load_settings(), wanted, as_json=as_json)
    return _import_files(paths, project, wait=wait, as_json=as_json)


def _import_files(
    paths: tuple[Path, ...], project: str | None, *, wait: bool, as_json: bool
) -> int:
    from trackrecord.store.transfer.importing import is_export
    from trackrecord_producers.importers.jsonl import read_jsonl
    from trackrecord_producers.publishing.checked_outcomes import given_outcomes

    from ...arguments.outcome_input import up_to_damage
    from ...output.screen import progress_bar, telling_what_was_done
    from ...publishing import Publication, find_known, report, so_far, wait_until_learnt
    from ...subcommands.exports import import_exports

    for path in paths or (None,):
        if path is None or path.is_dir() or not path.exists():
            message = "jsonl needs the path of a file" + (f", not {path}" if path else "")
            raise click.UsageError(message)
    if any(map(is_export, paths)):
        return import_exports(paths, project, as_json=as_json)
    settings, project = settings_for(project)
    most = settings.max_body_bytes
    publication: Publication | None = None
    with (
        telling_what_was_done(lambda: so_far(publication)),
        open_redis(settings) as client,
        progress_bar() as progress,
    ):
        shown = progress.add_task("importing", total=None)
        publication = Publication(client, settings, find_known(settings))
        for path in paths:
            records = _counted(read_jsonl(path), progress, shown)
            given = given_outcomes(records, project=project, max_bytes=most, file=str(path))
            published = publication.publish(up_to_damage(given, str(path)))
        if wait:
            progress.remove_task(shown)
            learning = progress.add_task("learning", total=None)
            wait_until_learnt(
                client,
                settings.keys,
                published,
                lambda done, total: progress.update(learning, completed=done, total=total),
            )
    return report(published, waited=wait, as_json=as_json)


def _counted(
    records: Iterable[Imported | Rejected], progress: Progress, shown: TaskID
) -> Iterator[Imported | Rejected]:
    for record in records:
        progress.advance(shown)
        yield record
