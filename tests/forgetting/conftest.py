"""A migrated store of either dialect."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from trackrecord.store.database.engine import connect_store


@pytest.fixture
def engine(store_url: str) -> Iterator[Engine]:
    """An engine of an empty store."""
    engine = connect_store(store_url, timeout_s=20.0)
    yield engine
    engine.dispose()
