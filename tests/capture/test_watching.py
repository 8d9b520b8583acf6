"""What hooks leave is read from the agents' logs: soon, completely, and also after a crash."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.support.processes import until
from trackrecord.errors import ServerUnavailable, StoreUnfit
from trackrecord.settings.daemon_settings import HookSettings
from trackrecord_capture.agents.hook_state import last_error
from trackrecord_capture.agents.installed import Installed, write_installed
from trackrecord_capture.agents.runtime import write_runtime
from trackrecord_capture.live.notes import EndNote, notes_folder, waiting_notes, write_note
from trackrecord_capture.live.watching import LiveReader, Watching
from trackrecord_capture.sources.source import Log

RULES = HookSettings(settle_s=0.3, settle_max_s=20.0, catch_up_s=600.0)
# What is found is read at the same look.
AT_ONCE = HookSettings(settle_s=0.0, settle_max_s=20.0, catch_up_s=600.0)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    """Looks, tries again and waits after trouble much sooner than for a user."""
    for name in ("_EVERY_S", "_RETRY_S", "_AFTER_TROUBLE_S"):
        monkeypatch.setattr(f"trackrecord_capture.live.watching.{name}", 0.05)


class Diaries:
    """An agent that writes a file of lines for each session."""

    name = "codex"

    def __init__(self, folder):
        self._folder = folder

    def homes(self):
        return (self._folder,)

    def logs(self, places):
        for place in places:
            for path in sorted(place.glob("*.log")) if place.is_dir() else [place]:
                with contextlib.suppress(OSError):
                    size = path.stat().st_size
                    yield Log(path=path, size=size, version=size)

    def read(self, log, resume_at=0):
        yield from ()


class Reading:
    """Reads logs as the history does, and remembers what it saw."""

    def __init__(self):
        self.read = []
        self.fails = 0
        self.repositories_read = 0

    @contextlib.contextmanager
    def opened(self):
        yield LiveReader(self._read, self._read_repositories)

    def _read_repositories(self):
        self.repositories_read += 1

    def _read(self, source, log):
        if self.fails:
            self.fails -= 1
            message = "the disk\nis full"
            raise OSError(message)
        self.read.append((log.path.name, log.path.read_text()))


def only(read):
    """Opens a reader of logs, and of no repositories."""

    @contextlib.contextmanager
    def opened():
        yield LiveReader(read, lambda: None)

    return opened


@pytest.fixture
def diaries(tmp_path):
    folder = tmp_path / "diaries"
    folder.mkdir()
    return folder


@pytest.fixture
def reading():
    return Reading()


@pytest.fixture
def watch(home, diaries, reading):
    """Makes what watches; it is stopped at the end."""
    made = []

    def watch(source=None, opened=reading.opened, rules=RULES):
        made.append(Watching(home, rules, {"codex": source or Diaries(diaries)}, opened))
        return made[-1]

    yield watch
    for each in made:
        each.stop()


@pytest.fixture
def watching(watch):
    return watch()


def left(home):
    return [note for _, note in waiting_notes(home)]


def test_a_log_is_read_after_its_hook_and_the_note_goes(home, diaries, watching, reading):
    """Two notes of one session are one reading; the log is found by the session's id."""
    (diaries / "session-s1.log").write_text("a\n")
    (diaries / "session-s2.log").write_text("b\n")
    write_note(home, EndNote("codex", "Stop", "s1", str(diaries / "session-s1.log")))
    write_note(home, EndNote("codex", "agent-turn-complete", "s1"))
    watching.start()
    until(lambda: not left(home))
    assert reading.read == [("session-s1.log", "a\n")]


def test_a_log_that_is_still_written_is_waited_for(home, diaries, watching, reading):
    """Agents call their hooks before the last lines are written."""
    path = diaries / "session-s1.log"
    path.write_text("first\n")
    watching.start()
    write_note(home, EndNote("codex", "Stop", "s1", str(path)))
    for _ in range(10):
        with path.open("a") as file:
            file.write("more\n")
        time.sleep(0.05)
    until(lambda: not left(home))
    assert reading.read[-1] == (path.name, path.read_text())


def test_what_cannot_be_read_is_tried_again_and_said(home, diaries, watching, reading):
    """The note stays until then; the last error is one line for `doctor`."""
    (diaries / "session-s1.log").write_text("a\n")
    reading.fails = 2
    write_note(home, EndNote("codex", "Stop", "s1"))
    watching.start()
    until(lambda: not left(home))
    assert reading.read == [("session-s1.log", "a\n")]
    assert "OSError: the disk is full" in last_error(home, "codex").says


def test_the_logs_of_sub_agents(home, diaries, watching, reading):
    """They lie in a folder with the name of the session's log, and are read with it."""
    (diaries / "session-s1").mkdir()
    for name in ("session-s1.log", "session-s1/agent-a.log"):
        (diaries / name).write_text("a\n")
    write_note(home, EndNote("codex", "SubagentStop", "s1", str(diaries / "session-s1.log")))
    watching.start()
    until(lambda: len(reading.read) == 2)
    assert sorted(name for name, _ in reading.read) == ["agent-a.log", "session-s1.log"]


def test_files_outside_the_agents_folders_are_not_read(home, tmp_path, diaries, watching, reading):
    """A note may come from another user of the machine."""
    secret = tmp_path / "secret.log"
    secret.write_text("password")
    (diaries / "link.log").symlink_to(secret)
    write_note(home, EndNote("codex", "Stop", "zzz", str(secret)))
    write_note(home, EndNote("codex", "Stop", "zzz", str(diaries / "link.log")))
    write_note(home, EndNote("codex", "Stop", "zzz", str(diaries / ".." / "secret.log")))
    (diaries / "link.log").unlink()
    watching.start()
    until(lambda: not left(home))
    assert reading.read == []


def test_notes_that_are_none_are_removed(home, watching):
    """Garbage, unknown agents, and what a hook left half written long ago."""
    write_note(home, EndNote("nobody", "Stop", "s1"))
    (notes_folder(home) / "0.json").write_text("{")
    (notes_folder(home) / "1.json").write_text(json.dumps({"agent": "codex"}) + " " * 100_000)
    abandoned = notes_folder(home) / ".2"
    abandoned.touch()
    os.utime(abandoned, (1, 1))
    watching.start()
    until(lambda: not list(notes_folder(home).iterdir()))


def test_a_session_that_ended_without_a_hook_is_found(home, diaries, watch, reading):
    """If its agent is installed, and if it went on after that; each change is read once."""
    old, new = diaries / "old.log", diaries / "new.log"
    old.write_text("before\n")
    os.utime(old, (1_000_000, 1_000_000))
    new.write_text("interrupted\n")
    write_runtime(home)
    write_installed(home, {"codex": Installed(at=2_000_000, folder=str(diaries))})
    watching = watch(rules=AT_ONCE)
    watching.start()
    until(lambda: reading.read)
    with new.open("a") as file:
        file.write("again\n")
    watching.catch_up()
    until(lambda: reading.repositories_read == 2)
    watching.catch_up()
    until(lambda: reading.repositories_read == 3)
    assert reading.read == [("new.log", "interrupted\n"), ("new.log", "interrupted\nagain\n")]


def test_repositories_are_read_when_a_session_starts_and_ends(home, diaries, watching, reading):
    """What became of earlier runs is known then at the latest."""
    watching.start()
    until(lambda: reading.repositories_read == 1)
    watching.catch_up()
    until(lambda: reading.repositories_read == 2)
    (diaries / "session-s1.log").write_text("a\n")
    write_note(home, EndNote("codex", "Stop", "s1"))
    until(lambda: not left(home))
    until(lambda: reading.repositories_read == 3)


def test_agents_that_are_not_installed_are_not_searched(home, diaries, watch, reading):
    """Nobody asked for it."""
    (diaries / "s1.log").write_text("mine\n")
    watch(rules=AT_ONCE).start()
    until(lambda: reading.repositories_read)
    assert reading.read == []


def test_a_folder_that_cannot_be_listed_stops_nothing(home, diaries, watch, reading):
    """What comes later is read all the same."""
    asked = []

    class Moody(Diaries):
        def logs(self, places):
            asked.append(places)
            if len(asked) < 3:
                raise PermissionError
            return super().logs(places)

    (diaries / "s1.log").write_text("a\n")
    write_note(home, EndNote("codex", "Stop", "s1"))
    watch(Moody(diaries)).start()
    until(lambda: not left(home))
    assert reading.read == [("s1.log", "a\n")]


def test_stopping_waits_for_the_log_that_is_being_read(home, diaries, watch):
    """And for no other."""
    began, read = threading.Event(), []

    def slow(_source, log):
        began.set()
        time.sleep(0.5)
        read.append(log.path.name)

    (diaries / "s1.log").write_text("a\n")
    write_note(home, EndNote("codex", "Stop", "s1"))
    watching = watch(opened=only(slow))
    watching.start()
    assert began.wait(200)
    watching.stop()
    assert read == ["s1.log"]


_DIES_WHILE_READING = """
import sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.capture.test_watching import RULES, Diaries, only
from trackrecord_capture.live.watching import Watching

def read(source, log):
    print("reading", flush=True)
    time.sleep(600)

Watching(Path(sys.argv[2]), RULES, {"codex": Diaries(Path(sys.argv[3]))}, only(read)).start()
time.sleep(600)
"""


@pytest.mark.faults
def test_a_process_that_is_killed_leaves_the_note_to_the_next_one(home, diaries, watching, reading):
    """Nothing is lost."""
    (diaries / "s1.log").write_text("a\n")
    write_note(home, EndNote("codex", "Stop", "s1"))
    here = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", _DIES_WHILE_READING, here, str(home), str(diaries)],
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"reading\n"
        process.send_signal(signal.SIGKILL)
    assert left(home)
    watching.start()
    until(lambda: not left(home))
    assert reading.read == [("s1.log", "a\n")]


def test_what_nobody_takes_is_never_given_up(home, diaries, watch):
    """Neither Redis nor the spool takes outcomes: the log is not to blame."""
    (diaries / "s1.log").write_text("a\n")
    tried = []

    def read(_source, log):
        tried.append(log)
        if len(tried) < 9:
            message = "nobody takes it"
            raise ServerUnavailable(message)

    write_note(home, EndNote("codex", "Stop", "s1"))
    watch(opened=only(read)).start()
    until(lambda: not left(home))
    assert len(tried) == 9


def test_a_thousand_notes_of_one_session_are_one_reading(home, diaries, watch, reading):
    """As after a night without a daemon: its logs are searched once."""
    searched = []

    class Counted(Diaries):
        def logs(self, places):
            searched.extend(place for place in places if place.is_dir())
            return super().logs(places)

    (diaries / "s1.log").write_text("a\n")
    for _ in range(1000):
        write_note(home, EndNote("codex", "Stop", "s1"))
    watch(Counted(diaries)).start()
    until(lambda: not left(home))
    assert reading.read == [("s1.log", "a\n")]
    assert len(searched) == 1


def test_a_state_that_can_be_opened_again(home, diaries, watch, reading):
    """Until then nothing is read and nothing is lost, and `doctor` knows why."""
    write_runtime(home)
    write_installed(home, {"codex": Installed(at=time.time() - 60.0, folder=str(diaries))})
    shut = threading.Event()
    shut.set()

    @contextlib.contextmanager
    def opened():
        if shut.is_set():
            message = "capture.db cannot be used"
            raise StoreUnfit(message)
        with reading.opened() as read:
            yield read

    (diaries / "session-s1.log").write_text("a\n")
    write_note(home, EndNote("codex", "Stop", "s1", str(diaries / "session-s1.log")))
    watch(opened=opened).start()
    until(lambda: last_error(home, "codex") is not None)
    assert "capture.db cannot be used" in last_error(home, "codex").says
    shut.clear()
    until(lambda: not left(home))
    assert reading.read == [("session-s1.log", "a\n")]
