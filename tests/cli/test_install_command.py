"""install, uninstall and doctor, as they are typed."""

import json

import pytest

from trackrecord.settings.effect_consent import effect_consent
from trackrecord.store.advice.effect import ENOUGH_TASKS


@pytest.fixture
def user(tmp_path, monkeypatch):
    """A user with Claude Code and Codex, whose programs are not on the path."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    monkeypatch.setenv("TRACKRECORD_HOME", str(tmp_path / "trackrecord"))
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".codex").mkdir()
    return tmp_path


def files(user):
    return sorted(path for path in user.rglob("*") if path.is_file())


def test_without_a_name_nothing_is_changed(user, trackrecord):
    """It lists what it would do for each agent found, and how to do it."""
    ran = trackrecord("install")
    assert ran.status == 0
    assert f"Claude Code: would write {user}/.claude/settings.json" in ran.out
    assert f"Codex: would write {user}/.codex/config.toml" in ran.out
    assert "opencode" not in ran.out
    assert "trackrecord install all" in ran.out
    assert files(user) == []


def test_a_dry_run_shows_the_lines(user, trackrecord):
    """With the mark of added ones, and without the lines around them."""
    (user / ".codex" / "config.toml").write_text('token = "s3cret"\n')
    ran = trackrecord("install", "codex", "--dry-run")
    assert ran.status == 0
    assert f'+notify = ["{user}/trackrecord/agents/hook", "codex"]' in ran.out
    assert "s3cret" not in ran.out
    assert files(user) == [user / ".codex" / "config.toml"]


def test_an_agent_that_is_not_there_is_not_installed(user, trackrecord):
    """Nothing is made for it."""
    ran = trackrecord("install", "opencode")
    assert ran.status == 1
    assert "opencode was not found" in ran.err
    assert files(user) == []


def test_doctor_says_what_to_do(user, trackrecord):
    """Before, between and after: installed, fired, the last error, the front door."""
    ran = trackrecord("doctor", "--json")
    assert ran.status == 1
    assert [each["installed"] for each in ran.json["agents"]] == [False, False]
    assert "run `trackrecord install claude-code`" in ran.json["agents"][0]["advice"]
    trackrecord("install", "claude-code")
    fired = user / "trackrecord" / "agents" / "fired"
    fired.mkdir()
    (fired / "claude-code.Stop").touch()
    errors = user / "trackrecord" / "agents" / "errors"
    errors.mkdir()
    (errors / "claude-code").write_text("1700000000.0\nline 3: not JSON\n")
    found = trackrecord("doctor", "--json").json
    claude = found["agents"][0]
    assert claude["installed"]
    assert list(claude["fired"]) == ["Stop"]
    assert claude["error"] == {"at": "2023-11-14T22:13:20.000Z", "says": "line 3: not JSON"}
    assert claude["advice"] == []
    assert not found["door"]["answers"]
    assert "trackrecord up" in found["advice"][0]
    told = trackrecord("doctor").out
    assert "line 3: not JSON" in told
    assert "front door: does not answer" in told


def test_hooks_that_are_switched_off_are_named(user, trackrecord):
    """Claude Code has a setting that stops all of them."""
    path = user / ".claude" / "settings.json"
    path.write_text(json.dumps({"disableAllHooks": True}))
    assert "disableAllHooks" in trackrecord("install", "claude-code").err
    assert "disableAllHooks" in trackrecord("doctor").out


def test_doctor_says_what_is_wrong_with_the_settings(user, trackrecord):
    """The file that keeps the hooks from firing is named, for each agent."""
    (user / ".claude" / "settings.json").write_text('{"hooks": [')
    (user / ".codex" / "config.toml").write_text("x = [")
    ran = trackrecord("doctor")
    assert ran.status == 1
    assert f"claude-code: {user}/.claude/settings.json is not valid JSON" in ran.out
    assert f"codex: {user}/.codex/config.toml is not valid TOML" in ran.out


@pytest.mark.parametrize("words", [("install", "all"), ("serve",)])
def test_a_home_that_is_a_file(user, trackrecord, words):
    """One line names it and says what to do, and no agent's file has changed."""
    (user / "trackrecord").write_text("")
    before = files(user)
    ran = trackrecord(*words)
    assert ran.status == 2
    (line,) = ran.err.splitlines()[-1:]
    assert "set TRACKRECORD_HOME" in line
    assert line.endswith(f"{user}/trackrecord")
    assert "HTTP:" not in ran.err
    assert files(user) == before


def test_nothing_is_measured_until_somebody_says_so(user, trackrecord):
    """Nothing is asked: it says so, and how to begin; the flag answers, and the answer stays."""
    home = user / "trackrecord"
    ran = trackrecord("install", "codex")
    assert ran.status == 0
    assert "is not measured" in ran.out
    assert "--measure" in ran.out
    assert effect_consent(home) is None
    trackrecord("install", "codex", "--measure", "--dry-run")
    assert effect_consent(home) is None
    measured = trackrecord("install", "codex", "--measure").out
    assert f"measured from the {ENOUGH_TASKS}th task of a project on" in measured
    assert "hints at failing calls from the first one on" in measured
    assert effect_consent(home) is True
    assert "measured" not in trackrecord("install", "codex").out
    assert "is not measured" in trackrecord("install", "codex", "--no-measure").out
    assert effect_consent(home) is False
    assert trackrecord("uninstall").status == 0
    assert effect_consent(home) is None
