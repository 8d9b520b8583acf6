"""A failure that a person can cause gets one line and the right exit status."""

import os
import subprocess
import sys

import pytest

from tests.support.small_disk import fill


@pytest.mark.parametrize(
    "arguments", [("publish", "-"), ("rankings",), ("status",), ("dead", "list")]
)
def test_no_redis_is_status_3_and_says_what_to_do(nothing_up, arguments):
    """One line that names the way out."""
    ran = subprocess.run(
        [sys.executable, "-m", "trackrecord_cli", *arguments],
        input=b'{"task_id": "t", "success": true}\n',
        env={**os.environ, "TRACKRECORD_HOME": str(nothing_up)},
        capture_output=True,
        timeout=200,
        check=False,
    )
    assert ran.returncode == 3
    assert ran.stderr.decode().startswith("trackrecord: Redis cannot be reached")
    assert b"trackrecord up" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.faults
@pytest.mark.parametrize("arguments", [("up",), ("status",), ("token", "show"), ("projects",)])
@pytest.mark.parametrize("is_full", [True, False])
def test_a_home_without_room_is_named_with_what_to_do(small_disk, arguments, is_full):
    """Full or read-only: one line with the path, and how to go on."""
    home = small_disk / "home"
    home.mkdir()
    if is_full:
        fill(small_disk / "ballast")
    else:
        subprocess.run(["/bin/mount", "-o", "remount,ro", str(small_disk)], check=True)
    ran = subprocess.run(
        [sys.executable, "-m", "trackrecord_cli", *arguments],
        env={**os.environ, "TRACKRECORD_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert ran.returncode in (2, 3)
    (line,) = ran.stderr.splitlines()
    assert str(home) in line
    assert ("make room" if is_full else "let this user write") in line


def test_a_password_never_shows(nothing_up, trackrecord, monkeypatch):
    """Neither in the message of an unreachable Redis nor in that of a database."""
    monkeypatch.setenv("TRACKRECORD_REDIS_URL", "redis://:hunter2@127.0.0.1:1/0")
    ran = trackrecord("status")
    assert ran.status == 3
    assert "hunter2" not in ran.err + ran.out
    monkeypatch.setenv("TRACKRECORD_DATABASE_URL", "postgresql://me:hunter2@127.0.0.1:1/x")
    ran = trackrecord("patterns", "list")
    assert ran.status == 3
    assert "hunter2" not in ran.err + ran.out
