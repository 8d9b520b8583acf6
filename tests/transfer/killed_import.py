"""An import that kills its own process before the statement, or the commit, of a given number."""

from pathlib import Path

from tests.consolidation.killed_run import die_at
from trackrecord.learning.rules_bundle import Rules
from trackrecord.store.database.engine import connect_store
from trackrecord.store.transfer.importing import import_project


def import_until(number: int, url: str, path: str) -> None:
    """Import an export, but survive fewer steps than `number`."""
    engine = connect_store(url)
    die_at(engine, number)
    memories = Rules().memories
    import_project(engine, Path(path), None, memories, now=100.0, report=lambda _at: None)
