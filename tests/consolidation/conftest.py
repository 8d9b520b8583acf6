"""A store of both dialects, and a fleet that reports to it."""

import pytest
from sqlalchemy import Engine

from tests.consolidation.fleet import Fleet


@pytest.fixture
def fleet(engine: Engine) -> Fleet:
    """The agents of the default project."""
    return Fleet(engine)
