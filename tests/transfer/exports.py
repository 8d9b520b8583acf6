"""Exports of stores, and their imports."""

import io

from sqlalchemy import Engine

from trackrecord.learning.rules_bundle import Rules
from trackrecord.store.database.engine import reading
from trackrecord.store.database.leases import repeatable_read
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.transfer.export import export_project
from trackrecord.store.transfer.importing import ImportedProject, import_project, is_export

NOW = 1_790_000_000.0


def silent(*_told: object) -> None:
    """Reports nothing."""


def exported(store: Engine, project: str = "default") -> bytes:
    """Return the export of a project."""
    out = io.BytesIO()
    with reading(store) as connection:
        repeatable_read(connection)
        project_id = project_id_of(connection, project)
        assert project_id is not None
        export_project(connection, project_id, project, out, now=NOW, report=silent)
    return out.getvalue()


def import_into(store, path, data: bytes, project: str | None = None) -> ImportedProject:
    """Import an export, written to a file."""
    path.write_bytes(data)
    assert is_export(path)
    return import_project(store, path, project, Rules().memories, now=NOW, report=silent)
