"""From an agent's hook to the outcome on the stream, through a real front door."""

import http.client
import json
import os
import socket
import subprocess
import sys
from contextlib import closing

import pytest

from tests.support.processes import until
from trackrecord.settings.settings import load_settings
from trackrecord_capture.agents.apply_plan import install, plan_install
from trackrecord_capture.agents.door_address import find_door, read_door, socket_path
from trackrecord_capture.agents.known import AGENTS
from trackrecord_capture.agents.runtime import wrapper_path
from trackrecord_capture.live.notes import notes_folder, waiting_notes

pytestmark = pytest.mark.faults

THREAD = "01a20168-5106-7f52-b27b-c498fee45552"


class Codex:
    """A Codex that writes a rollout, turn by turn, and calls its hooks."""

    def __init__(self, user, home):
        self._home = home
        self._path = user / ".codex" / "sessions" / "2026" / "11" / "22"
        self._path.mkdir(parents=True)
        self._path /= f"rollout-2026-11-22T03-59-03-{THREAD}.jsonl"
        self._write("session_meta", {"id": THREAD, "cwd": "/src/shop", "source": "cli"})

    def _write(self, kind, payload):
        line = {"timestamp": "2026-11-22T03:59:03.500Z", "type": kind, "payload": payload}
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def turn(self, name, prompt="Fix the tests of the shop"):
        """Work on a prompt, without an end."""
        self._write("event_msg", {"type": "task_started", "turn_id": name})
        self._write("turn_context", {"turn_id": name, "cwd": "/src/shop", "model": "m"})
        self._write("event_msg", {"type": "user_message", "message": prompt, "images": []})

    def end(self, name):
        self._write("event_msg", {"type": "task_complete", "turn_id": name})

    def interrupted(self, name):
        self._write("event_msg", {"type": "turn_aborted", "turn_id": name, "reason": "interrupted"})

    def notify(self, name):
        """Call the notify program, before the last line is written."""
        given = {"type": "agent-turn-complete", "thread-id": THREAD, "turn-id": name}
        subprocess.run([wrapper_path(self._home), "codex", json.dumps(given)], check=True)


@pytest.fixture
def user(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return tmp_path


@pytest.fixture
def codex(user, home):
    codex = Codex(user, home)
    agent = AGENTS["codex"]
    install(agent, home, plan_install(agent, home))
    return codex


@pytest.fixture
def start(home, user):
    """Starts front doors, and ends them."""
    running = []

    def start():
        with (home / "door.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "trackrecord_door"],
                env={
                    **os.environ,
                    "TRACKRECORD_HOME": str(home),
                    "TRACKRECORD_HTTP__PORT": "0",
                },
                stdout=log,
                stderr=log,
            )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture
def outcomes(client, home):
    """Reads the outcomes on the stream, by their ids: the last word on each."""
    keys = load_settings(home=home).keys

    def read():
        bodies = [json.loads(fields[b"body"]) for _, fields in client.xrange(keys.outcomes)]
        return {each["outcome_id"]: each for each in bodies}

    return read


def test_a_turn_of_codex_becomes_an_outcome(home, codex, start, outcomes):
    """The notification says that it ended; what happened is read from the rollout."""
    start()
    until(lambda: read_door(home))
    codex.turn("t1")
    codex.notify("t1")
    codex.end("t1")
    until(lambda: f"codex:{THREAD}:t1" in outcomes())
    outcome = outcomes()[f"codex:{THREAD}:t1"]
    assert outcome["project"] == "shop"
    assert outcome["captured_from"] == "transcript"
    until(lambda: not list(waiting_notes(home)))


def test_what_ended_while_the_door_was_closed_is_read_when_it_opens(home, codex, start, outcomes):
    """The notes wait, and a turn that was interrupted, of which no hook tells, is found."""
    codex.turn("t1")
    codex.end("t1")
    codex.notify("t1")
    codex.turn("t2", "And now the others, please do")
    codex.interrupted("t2")
    assert list(waiting_notes(home))
    start()
    until(lambda: f"codex:{THREAD}:t2" in outcomes())
    interrupted = outcomes()[f"codex:{THREAD}:t2"]
    assert interrupted["success"] is False
    assert interrupted["grounds"][0]["kind"] == "interrupted"


def test_the_hooks_know_where_the_door_is_while_it_is_open(home, codex, start):
    """It says so itself, with whatever port it got, and takes it back."""
    door = start()
    until(lambda: read_door(home))
    until(lambda: find_door(home))
    door.terminate()
    door.wait(200)
    assert read_door(home) is None


def test_a_note_for_which_there_is_no_room_is_not_taken(home, codex, start):
    """Whoever posts it is asked to try again: it is not answered as if it had been read."""
    start()
    until(lambda: find_door(home))
    folder = notes_folder(home)
    folder.mkdir(exist_ok=True)
    # Of hooks that are about to name theirs: nobody reads them yet.
    for number in range(2000):
        (folder / f".{number}").touch()

    def post():
        with closing(OverSocket(home)) as connection:
            said = json.dumps({"hook_event_name": "Stop", "session_id": "a6a9-1"})
            connection.request("POST", "/hooks/codex", said, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.getheader("Retry-After")

    assert post() == (503, "5")
    (folder / ".0").unlink()
    assert post() == (204, None)


class OverSocket(http.client.HTTPConnection):
    def __init__(self, home):
        super().__init__("localhost", timeout=60)
        self._path = str(socket_path(home))

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
