"""What a child says, handed on, and its last complaint."""

import io
import os

import pytest

from trackrecord_worker.up.log_relay import LogFile, LogRelay

ERROR = b'{"event": "cannot_start", "reason": "a full disk", "level": "error"}\n'
TRACE = (
    b'{"event": "Unrecoverable error", "level": "critical",'
    b' "exception": "Traceback\\n  File\\nModuleNotFoundError: No module named \'x\'"}\n'
)
PLAIN = b"Traceback (most recent call last):\n  File x\nkombu.exceptions.SomeError: it broke\n"
NOISE = b'{"event": "bye", "level": "info"}\n[1, 2]\n\xff\n'


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (b"", ""),
        (b'{"event": "learnt", "level": "info"}\nworker: Warm shutdown\n', ""),
        (ERROR, "a full disk"),
        (TRACE, "ModuleNotFoundError: No module named 'x'"),
        (PLAIN, "kombu.exceptions.SomeError: it broke"),
        (ERROR + PLAIN, "kombu.exceptions.SomeError: it broke"),
        (PLAIN + NOISE, "kombu.exceptions.SomeError: it broke"),
        (b"ValueError: " + b"x" * 1000, "ValueError: " + "x" * 288),
    ],
)  # fmt: skip
def test_the_last_complaint(said, complaint):
    """The last line of a traceback, or the cause of the last error in the log; all is handed on."""
    reader, writer = os.pipe()
    target = io.BytesIO()
    relay = LogRelay(os.fdopen(reader, "rb"), target)
    with os.fdopen(writer, "wb") as child:
        child.write(said)
    relay.finish(10.0)
    assert relay.last_complaint() == complaint
    assert target.getvalue() == said


def test_a_log_is_bounded_and_inert(tmp_path):
    """The file of `up` goes over into one other file, and holds nothing that steers a terminal."""
    log = LogFile(tmp_path / "up.log", largest=1000)
    for number in range(100):
        log.write(b'{"event": "learnt \x1b[31m %d"}\n' % number)
    log.close()
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert set(sizes) == {"up.log", "up.log.1"}
    assert max(sizes.values()) <= 1000
    last = (tmp_path / "up.log").read_text()
    assert "learnt" in last
    assert "99" in last
    assert "\x1b" not in last
