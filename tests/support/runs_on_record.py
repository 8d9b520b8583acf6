"""Runs on record in the store of another process, asked for in this one: a command takes long."""

from pathlib import Path
from typing import Any

from trackrecord.errors import UnknownProject
from trackrecord.resources.reports.runs import read_runs
from trackrecord.store.database.engine import connect_store, reading


def runs_on_record(home: Path, project: str) -> list[dict[str, Any]]:
    """Return the runs of a project, as `trackrecord runs list --json` does; may be none."""
    database = home / "trackrecord.db"
    if not database.exists():
        return []
    engine = connect_store(f"sqlite:///{database}", timeout_s=120.0)
    try:
        with reading(engine) as connection:
            return [run.to_document() for run in read_runs(connection, project)]
    except UnknownProject:
        return []
    finally:
        engine.dispose()
