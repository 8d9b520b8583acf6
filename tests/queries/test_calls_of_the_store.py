"""The Python calls that read and change the store, on a real one."""

import asyncio
import os
from pathlib import Path

import pytest

import trackrecord
from trackrecord.errors import UnknownId
from trackrecord_cli.main import run


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKRECORD_HOME", str(tmp_path))


def test_a_memory_is_recalled_confirmed_rejected_and_forgotten() -> None:
    """Each call does what the command of its name does."""
    assert run(["memories", "add", "The login test needs port 5432"]) == 0
    (found,) = trackrecord.recall("login test port")
    memory_id = found.known.memory.id
    assert trackrecord.confirm_memory(memory_id[:12]).memory.state.confidence == 0.6
    assert asyncio.run(trackrecord.areject_memory(memory_id)).memory.state.confidence == 0.45
    assert trackrecord.forget_memory(memory_id) == memory_id
    assert asyncio.run(trackrecord.arecall("login test port")) == []
    with pytest.raises(UnknownId):
        trackrecord.confirm_memory(memory_id)


def test_a_child_made_by_fork_asks_by_itself() -> None:
    """A child opens its own connection, and the parent's goes on."""
    assert run(["memories", "add", "The login test needs port 5432"]) == 0
    assert len(trackrecord.recall("login")) == 1
    child = os.fork()
    if not child:
        os._exit(len(trackrecord.recall("login")))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert len(trackrecord.recall("login")) == 1
