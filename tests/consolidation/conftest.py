"""A store of both dialects, and a fleet that reports to it."""

from collections.abc import Iterator

import pytest
from fleet import Fleet
from open_store import open_store
from sqlalchemy import Engine


@pytest.fixture
def engine(store_url: str) -> Iterator[Engine]:
    """An engine of an empty store."""
    engine = open_store(store_url)
    yield engine
    engine.dispose()


@pytest.fixture
def fleet(engine: Engine) -> Fleet:
    """The agents of the default project."""
    return Fleet(engine)
