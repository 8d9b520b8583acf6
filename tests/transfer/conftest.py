"""Stores to move between."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.transfer.exports import import_into
from trackrecord.store.database.migrate import migrate
from trackrecord.store.transfer.importing import ImportedProject


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., ImportedProject]:
    """Imports an export, given as bytes, into a store."""

    def take(store: Engine, data: bytes, project: str | None = None) -> ImportedProject:
        return import_into(store, tmp_path / "export.jsonl", data, project)

    return take


@pytest.fixture
def target(empty_store_url: str, opened: Callable[[str], Engine]) -> Engine:
    """A migrated store beside the one of `store`; on each dialect."""
    store = opened(empty_store_url.replace("trackrecord.db", "another.db"))
    migrate(store)
    return store
