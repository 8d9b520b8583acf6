"""A migrated store of either dialect, and outcomes to teach it."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from trackrecord.store.database.engine import connect_store


@pytest.fixture
def store(store_url: str) -> Iterator[Engine]:
    """A migrated store without a row; the test runs on each dialect."""
    engine = connect_store(store_url, timeout_s=20.0)
    yield engine
    engine.dispose()
