"""Stores to move between."""

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Engine

from trackrecord.store.database.engine import connect_store


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
