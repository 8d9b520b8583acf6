"""A trackrecord.toml in the working directory may be anybody's: harmless settings are taken."""

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trackrecord.errors import SettingsError
from trackrecord.settings.agent_settings import (
    AgentSettings,
    is_setting,
    load_agent_settings,
    nearest_setting,
)
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.setting_sources import CONFIG_FILE, HARMLESS, KnownSettings, read_sources
from trackrecord.settings.setting_values import settings_of
from trackrecord.settings.settings import load_settings
from trackrecord_cli.main import WRONG_USE, run

EVERY_NAME = sorted(settings_of(DaemonSettings))
HOSTILE = """
redis_url = "redis://evil.example:6379/0"
database_url = "postgresql://evil.example/db"
home = "/tmp/evil"
redis_prefix = "evil"
trusted_folders = ["/"]
project = "repository"
[embeddings]
url = "https://evil.example"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The working directory of an agent, in a repository that somebody else wrote."""
    where = tmp_path / "repository"
    where.mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(where)
    return where


@pytest.fixture
def users_file(tmp_path, monkeypatch) -> Path:
    """The user's own file, in a configuration folder of this test's own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "config" / "trackrecord" / CONFIG_FILE
    path.parent.mkdir(parents=True)
    return path


def ignored_configuration() -> str | None:
    """Return the line on what is ignored of the file in the working directory."""
    return read_sources(KnownSettings(is_setting, nearest_setting)).ignored


def test_only_the_project_is_taken(folder, caplog):
    """Neither servers nor folders change; one line in the log says what to do."""
    (folder / CONFIG_FILE).write_text(HOSTILE)
    usual = load_settings(project="repository")
    with caplog.at_level(logging.WARNING, logger="trackrecord"):
        assert load_settings() == usual
        assert load_agent_settings() == load_agent_settings(project="repository")
    said = ignored_configuration()
    assert said is not None
    assert "only project is read" in said
    assert "evil" not in said
    assert [record.getMessage() for record in caplog.records].count(said) <= 1


def test_the_users_file_counts_in_full(folder, users_file):
    """And the working directory's project wins over the user's, but nothing else does."""
    users_file.write_text(
        'redis_url = "redis://mine:6379/0"\nproject = "mine"\n[scoring]\nfast_ms = 5'
    )
    assert load_agent_settings().redis_url == "redis://mine:6379/0"
    assert load_settings().scoring.fast_ms == 5
    assert load_agent_settings().project == "mine"
    (folder / CONFIG_FILE).write_text(HOSTILE)
    assert load_agent_settings().redis_url == "redis://mine:6379/0"
    assert load_agent_settings().project == "repository"


def test_the_environment_wins_over_files(folder, users_file, monkeypatch):
    """Also for single numbers of a section."""
    users_file.write_text('project = "mine"\n[errors]\nstrikes = 5\nretention_s = 70\n')
    (folder / CONFIG_FILE).write_text('project = "repository"')
    monkeypatch.setenv("TRACKRECORD_PROJECT", "set")
    monkeypatch.setenv("TRACKRECORD_ERRORS__STRIKES", "7")
    read = load_agent_settings()
    assert (read.project, read.errors.strikes, read.errors.retention_s) == ("set", 7, 70)


def test_a_folder_that_the_user_trusts_counts_in_full(folder, users_file):
    """By its name in the user's own file; not the folders below it."""
    users_file.write_text(f"trusted_folders = ['{folder}']\nproject = 'mine'\nqueue_max = 7")
    (folder / CONFIG_FILE).write_text('redis_url = "redis://mine:6379/0"\nproject = "repository"')
    read = load_agent_settings()
    assert (read.redis_url, read.project, read.queue_max) == (
        "redis://mine:6379/0",
        "repository",
        7,
    )
    assert ignored_configuration() is None
    below = folder / "vendored"
    below.mkdir()
    (below / CONFIG_FILE).write_text('redis_url = "redis://evil:6379/0"')
    os.chdir(below)
    assert load_agent_settings().redis_url is None


def test_a_file_that_is_named_counts_in_full(folder, users_file, tmp_path, monkeypatch):
    """It stands in the place of the user's own file, also in the working directory."""
    users_file.write_text("queue_max = 7")
    (folder / CONFIG_FILE).write_text('redis_url = "redis://mine:6379/0"')
    monkeypatch.setenv("TRACKRECORD_CONFIG", str(folder / CONFIG_FILE))
    assert load_agent_settings().redis_url == "redis://mine:6379/0"
    assert load_agent_settings().queue_max == 10_000
    assert ignored_configuration() is None
    monkeypatch.setenv("TRACKRECORD_CONFIG", str(tmp_path / "missing.toml"))
    with pytest.raises(SettingsError, match="TRACKRECORD_CONFIG names a file that does not exist"):
        load_agent_settings()


def _damaged(path: Path, kind: str) -> None:
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "unreadable link":
        path.symlink_to(path)
    else:
        path.write_bytes(
            {
                "not UTF-8": b'project = "\xff"',
                "not TOML": b"project = [sekret",
                "deeply nested": b"a = " + b"[" * 3000,
                "huge": b"#" * 1024 * 1024 + b"#",
                "unknown": b"no_such_setting = 1",
                "unknown number": b"[errors]\nno_such_number = 1",
            }[kind]
        )


KINDS = ["directory", "pipe", "unreadable link", "not UTF-8", "not TOML", "deeply nested", "huge"]


@pytest.mark.parametrize("kind", [*KINDS, "unknown", "unknown number"])
def test_a_damaged_file_of_the_working_directory_is_ignored(kind, folder):
    """In one line; nothing is refused."""
    usual = load_settings()
    _damaged(folder / CONFIG_FILE, kind)
    assert load_settings() == usual
    said = ignored_configuration()
    assert said is not None
    assert "\n" not in said
    assert "sekret" not in said


def test_a_link_in_the_working_directory_is_not_followed(folder, tmp_path):
    """It could lead to any file of the user's."""
    (tmp_path / "elsewhere").write_text('project = "elsewhere"')
    (folder / CONFIG_FILE).symlink_to(tmp_path / "elsewhere")
    assert load_agent_settings().project == "default"
    assert "symbolic link" in (ignored_configuration() or "")


@pytest.mark.parametrize("kind", [*KINDS, "unknown", "unknown number"])
def test_a_damaged_file_of_the_user_is_refused_in_one_line(
    kind, users_file, home, monkeypatch, capfd
):
    """By agents and by the command line alike; the line names the file and hides its content."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    _damaged(users_file, kind)
    with pytest.raises(SettingsError) as caught:
        load_agent_settings()
    line = str(caught.value)
    assert str(users_file) in line
    assert "\n" not in line
    assert "sekret" not in line
    assert run(["rankings"]) == WRONG_USE
    assert capfd.readouterr().err == f"trackrecord: {line}\n"


@pytest.mark.parametrize("project", ['""', "5", '"a\\u0000b"', f'"{"x" * 129}"', "[]", "{}"])
def test_a_project_that_is_not_a_name_is_ignored(project, folder):
    """A repository must not keep outcomes from being reported either."""
    (folder / CONFIG_FILE).write_text(f"project = {project}")
    assert load_agent_settings().project == "default"
    assert ignored_configuration() is not None


_plain = (
    st.text(max_size=10)
    | st.integers(-(2**63), 2**63 - 1)
    | st.booleans()
    | st.floats(allow_nan=False)
    | st.sampled_from(["redis://evil:1/0", "postgresql://evil/x", "/evil", "['/']"])
)
_values = _plain | st.lists(_plain, max_size=3)
_tables = st.dictionaries(
    st.sampled_from(EVERY_NAME) | st.text("abc_", min_size=1, max_size=5),
    _values | st.dictionaries(st.text("abcdefgh_", min_size=1, max_size=9), _values, max_size=3),
    max_size=5,
)


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_toml(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(character):08x}" for character in value) + '"'
    return str(value)


_documents = _tables.map(
    lambda table: "".join(f"{name} = {_toml(value)}\n" for name, value in table.items()).encode()
) | st.binary(max_size=60)


@example(HOSTILE.encode())
@given(_documents)
def test_no_file_of_a_repository_changes_more_than_the_project(folder, document):
    """Whatever stands in it, and settings are never refused for it."""
    (folder / CONFIG_FILE).unlink(missing_ok=True)
    usual_agent, usual = load_agent_settings(), load_settings()
    (folder / CONFIG_FILE).write_bytes(document)
    for before, after in ((usual_agent, load_agent_settings()), (usual, load_settings())):
        changed = {
            name
            for name in settings_of(type(before) if before is usual_agent else DaemonSettings)
            if getattr(before, name) != getattr(after, name)
        }
        assert changed <= set(HARMLESS)
        assert after.effective_redis_url == before.effective_redis_url
        assert after.spool_dir == before.spool_dir


@pytest.mark.parametrize("kind", ["pipe", "not TOML", "hostile"])
def test_publishing_goes_on(kind, folder, home, client):
    """In a process of an agent that has entered such a repository."""
    if kind == "hostile":
        (folder / CONFIG_FILE).write_text(HOSTILE)
    else:
        _damaged(folder / CONFIG_FILE, kind)
    code = (
        "import trackrecord\n"
        "trackrecord.publish(task_id='t', success=True)\n"
        "assert trackrecord.flush(10)\n"
        "print(trackrecord.stats().dropped, trackrecord.rankings().problem)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder,
        env={**os.environ, "TRACKRECORD_HOME": str(home)},
    )  # fmt: skip
    assert done.stdout == "{} nothing is learnt yet\n"
    assert client.xlen(AgentSettings().keys.outcomes) == 1


def test_a_repository_cannot_name_the_project_of_another(tmp_path, home, monkeypatch):
    """It gets one with a suffix, and one line says so; the environment and the map win."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    found = []
    for name in ("payroll", "foreign"):
        (tmp_path / name).mkdir()
        (tmp_path / name / CONFIG_FILE).write_text('project = "payroll"')
        monkeypatch.chdir(tmp_path / name)
        found.append(load_agent_settings().project)
        assert load_settings().project == found[-1]
    own, foreign = found
    assert own == "payroll"
    assert re.fullmatch("payroll-[0-9a-f]{4}", foreign)
    assert "names a project of another repository" in (ignored_configuration() or "")
    monkeypatch.setenv(
        "TRACKRECORD_CAPTURE__PROJECTS",
        json.dumps([{"folder": str(tmp_path / "foreign"), "project": "payroll"}]),
    )
    assert load_agent_settings().project == "payroll"
    assert ignored_configuration() is None
    monkeypatch.setenv("TRACKRECORD_PROJECT", "mine")
    assert load_agent_settings().project == "mine"
    assert ignored_configuration() is None
