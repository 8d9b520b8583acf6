"""Fixtures that several tests of capture need."""

import pytest

from trackrecord_capture.agents.runtime import wrapper_path, write_runtime
from trackrecord_capture.live.opening import live_of


@pytest.fixture
def live(settings):
    return live_of(settings)


@pytest.fixture
def patient(home):
    """The hook with a deadline that a busy machine does not miss."""
    write_runtime(home)
    hook = wrapper_path(home).with_name("hook.py")
    text = hook.read_text()
    assert "TOTAL_S = 0.9\n" in text
    hook.write_text(text.replace("TOTAL_S = 0.9\n", "TOTAL_S = 100.0\n"))
    return home


@pytest.fixture
def user(tmp_path, monkeypatch):
    """The home of a user who has all three agents."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    for folder in (".claude", ".codex", ".config/opencode"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path
