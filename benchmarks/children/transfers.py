"""Exports or imports in a process of its own: `transfers WHAT SOURCE TARGET`."""

import json
import sys
import time
from pathlib import Path

from trackrecord.learning.rules_bundle import Rules
from trackrecord.store.database.engine import connect_store, reading
from trackrecord.store.database.leases import repeatable_read
from trackrecord.store.database.migrate import migrate
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.transfer.export import export_project
from trackrecord.store.transfer.importing import import_project

from .peak import peak_mib

_NOW = 1_790_000_000.0


def _silent(*_told: object) -> None:
    """Show nothing."""


def _export(source: str, target: str) -> int:
    engine = connect_store(source)
    with reading(engine) as connection, Path(target).open("wb") as file:
        repeatable_read(connection)
        project_id = project_id_of(connection, "default")
        assert project_id is not None  # noqa: S101 - or nothing is measured
        rows = export_project(connection, project_id, "default", file, now=_NOW, report=_silent)
    return sum(rows.values())


def _import(source: str, target: str) -> int:
    engine = connect_store(target)
    migrate(engine)
    done = import_project(engine, Path(source), None, Rules().memories, now=_NOW, report=_silent)
    return sum(done.rows.values())


def main() -> None:
    """Print how many rows there were, how long they took, and how much memory they needed."""
    what, source, target = sys.argv[1:]
    began = time.perf_counter()
    rows = {"export": _export, "import": _import}[what](source, target)
    seconds = time.perf_counter() - began
    print(json.dumps({"rows": rows, "seconds": seconds, "peak_mib": peak_mib()}))


if __name__ == "__main__":
    main()
