"""Redis takes connections and answers nothing: people wait for it no longer than agents do."""

import inspect
import json
import signal
import time
from pathlib import Path

import click
import pytest

import trackrecord_cli
from tests.cli.command_tree import leaves
from trackrecord.redis import client as redis_client
from trackrecord.settings.settings import load_settings
from trackrecord_cli.history.file_importing import import_files
from trackrecord_cli.ranking import ranked
from trackrecord_door.api.endpoint_table import RESOURCES
from trackrecord_worker.app import create_app
from trackrecord_worker.jobs import learn_waiting
from trackrecord_worker.services import Services

pytestmark = pytest.mark.faults

# What a worker waits for one reply; an agent's time-outs are a small part of it.
A_WORKERS_PATIENCE_S = redis_client._WORKER_TIMEOUT_S
# Each command that cannot do without Redis; OUTCOMES and QUESTION stand for files.
ASKING = {
    ("publish",): ("OUTCOMES",),
    ("import",): ("jsonl", "OUTCOMES"),
    ("rankings",): (),
    ("errors", "context"): ("t1",),
    ("errors", "list"): (),
    ("errors", "record"): ("t1", "message"),
    ("errors", "resolve"): ("e1",),
    ("errors", "stats"): ("t1",),
    ("context", "rank"): ("--learnt", "QUESTION"),
    ("status",): (),
    ("news",): (),
    ("dead", "discard"): ("--all",),
    ("dead", "list"): (),
    ("dead", "replay"): ("--all",),
    ("forget",): ("--task", "t1", "--yes"),
}
# What the commands of resources do, and those that leave their work to another module.
CALLS = {
    tuple(dict.fromkeys((resource.name, operation.command))): operation.call
    for resource in RESOURCES
    for operation in resource.operations
} | {("context", "rank"): ranked, ("import",): import_files}
# In the same modules as some of the above, and asks nothing of Redis.
ASKS_NOTHING = set()
# Say what Redis adds where it answers, and go on without it.
GO_ON = {("backup",): ("BACKUP",), ("restore",): ("BACKUP", "--yes")}


def uses_redis(path: tuple[str, ...], command: click.Command) -> bool:
    """Return whether the module of a command, or of its call, opens Redis or erases in it."""
    assert command.callback is not None
    does_it = inspect.unwrap(CALLS.get(path, command.callback))
    text = Path(does_it.__globals__["__file__"]).read_text()
    return any(each in text for each in ("open_redis", "forgetting", "errors_in_flight"))


@pytest.fixture
def hanging(redis_server, nothing_up, monkeypatch, trackrecord, tmp_path):
    """A Redis that hangs, in which an outcome has been learnt; the files of commands, by name."""
    monkeypatch.setenv("TRACKRECORD_REDIS_URL", f"unix://{redis_server.socket}")
    monkeypatch.setenv("TRACKRECORD_NOTIFY__COMMAND", '["true"]')
    files = {name: tmp_path / name for name in ("OUTCOMES", "QUESTION", "BACKUP")}
    outcome = {"task_id": "t1", "outcome_id": "o1", "success": True, "patterns": ["p"]}
    files["OUTCOMES"].write_text(json.dumps(outcome) + "\n")
    files["QUESTION"].write_text('{"candidates": []}')
    assert trackrecord("publish", files["OUTCOMES"]).status == 0
    settings = load_settings(drain_block_s=0.01)
    worker = Services(settings, create_app(settings))
    learn_waiting(worker)
    worker.engine.dispose()
    worker.redis.close()
    monkeypatch.setenv("TRACKRECORD_REDIS_TIMEOUT_S", "0.2")
    redis_server.process.send_signal(signal.SIGSTOP)
    yield files
    redis_server.process.send_signal(signal.SIGCONT)


def test_every_command_says_so_as_soon_as_an_agent_gives_up(hanging, trackrecord):
    """In one line, with exit status 3, before a worker would have given up its first try."""
    for path, arguments in ASKING.items():
        begun = time.monotonic()
        ran = trackrecord(*path, *(hanging.get(each, each) for each in arguments))
        took_s = time.monotonic() - begun
        assert (path, ran.status) == (path, 3), ran.err
        assert "Redis cannot be reached (Timeout" in ran.err.splitlines()[-1], path
        assert took_s < A_WORKERS_PATIENCE_S, path
    for path, arguments in GO_ON.items():
        begun = time.monotonic()
        ran = trackrecord(*path, *(hanging.get(each, each) for each in arguments))
        assert (path, ran.status) == (path, 0), ran.err
        assert time.monotonic() - begun < A_WORKERS_PATIENCE_S, path


def test_every_command_that_uses_redis_is_tried():
    """Else a new one would go untested; and none has a worker's patience."""
    using = {path for path, command in leaves() if uses_redis(path, command)}
    assert using == ASKING.keys() | ASKS_NOTHING | GO_ON.keys()
    for file in Path(trackrecord_cli.__file__).parent.rglob("*.py"):
        assert "worker_client" not in file.read_text(), file
