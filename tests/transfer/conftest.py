"""Stores to move between."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.transfer.exports import import_into
from trackrecord.store.database.engine import connect_store
from trackrecord.store.database.migrate import migrate
from trackrecord.store.transfer.importing import ImportedProject


@pytest.fixture
def opened() -> Iterator[Callable[[str], Engine]]:
    """Opens stores, and closes them at the end."""
    engines: list[Engine] = []

    def open_store(url: str) -> Engine:
        engines.append(connect_store(url, timeout_s=20.0))
        return engines[-1]

    yield open_store
    for engine in engines:
        engine.dispose()


@pytest.fixture
def store(store_url: str, opened: Callable[[str], Engine]) -> Engine:
    """A migrated store without a row; the test runs on each dialect."""
    return opened(store_url)


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
