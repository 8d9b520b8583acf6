"""A migrated store of either dialect, and outcomes to teach it."""

from collections.abc import Iterator

import pytest
from open_store import open_store
from sqlalchemy import Engine


@pytest.fixture
def store(store_url: str) -> Iterator[Engine]:
    """An empty, migrated store; the test runs on each dialect."""
    engine = open_store(store_url)
    yield engine
    engine.dispose()
