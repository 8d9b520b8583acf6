"""Importing an export: a project that is not there yet, with everything that was known of it.

One transaction: either the whole project is there afterwards or nothing of it, wherever the process
was killed and whatever is wrong with the file.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from sqlalchemy import Connection, Engine, insert, select, update

from trackrecord.errors import ImportFormatError, TransferRefused
from trackrecord.learning.competences.record import Competence
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.store.advice.runs import list_again
from trackrecord.store.competences.selection.selection_index import write_numbers
from trackrecord.store.competences.tables import competences
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.store.memories.similar import lock_memories, mark_new
from trackrecord.store.outcomes.days import recount_days
from trackrecord.store.outcomes.forgotten import share_projects
from trackrecord.store.outcomes.projects import clock_of, next_revision
from trackrecord.store.outcomes.tables import project_imports, projects

from .lines import LONGEST_HEADER, Header, is_header, read_header
from .renaming import Renaming
from .row_importer import Report, RowImporter, lines_of
from .subjects import exported_tables, has_rows

_AT_ONCE: Final = 2000
_record = msgspec.json.Decoder(Competence)


@dataclass(frozen=True)
class ImportedProject:
    """The result of an import.

    Attributes:
        project: the project.
        rows: how many rows it got, by table.
        was_there: whether the same export was imported before, so that nothing changed.
    """

    project: str
    rows: dict[str, int]
    was_there: bool = False


def is_export(path: Path) -> bool:
    """Return whether a file is an export."""
    try:
        with path.open("rb") as file:
            return is_header(file.readline(LONGEST_HEADER))
    except OSError:
        return False  # whoever reads it next says what is wrong


def import_project(
    engine: Engine,
    path: Path,
    project: str | None,
    rules: MemoryRules,
    *,
    now: float,
    report: Report,
) -> ImportedProject:
    """Import an export into a project without data.

    Args:
        engine: the store.
        path: the file.
        project: the project; None for the name of the one that was exported.
        rules: of memories, which are compared anew.
        now: seconds since the epoch.
        report: told how far it has come.

    Raises:
        ImportFormatError: a line is not one of an export; the message names it.
        SchemaTooNew: the export is of a newer version.
        TransferRefused: the project has data of its own, or the export holds what was forgotten.
        StoreUnavailable: the database cannot be used.
    """
    try:
        with path.open("rb") as file:
            header = read_header(file.readline(LONGEST_HEADER))
            name = project or header.project
            with writing(engine) as connection:
                share_projects(connection, [name, header.project])
                project_id = ensure_projects(connection, [name])[name]
                lock_memories(connection, project_id)
                if _is_imported(connection, project_id, header):
                    return ImportedProject(name, {}, was_there=True)
                _refuse_used(connection, project_id, name)
                renaming = _renaming(path, header, name)
                taking = RowImporter(connection, project_id, renaming, name, header)
                rows = taking.all(file, report)
                _complete(connection, project_id, rules, now=now)
                connection.execute(
                    insert(project_imports).values(
                        project_id=project_id, export_id=header.export_id, imported_at=now
                    )
                )
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise ImportFormatError(message) from None
    index_past_tasks(engine)
    return ImportedProject(name, rows)


def _is_imported(connection: Connection, project_id: int, header: Header) -> bool:
    query = select(project_imports.c.export_id).where(
        project_imports.c.project_id == project_id,
        project_imports.c.export_id == header.export_id,
    )
    return connection.execute(query).first() is not None


def _refuse_used(connection: Connection, project_id: int, name: str) -> None:
    for table in exported_tables():
        if table is not projects and has_rows(connection, table, project_id):
            message = (
                f"project {name!r} has data already, and an export is imported as a whole: "
                "import it as another project with --project NAME"
            )
            raise TransferRefused(message)


def _renaming(path: Path, header: Header, name: str) -> Renaming | None:
    if name == header.project:
        return None
    with path.open("rb") as file:
        file.readline(LONGEST_HEADER)
        return Renaming(header.project, name, (line for _, line in lines_of(file)))


def _complete(connection: Connection, project_id: int, rules: MemoryRules, *, now: float) -> None:
    """Recompute values derived from the rows, and have rankings refreshed."""
    mark_new(connection, project_id, rules)
    after = ""
    while True:
        query = (
            select(competences.c.id, competences.c.record)
            .where(competences.c.project_id == project_id, competences.c.id > after)
            .order_by(competences.c.id)
            .limit(_AT_ONCE)
        )
        rows = connection.execute(query).all()
        if not rows:
            break
        write_numbers(connection, project_id, [_record.decode(row.record) for row in rows], {})
        after = rows[-1].id
    list_again(connection, project_id)
    recount_days(connection, project_id)
    connection.execute(
        update(projects)
        .where(projects.c.id == project_id)
        .values(revision=next_revision(clock_of(now)))
    )
