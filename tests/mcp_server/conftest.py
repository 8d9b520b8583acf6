"""A trackrecord that is up for the tests of this folder."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.mcp_server.mcp_served import Served
from tests.support.folder_scope import shared_in
from tests.support.processes import trackrecord_up

_SERVED = pytest.StashKey[Served]()


@pytest.fixture(scope="module")
def served(request: pytest.FixtureRequest) -> Served:
    """A real `trackrecord up` with a home of its own."""
    return shared_in(Path(__file__).parent, request, _SERVED, _up)


@contextmanager
def _up() -> Iterator[Served]:
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "home"
        environment = {**os.environ, "TRACKRECORD_HOME": str(home)}
        with trackrecord_up(environment, Path(folder) / "up.log") as address:
            yield Served(home, address)
