"""`trackrecord import jsonl` for files of `trackrecord export`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..access import open_store, settings_for
from ..output.screen import print_json, progress_bar, telling_what_was_done

if TYPE_CHECKING:
    from trackrecord.store.transfer.importing import ImportedProject


def import_exports(paths: Sequence[Path], project: str | None, *, as_json: bool) -> int:
    """Import files that are exports, one after the other; return the exit status.

    Args:
        paths: the files.
        project: the project that they are imported as; None: as the ones that were exported.
        as_json: whether the answer is JSON.
    """
    from trackrecord.store.transfer.importing import import_project, is_export

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
    from trackrecord.resources.operation.status import counted

    if imported.was_there:
        return f"project {imported.project!r} has this export already: nothing was changed"
    return (
        f"project {imported.project!r}: "
        f"{counted(imported.rows['outcomes'], 'outcome')} imported, with everything known of them "
        f"({sum(imported.rows.values())} rows)"
    )
