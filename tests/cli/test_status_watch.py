"""`status --watch` on a real terminal and in a pipe, while servers go and come back."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.cli.terminal import Terminal, let_ctrl_c_through
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

WATCH = ("status", "--watch", "--interval", "0.2")
_ALTERNATE_SCREEN, _USUAL_SCREEN = "\x1b[?1049h", "\x1b[?1049l"


@pytest.fixture
def beside(home, monkeypatch):
    """The home of a Redis that the test starts and stops."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    return home


def server(home):
    """A Redis at the home's default socket."""
    return EmbeddedRedis(home / "redis", home / "redis.sock")


def test_it_is_drawn_in_place_and_follows_the_size(beside):
    """The verdict is shown however few rows there are; what does not fit is left out."""
    with server(beside), Terminal(*WATCH) as terminal:
        assert _ALTERNATE_SCREEN in terminal.wait_for("Nothing can be learnt")
        assert "0.0/s learnt" in terminal.wait_for("0.0/s learnt")
        terminal.wait_for("without a verdict")
        terminal.resize(8, 60)
        terminal.wait_for("trackrecord: all projects")
        small = terminal.wait_for("Nothing can be learnt") + terminal.wait_for("trackrecord up")
        assert "last consolidation" not in terminal.wait_for("trackrecord: all projects")
        assert "Nothing" in small
        terminal.resize(40, 100)
        terminal.wait_for("last consolidation")


def test_a_server_that_is_away_is_waited_for_and_ctrl_c_ends(beside):
    """Numbers are there again when the server is; at the end the terminal is as it was before."""
    with server(beside) as redis, Terminal(*WATCH) as terminal:
        terminal.wait_for("Nothing can be learnt")
        redis.stop()
        terminal.wait_for("Redis cannot be reached")
        with server(beside):
            terminal.wait_for("Nothing can be learnt")
            terminal.type("\x03")
            assert terminal.wait() == 0
    assert _USUAL_SCREEN in terminal.shown
    assert "Traceback" not in terminal.shown


def test_the_terminal_is_restored_when_the_process_is_ended(beside):
    """SIGTERM ends it with the status of that."""
    with Terminal(*WATCH) as terminal:
        terminal.wait_for("Redis cannot be reached")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.wait() == 128 + signal.SIGTERM
        assert _USUAL_SCREEN in terminal.shown


def test_a_pipe_gets_a_block_for_each_reading(beside):
    """With the fields of `status`, the rates between readings, the verdict, and a blank line."""
    with server(beside), _piped(*WATCH) as watch:
        blocks = [_block(watch), _block(watch)]
        watch.send_signal(signal.SIGINT)
        assert watch.wait(60) == 0
        assert watch.stderr.read() == ""
    assert [block[-1].startswith("Nothing can be learnt") for block in blocks] == [True, True]
    fields = [dict(line.split("\t") for line in block[:-1]) for block in blocks]
    assert fields[0]["waiting"] == "0"
    assert "learnt_per_s" not in fields[0]
    assert fields[1]["learnt_per_s"] == "0.0"


def test_json_is_a_line_for_each_reading(beside):
    """Also when nothing answers."""
    with _piped(*WATCH, "--json") as watch:
        away = json.loads(watch.stdout.readline())
        with server(beside):
            while "error" in (document := json.loads(watch.stdout.readline())):
                assert document == away
        watch.send_signal(signal.SIGINT)
        assert watch.wait(60) == 0
    assert away["error"] == "ServerUnavailable"
    assert document["is_learning"] is False


def test_the_past_is_not_watched(nothing_up, trackrecord):
    """Wrong use."""
    ran = trackrecord("status", "--watch", "--at", "2020-01-01")
    assert (ran.status, ran.out) == (2, "")


def _piped(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "trackrecord_cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ,
        text=True,
        preexec_fn=let_ctrl_c_through,
    )


def _block(watch):
    return list(iter(lambda: watch.stdout.readline().rstrip("\n"), ""))
