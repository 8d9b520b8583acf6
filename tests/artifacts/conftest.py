"""A home of this test's own for everything that is stored."""

from pathlib import Path

import pytest

from trackrecord.artifacts import client
from trackrecord.artifacts.output_records import OutputRecords
from trackrecord.artifacts.store import ArtifactStore

DAY = 86_400.0


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_780_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> ArtifactStore:
    """An empty store with a retention time of a day."""
    return ArtifactStore(tmp_path / "home", "shop", retention_s=DAY, clock=clock)


@pytest.fixture
def outputs(tmp_path: Path, clock: Clock) -> OutputRecords:
    """The same project's outputs, with what is known about them."""
    return OutputRecords(tmp_path / "home", "shop", retention_s=DAY, clock=clock)


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A process with fresh settings; answers its home."""
    home = tmp_path / "home"
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    client._settings.cache_clear()
    monkeypatch.setattr(client, "_quiet_until", 0.0)
    yield home
    client._settings.cache_clear()
