"""A store of both dialects, and a fleet that reports to it."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from tests.consolidation.fleet import Fleet
from trackrecord.store.database.engine import connect_store


@pytest.fixture
def engine(store_url: str) -> Iterator[Engine]:
    """An engine of an empty store."""
    engine = connect_store(store_url, timeout_s=20.0)
    yield engine
    engine.dispose()


@pytest.fixture
def fleet(engine: Engine) -> Fleet:
    """The agents of the default project."""
    return Fleet(engine)
