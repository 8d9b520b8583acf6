"""The hook's program, started as agents start it."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingMixIn, UnixStreamServer

import pytest

from trackrecord_capture.agents.door_address import DoorAddress, socket_path, write_door
from trackrecord_capture.agents.hook_state import fired_at, last_error
from trackrecord_capture.agents.runtime import hook_command, wrapper_path, write_runtime
from trackrecord_capture.live.notes import notes_folder, waiting_notes
from trackrecord_capture.live.session_marks import SessionMarks

STOP = {
    "session_id": "a6a9-1", "transcript_path": "/home/u/.claude/projects/p/a6a9-1.jsonl",
    "cwd": "/src/p", "hook_event_name": "Stop", "last_assistant_message": "All tests pass now.",
}  # fmt: skip
START = {"session_id": "a6a9-1", "cwd": "/src/p", "hook_event_name": "SessionStart"}


def run(home, given, agent="claude-code", **env):
    """Run the hook's command in a shell, as Claude Code and Codex do."""
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    return subprocess.run(
        ["/bin/sh", "-c", hook_command(home, agent)], input=data, capture_output=True, check=False,
        timeout=200, env={"PATH": os.environ["PATH"], **env},
    )  # fmt: skip


def assert_silent(done):
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.fixture
def installed(home):
    write_runtime(home)
    return home


class OverSocket(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True


@contextmanager
def door(home, answer, *, status=200, pauses=False):
    """Open a front door that gives one answer; yield what was asked of it."""
    asked, closing = [], threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            asked.append((self.path, dict(self.headers), body))
            if pauses:
                closing.wait(200)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    socket_path(home).unlink(missing_ok=True)
    server = OverSocket(str(socket_path(home)), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    write_door(home, DoorAddress("127.0.0.1", 1))
    try:
        yield asked
    finally:
        closing.set()
        server.shutdown()
        server.server_close()


def notes(home):
    return [note for _, note in waiting_notes(home)]


def test_an_end_leaves_a_note_and_says_nothing(installed):
    """What was said is not in it: that is read from the agent's own log."""
    assert_silent(run(installed, STOP, CLAUDE_CONFIG_DIR="/elsewhere"))
    (note,) = notes(installed)
    assert note.agent == "claude-code"
    assert (note.event, note.session) == ("Stop", "a6a9-1")
    assert (note.transcript, note.folder) == (STOP["transcript_path"], "/src/p")
    assert note.home == "/elsewhere"
    assert "All tests pass" not in next(notes_folder(installed).iterdir()).read_text()
    assert list(fired_at(installed, "claude-code")) == ["Stop"]


def test_the_notification_of_codex_is_an_argument(installed):
    """Its names are spelt in another way."""
    given = {"type": "agent-turn-complete", "thread-id": "01a1", "turn-id": "01a2", "cwd": "/src/p"}
    done = subprocess.run(
        [wrapper_path(installed), "codex", json.dumps(given)], stdin=subprocess.DEVNULL,
        capture_output=True, check=False,
    )  # fmt: skip
    assert_silent(done)
    (note,) = notes(installed)
    assert (note.agent, note.session, note.event) == ("codex", "01a1", "agent-turn-complete")


@pytest.mark.parametrize(
    "given",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"hook_event_name": 5}', b"{}", b'"' + b"x" * 3_000_000],
)
def test_whatever_comes_the_hook_is_silent(installed, given):
    """And leaves nothing behind."""
    assert_silent(run(installed, given))
    assert notes(installed) == []


@pytest.mark.parametrize("missing", ["wrapper", "hook", "interpreter", "home"])
def test_whatever_is_missing_the_hook_is_silent(installed, missing):
    """As after an upgrade of Python, or when the home was removed."""
    import shutil

    wrapper = wrapper_path(installed)
    if missing == "wrapper":
        wrapper.unlink()
    elif missing == "hook":
        (wrapper.parent / "hook.py").unlink()
    elif missing == "interpreter":
        wrapper.write_text(wrapper.read_text().replace(sys.executable, "/no/such/python"))
    else:
        shutil.rmtree(installed)
        installed.mkdir()
    assert_silent(run(installed, STOP))
    assert_silent(run(installed, START))


def test_a_full_folder_takes_no_more_notes(installed):
    """What is missed then is found in the agents' logs; `doctor` says that it was."""
    folder = notes_folder(installed)
    folder.mkdir()
    for number in range(2000):
        (folder / f"{number}.json").touch()
    assert_silent(run(installed, STOP))
    assert len(list(folder.iterdir())) == 2000
    assert "start `trackrecord up`" in last_error(installed, "claude-code").says


def test_a_folder_that_cannot_be_written_is_nobodys_trouble(installed):
    """The agent goes on."""
    notes_folder(installed).write_text("a file stands where the folder should be")
    assert_silent(run(installed, STOP))


def test_what_the_door_answers_is_printed(patient):
    """The question holds what is needed for an answer and no more."""
    said = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "ä fact"}}
    with door(patient, json.dumps(said).encode()) as asked:
        done = run(patient, START | {"transcript_path": "/t", "permission_mode": "default"})
    assert json.loads(done.stdout) == said
    assert (done.returncode, done.stderr) == (0, b"")
    ((path, headers, body),) = asked
    assert path == "/hooks/claude-code"
    assert "Authorization" not in headers
    assert headers["Content-Type"] == "application/json"
    assert body == START | {"prompt": "", "prompt_id": None}
    assert notes(patient) == []


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (b"", 204), (b"{}", 200), (b"not JSON", 200), (b"[]", 200),
        (b'{"hookSpecificOutput": {}}', 200), (b'{"hookSpecificOutput": {"a": 1}}', 500),
    ],
)  # fmt: skip
def test_any_other_answer_is_silence(installed, answer, status):
    """Nothing that is not a context reaches the agent."""
    with door(installed, answer, status=status):
        assert_silent(run(installed, START))


def test_a_session_that_was_told_is_not_told_again(patient):
    """The door is not even asked."""
    SessionMarks(patient).begin("claude-code", "a6a9-1", "prompt")
    said = b'{"hookSpecificOutput": {"additionalContext": "x"}}'
    with door(patient, said) as asked:
        assert_silent(run(patient, START | {"hook_event_name": "UserPromptSubmit"}))
        assert asked == []
        assert run(patient, START).stdout


def test_a_person_is_told_once_a_day_that_nothing_runs(installed):
    """In the field that agents show and hand to no model; whatever else is asked, is silence."""
    said = json.loads(run(installed, START).stdout)
    assert list(said) == ["systemMessage"]
    assert "`trackrecord up --detach`" in said["systemMessage"]
    with door(installed, b"{}"):
        pass
    assert socket_path(installed).exists()
    assert_silent(run(installed, START))
    (mark,) = wrapper_path(installed).parent.glob("not-*")
    for age_s in (86_500, -86_500):  # a day later, and where the clock was set back
        os.utime(mark, (time.time() - age_s,) * 2)
        assert_silent(run(installed, STOP))
        assert run(installed, START).stdout
        assert_silent(run(installed, START))


def test_nobody_on_the_port_is_asked(patient):
    """Once the front door was killed, anybody can listen there: what it would say is not read."""
    said = b'{"hookSpecificOutput": {"additionalContext": "x"}}'
    with door(patient, said):
        assert json.loads(run(patient, START).stdout) == json.loads(said)
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        stranger.settimeout(0.0)
        write_door(patient, DoorAddress("127.0.0.1", stranger.getsockname()[1], "t" * 20), 10)
        assert list(json.loads(run(patient, START).stdout)) == ["systemMessage"]
        output = START | {"hook_event_name": "PostToolUse", "tool_response": {"stdout": "x" * 99}}
        assert_silent(run(patient, output))
        with pytest.raises(BlockingIOError):
            stranger.accept()


def test_a_door_that_does_not_answer_in_time_is_given_up(installed):
    """The hook ends by itself: this door answers after a minute."""
    answer = b'{"hookSpecificOutput": {"additionalContext": "x"}}'
    with door(installed, answer, pauses=True):
        started = time.monotonic()
        assert_silent(run(installed, START))
        assert time.monotonic() - started < 30.0


def test_an_agent_that_never_closes_its_end_does_not_keep_the_hook(installed):
    """The whole hook has one deadline."""
    with subprocess.Popen(
        [wrapper_path(installed), "claude-code"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.wait(200) == 0
        assert process.stdout.read() == b""
