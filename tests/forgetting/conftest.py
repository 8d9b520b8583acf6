"""A migrated store of either dialect."""

from collections.abc import Iterator

import pytest
from open_store import open_store
from sqlalchemy import Engine


@pytest.fixture
def engine(store_url: str) -> Iterator[Engine]:
    """An engine of an empty store."""
    engine = open_store(store_url)
    yield engine
    engine.dispose()
