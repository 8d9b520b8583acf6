"""Import files: outcomes as JSON Lines, and exports of whole projects."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trackrecord.learning.text.numerals import counted
from trackrecord.store.transfer.importing import ImportedProject, import_project, is_export
from trackrecord_producers.importers.jsonl import BadLine, Imported, read_jsonl
from trackrecord_producers.publishing.checked_outcomes import given_outcomes

from ..access import open_redis, open_store, settings_for
from ..output.screen import print_json, progress_bar, telling_what_was_done
from ..publishing import Publication, find_known, report, so_far, up_to_damage, wait_until_learnt

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


def import_files(paths: tuple[Path, ...], project: str | None, *, wait: bool, as_json: bool) -> int:
    """Import files of outcomes, or exports of projects; return the exit status.

    Args:
        paths: the files.
        project: the project of outcomes that name none; None for the usual one, or, of exports, for
            the ones that were exported.
        wait: whether to wait until the outcomes are learnt.
        as_json: whether the answer is JSON.

    Raises:
        ServerUnavailable: Redis or the database cannot be reached.
    """
    for path in paths or (None,):
        if path is None or path.is_dir() or not path.exists():
            message = "jsonl needs the path of a file" + (f", not {path}" if path else "")
            raise click.UsageError(message)
    if any(map(is_export, paths)):
        return _import_exports(paths, project, as_json=as_json)
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
    records: Iterable[Imported | BadLine], progress: Progress, shown: TaskID
) -> Iterator[Imported | BadLine]:
    for record in records:
        progress.advance(shown)
        yield record


def _import_exports(paths: Sequence[Path], project: str | None, *, as_json: bool) -> int:
    """Import files that are exports, one after the other; return the exit status."""
    other = [str(path) for path in paths if not is_export(path)]
    if other:
        message = f"exports are imported apart from other files: {other[0]} is not an export"
        raise click.UsageError(message)
    settings, _ = settings_for(None)
    done: list[ImportedProject] = []
    with (
        telling_what_was_done(lambda: _left(done, len(paths))),
        open_store(settings) as engine,
        progress_bar(of_bytes=True) as progress,
    ):
        for path in paths:
            shown = progress.add_task(f"importing {path.name}", total=path.stat().st_size)

            def report(position: int, shown: Any = shown) -> None:  # noqa: ANN401 - rich's TaskID
                progress.update(shown, completed=position)

            done.append(
                import_project(
                    engine, path, project, settings.rules.memories, now=time.time(), report=report
                )
            )
    if as_json:
        print_json([_document(each) for each in done])
    else:
        for each in done:
            click.echo(_summary(each))
    return 0


def _left(done: Sequence[ImportedProject], files: int) -> str:
    """Return the results so far of an interrupted import."""
    return (
        f"{len(done)} of {files} files imported; of the next one nothing was kept: run the same "
        "command again"
    )


def _document(imported: ImportedProject) -> dict[str, Any]:
    return {
        "project": imported.project,
        "was_there": imported.was_there,
        "rows": sum(imported.rows.values()),
        "tables": {name: count for name, count in imported.rows.items() if count},
    }


def _summary(imported: ImportedProject) -> str:
    if imported.was_there:
        return f"project {imported.project!r} has this export already: nothing was changed"
    return (
        f"project {imported.project!r}: "
        f"{counted(imported.rows['outcomes'], 'outcome')} imported, with everything known of them "
        f"({sum(imported.rows.values())} rows)"
    )
