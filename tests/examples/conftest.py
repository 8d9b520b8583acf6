"""One trackrecord that is up for all examples."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples.tried import Up


@pytest.fixture(scope="module")
def running() -> Iterator[Up]:
    """One for all examples; each has a project of its own."""
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        started = Up(Path(folder))
        yield started
        started.stop()


@pytest.fixture
def up(running: Up, monkeypatch: pytest.MonkeyPatch) -> Up:
    """The trackrecord that is up; commands of this test reach it, too."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(running.home))
    return running
