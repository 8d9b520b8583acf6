"""The spool: what is written is whole lines, within bounds, locked while its writer lives."""

import fcntl
import os
import stat
import textwrap

import pytest

from tests.producers.what_became import spooled
from trackrecord_producers.spool.files import SpoolSize, SpoolWriter, spool_size

MEGABYTE = 1024 * 1024


@pytest.fixture
def folder(home):
    return home / "spool"


def _only_file(folder):
    (file,) = folder.iterdir()
    return file


def _is_locked(path):
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_bodies_become_lines_of_a_private_file_that_is_locked_while_the_writer_lives(folder):
    """Nobody else may read it or forward it."""
    writer = SpoolWriter(folder, MEGABYTE)
    assert writer.append([b'{"a":1}', b'{"b":2}']).written == 2
    assert writer.append([b'{"c":3}']).written == 1
    file = _only_file(folder)
    assert file.read_bytes() == b'{"a":1}\n{"b":2}\n{"c":3}\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert _is_locked(file)
    writer.close()
    assert not _is_locked(file)


def test_a_line_break_inside_a_body_does_not_break_the_line(folder):
    """It becomes a blank."""
    SpoolWriter(folder, MEGABYTE).append([b'{"a":\n1}'])
    assert _only_file(folder).read_bytes() == b'{"a": 1}\n'


def test_a_closed_file_is_taken_up_again_unless_somebody_else_has_it(folder):
    """So that few files are made."""
    writer = SpoolWriter(folder, MEGABYTE)
    writer.append([b"{}"])
    writer.close()
    writer.append([b"{}"])
    assert _only_file(folder).read_bytes() == b"{}\n{}\n"
    writer.close()
    with _only_file(folder).open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        writer.append([b"{}"])
    assert len(list(folder.iterdir())) == 2


def test_a_file_that_somebody_deletes_is_replaced(folder):
    """By the next write."""
    writer = SpoolWriter(folder, MEGABYTE)
    writer.append([b"{}"])
    _only_file(folder).unlink()
    assert writer.append([b'{"a":1}']).written == 1
    assert _only_file(folder).read_bytes() == b'{"a":1}\n'


def test_a_long_file_is_followed_by_another(folder):
    """A file is forwarded as a whole, so it stays short."""
    writer = SpoolWriter(folder, 64 * MEGABYTE)
    for _ in range(3):
        writer.append([b"x" * 6 * MEGABYTE])
    writer.append([b"{}"])
    sizes = sorted(file.stat().st_size for file in folder.iterdir())
    assert sizes == [3, 3 * (6 * MEGABYTE + 1)]


def test_the_bound_is_the_whole_spools_and_what_finds_no_room_is_told(folder):
    """The files of other processes count too."""
    SpoolWriter(folder, 100).append([b"x" * 59])
    appended = SpoolWriter(folder, 100).append([b"x" * 19, b"x" * 19, b"x" * 19])
    assert (appended.written, appended.too_many, appended.failed) == (2, 1, 0)
    assert sum(file.stat().st_size for file in folder.iterdir()) == 100


def test_a_folder_that_cannot_be_made_is_told(home):
    """Instead of an exception."""
    (home / "spool").write_text("a file is in the way")
    appended = SpoolWriter(home / "spool", MEGABYTE).append([b"{}", b"{}"])
    assert (appended.written, appended.failed) == (0, 2)
    assert appended.problem


def test_its_size_is_counted_in_outcomes_and_bytes(settings, folder):
    """Of all files together."""
    assert spool_size(settings) == SpoolSize(0, 0)
    writer = SpoolWriter(folder, MEGABYTE)
    writer.append([b"{}", b"{}"])
    (folder / "unrelated.txt").write_bytes(b"\n\n\n")
    (folder / "link.jsonl").symlink_to("/etc/hostname")
    os.mkfifo(folder / "pipe.jsonl")
    assert spool_size(settings) == SpoolSize(2, 6)


def test_a_full_disk_costs_whole_outcomes_only_and_the_agent_goes_on(agent, home):
    """The file size limit of the operating system stands in for the disk's end."""
    done = agent(
        """
        import resource, sys, trackrecord
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
        for _ in range(100):
            trackrecord.publish(task_id="t", success=True, source="x" * 100)
        assert not trackrecord.flush(10)
        print(trackrecord.stats().spooled, trackrecord.dropped())
        trackrecord.publish(task_id="late", success=True)
        trackrecord.flush(60)
        """,
        TRACKRECORD_REDIS_URL="redis://127.0.0.1:1/0",
    )
    assert done.returncode == 0, done.stderr
    bodies = [body for body in spooled(home) if body["task_id"] == "t"]
    assert 10 < len(bodies) < 100
    count = len(bodies)
    assert done.stdout.strip() == f"{count} {{'spool_error': {100 - count}}}"
    assert _only_file(home / "spool").read_bytes().endswith(b"\n")
    assert "File too large" in done.stderr
    assert "free disk space" in done.stderr


def test_a_hook_spools_at_once_without_the_network_or_a_thread(agent, home):
    """The outcome is on disk when the call returns."""
    done = agent(
        """
        import sys, threading, trackrecord, os
        outcome_id = trackrecord.spool(task_id="t", success=False, source="hook")
        print(outcome_id, "redis" in sys.modules, threading.active_count(), flush=True)
        os._exit(0)
        """,
        TRACKRECORD_PROJECT="hooks",
    )
    (body,) = spooled(home)
    assert done.stdout.split() == [body["outcome_id"], "False", "1"]
    assert (body["project"], body["source"]) == ("hooks", "hook")


@pytest.mark.parametrize(
    ("environment", "call", "reason"),
    [
        ({"TRACKRECORD_QUEUE_MAX": "none"}, "success=True", "bad_settings"),
        ({"TRACKRECORD_NO_SUCH": "1"}, "success=True", "bad_settings"),
        ({"TRACKRECORD_SPOOL_MAX_BYTES": "10"}, "success=True", "spool_full"),
        ({"TRACKRECORD_HOME": "/dev/null"}, "success=True", "spool_error"),
        ({}, "success='maybe'", "invalid"),
    ],
)
def test_a_hook_never_fails(agent, environment, call, reason):
    """Wrong settings and a missing disk are counted."""
    code = textwrap.dedent(
        f"""
        import trackrecord
        assert trackrecord.spool(task_id="t", {call}) is None
        print(trackrecord.dropped())
        """
    )
    done = agent(code, **environment)
    assert (done.returncode, done.stdout.strip()) == (0, f"{{'{reason}': 1}}")
    assert reason in done.stderr
