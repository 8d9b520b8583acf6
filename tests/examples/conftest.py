"""One trackrecord that is up for all examples."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples.tried import Up
from tests.support.processes import trackrecord_up


@pytest.fixture(scope="module")
def running() -> Iterator[Up]:
    """One for all examples; each has a project of its own."""
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        environment = {**os.environ, "TRACKRECORD_HOME": folder}
        with trackrecord_up(environment, home / "up.log") as address:
            yield Up(home, address)


@pytest.fixture
def up(running: Up, monkeypatch: pytest.MonkeyPatch) -> Up:
    """The trackrecord that is up; commands of this test reach it, too."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(running.home))
    return running
