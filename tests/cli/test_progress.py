"""What takes long shows on a terminal how far it is, and says at Ctrl-C what was done."""

import os
import signal
import subprocess
import sys

import pytest

from tests.cli.terminal import Terminal, let_ctrl_c_through

_ESCAPE = "\x1b"


@pytest.fixture
def unlearnt(home, redis_server, tmp_path, monkeypatch):
    """The arguments of an import that waits for ever: no worker is running."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    path = tmp_path / "three.jsonl"
    path.write_text("".join(f'{{"task_id":"t{number}","success":true}}\n' for number in range(3)))
    return "import", "jsonl", str(path), "--wait"


def test_a_long_import_shows_progress_on_a_terminal(unlearnt):
    """And what was done when it is interrupted."""
    with Terminal(*unlearnt) as terminal:
        terminal.wait_for("learning")
        terminal.wait_for("0/3")
        terminal.type("\x03")
        assert terminal.wait() == 130
    assert "at least 3 outcomes published" in terminal.shown
    assert "trackrecord: interrupted" in terminal.shown


def test_a_long_import_in_a_pipe_shows_none(unlearnt):
    """Standard error has whole lines, and nothing that steers a terminal."""
    process = subprocess.Popen(
        [sys.executable, "-m", "trackrecord_cli", *unlearnt],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ, text=True,
        preexec_fn=let_ctrl_c_through,
    )  # fmt: skip
    assert process.stderr.readline().startswith("still waiting; is a worker running?")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=200)
    assert (process.returncode, out) == (130, "")
    assert _ESCAPE not in err
    published, interrupted = [line for line in err.splitlines() if line]
    assert published.startswith("trackrecord: at least 3 outcomes published")
    assert interrupted == "trackrecord: interrupted"
