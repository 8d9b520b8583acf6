"""Stores to move between."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.transfer.exports import import_into
from trackrecord.store.transfer.importing import ImportedProject


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., ImportedProject]:
    """Imports an export, given as bytes, into a store."""

    def take(store: Engine, data: bytes, project: str | None = None) -> ImportedProject:
        return import_into(store, tmp_path / "export.jsonl", data, project)

    return take


@pytest.fixture
def target(
    store: Engine, new_store: Callable[[], Engine], request: pytest.FixtureRequest
) -> Engine:
    """A migrated store of the other dialect than the one of `store`."""
    if store.dialect.name == "postgresql":
        return new_store()
    opened: Callable[[str], Engine] = request.getfixturevalue("opened")
    return opened(request.getfixturevalue("migrated_postgres_url"))
