"""trackrecord forget: a source, a task and a project, everywhere and for good."""

import asyncio
import json
import os
import pty
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import trackrecord as tr
from tests.support.processes import until
from trackrecord.errors import InvalidRequest, UnknownId
from trackrecord.redis.client import worker_client
from trackrecord.redis.passwords import ADMIN_USER
from trackrecord.settings.daemon_settings import load_daemon_settings


def word(project: str) -> str:
    """A word that only this project's texts hold."""
    return f"xylophon{project.replace('-', '')}x"


@pytest.fixture
def told(learnt, trackrecord, project):
    """A project with what two sources said."""
    learnt(
        {"outcome_id": "a1", "task_id": "shared", "source": "ada", "success": True},
        {"outcome_id": "b1", "task_id": "shared", "source": "bob", "success": False},
        {
            "outcome_id": "b2",
            "task_id": "only-bob",
            "source": "bob",
            "success": True,
            "patterns": [word(project)],
            "instruction": f"please {word(project)}",
        },
    )
    added = trackrecord(
        "memories", "add", f"{word(project)} is the word", "--source", "bob", "--project", project
    )
    assert added.status == 0
    error = ("only-bob", f"{word(project)} broke", "--type", "tool_failure")
    assert trackrecord("errors", "record", *error, "--project", project).status == 0
    return project


def listed(trackrecord, project):
    """The project's line of `projects`."""
    found = trackrecord("projects", "--json").json
    return next((each for each in found if each["name"] == project), None)


def test_a_dry_run_counts_and_changes_nothing(told, trackrecord):
    """What would go, by kind."""
    ran = trackrecord("forget", "--source", "bob", "--project", told, "--dry-run", "--json")
    assert ran.status == 0, ran.err
    assert (ran.json["what"], ran.json["name"], ran.json["dry_run"]) == ("source", "bob", True)
    assert ran.json["counts"]["outcomes"] == 2
    assert ran.json["counts"]["memories"] == 1
    assert listed(trackrecord, told)["outcomes"] == 3


def test_without_a_terminal_yes_is_needed(told, trackrecord):
    """One line says so, and nothing was changed."""
    ran = trackrecord("forget", "--source", "bob", "--project", told)
    assert ran.status == 2
    assert ran.err.count("\n") == 1
    assert "--yes" in ran.err
    assert listed(trackrecord, told)["outcomes"] == 3


def test_a_source_is_gone_from_everywhere(told, up, trackrecord):
    """From every file of the home, from Redis, and from what commands answer."""
    ran = trackrecord("forget", "--source", "bob", "--project", told, "--yes", "--json")
    assert ran.status == 0, ran.err
    assert word(told) not in ran.out + ran.err
    assert listed(trackrecord, told)["outcomes"] == 1
    assert trackrecord("patterns", "list", "--project", told, "--json").json == []
    assert trackrecord("memories", "list", "--project", told, "--json").json == []
    assert in_redis(up, word(told)) == []
    await_no_file(up, word(told))


def test_what_is_forgotten_does_not_come_back(told, trackrecord, outcomes_file):
    """Neither delivered again nor amended; the rest goes on."""
    assert trackrecord("forget", "--task", "only-bob", "--project", told, "--yes").status == 0
    again = outcomes_file(
        {"outcome_id": "b2", "task_id": "only-bob", "source": "bob", "success": True},
        {"outcome_id": "b2", "task_id": "only-bob", "source": "eve", "success": False},
        {"outcome_id": "a2", "task_id": "shared", "source": "ada", "success": True},
    )
    assert trackrecord("publish", again, "--project", told, "--wait").status == 0
    assert listed(trackrecord, told)["outcomes"] == 3
    runs = trackrecord("runs", "list", "--project", told, "--json").json
    assert "only-bob" not in json.dumps(runs)


def test_a_project_is_gone(told, up, trackrecord, outcomes_file):
    """It is not listed any more; what is delivered again does not make it anew."""
    assert trackrecord("forget", "--project", told, "--yes").status == 0
    assert listed(trackrecord, told) is None
    again = outcomes_file({"outcome_id": "a1", "task_id": "shared", "success": True})
    assert trackrecord("publish", again, "--project", told, "--wait").status == 0
    assert listed(trackrecord, told) is None
    assert in_redis(up, word(told)) == []
    await_no_file(up, word(told))
    ran = trackrecord("forget", "--project", told, "--yes")
    assert ran.status == 1
    assert "does not exist" in ran.err


def test_the_python_call(told, up, monkeypatch):
    """The same act; a task without a project is one of the settings' project."""
    found = tr.forget(task="only-bob", project=told, dry_run=True)
    assert found.counts["outcomes"] == 1
    assert tr.forget(task="only-bob", project=told).counts["outcomes"] == 1
    with pytest.raises(UnknownId):
        tr.forget(task="only-bob", project=told)


def test_the_awaited_calls(told, up):
    """Both have one."""
    found = asyncio.run(tr.aforget(source="bob", project=told, dry_run=True, by="anna"))
    assert found.to_document()["counts"]["outcomes"] == 2
    names = [each.name for each in asyncio.run(tr.alist_projects())]
    assert told in names
    with pytest.raises(InvalidRequest, match="not both"):
        tr.forget(source="bob", task="t", project=told)
    with pytest.raises(InvalidRequest, match="name what to forget"):
        tr.forget()


@pytest.mark.parametrize(("typed", "remaining"), [(b"n", 3), (b"y", 1)])
def test_a_terminal_is_asked(told, up, trackrecord, typed, remaining):
    """Whoever does not confirm keeps everything."""
    main, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "trackrecord_cli", "forget", "--source", "bob", "--project", told],
        stdin=other,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    os.close(other)
    os.write(main, typed + b"\n")
    _, said = process.communicate(timeout=200)
    os.close(main)
    assert b"cannot be undone" in said
    assert (process.returncode == 0) == (typed == b"y")
    assert listed(trackrecord, told)["outcomes"] == remaining


def in_redis(home: Path, text: str) -> list[str]:
    """The keys that hold a text, or are named after it."""
    client = worker_client(load_daemon_settings(), user=ADMIN_USER)
    found = []
    for key in client.scan_iter():
        raw = client.dump(key) or b""
        values = _values(client, key)
        if any(text.encode() in each for each in (key, raw, *values)):
            found.append(key.decode())
    client.close()
    return found


def _values(client, key):
    kind = client.type(key)
    if kind == b"hash":
        return [part for pair in client.hgetall(key).items() for part in pair]
    if kind == b"stream":
        return [part for _, fields in client.xrange(key) for part in fields.values()]
    if kind == b"zset":
        return client.zrange(key, 0, -1)
    if kind == b"set":
        return list(client.smembers(key))
    return [client.get(key)] if kind == b"string" else []


def await_no_file(home: Path, text: str) -> None:
    """Wait until no file of the home holds a text: Redis rewrites its own in the background."""
    until(lambda: not in_files(home, text), explain=lambda: in_files(home, text))


def in_files(home: Path, text: str) -> list[str]:
    """The files of the home that hold a text, but for what the worker said when it learnt it."""
    found = []
    for path in home.rglob("*"):
        # Redis deletes files meanwhile.
        with suppress(FileNotFoundError):
            is_log = path.name == "worker.log"
            if path.is_file() and not is_log and text.encode() in path.read_bytes():
                found.append(str(path))
    return found


def test_the_database_can_still_be_read(told, up, trackrecord):
    """Written anew, it is sound."""
    assert trackrecord("forget", "--source", "bob", "--project", told, "--yes").status == 0
    with sqlite3.connect(up / "trackrecord.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_the_stored_outputs_of_a_task_go_with_it(told, trackrecord, tmp_path):
    """What another task stored, too, stays and is listed for that one alone."""
    ids = {}
    for name, tasks in (("own", ["only-bob"]), ("both", ["only-bob", "shared"]), ("rest", [])):
        (tmp_path / name).write_text(f"{name}: {word(told)}\n" * 100)
        for task in tasks or [None]:
            of_task = () if task is None else ("--task", task)
            put = trackrecord("artifacts", "put", tmp_path / name, *of_task, "--project", told)
            ids[name] = put.out.strip()
    forget = ("forget", "--task", "only-bob", "--project", told, "--json")
    rehearsed = trackrecord(*forget, "--dry-run").json
    assert rehearsed["counts"]["artifacts"] == 1
    assert len(tr.list_artifacts("only-bob", project=told)) == 2
    assert trackrecord(*forget, "--yes").json["counts"]["artifacts"] == 1
    assert tr.list_artifacts("only-bob", project=told) == []
    left = {(each.id, each.task_id) for each in tr.list_artifacts(project=told)}
    assert left == {(ids["both"], "shared"), (ids["rest"], None)}
    with pytest.raises(UnknownId):
        tr.artifact(ids["own"], project=told)
