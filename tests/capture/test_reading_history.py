"""Reading what is new in logs: once, in any order, by several readers, whatever crashes."""

import os
import sqlite3
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import msgspec
import pytest

from tests.capture.made_runs import run_of
from trackrecord.errors import InvalidOutcome, ServerUnavailable, StoreUnfit
from trackrecord_capture.agent_run import RunCall
from trackrecord_capture.history.reading import (
    SILENT_S,
    LogReading,
    has_news,
    read_and_publish,
    with_saved_outputs,
)
from trackrecord_capture.history.state import FILE_NAME, CaptureState
from trackrecord_capture.sources.json_lines import read_lines
from trackrecord_capture.sources.log_files import logs_in
from trackrecord_capture.sources.source import Log, ReadRun, Unreadable


class Lines:
    """An agent that writes one run a line: "id flags…"; it is read again from its last run."""

    name = "lines"

    def homes(self):
        return ()

    def logs(self, places):
        for path in places:
            size = path.stat().st_size
            yield Log(path=path, size=size, version=size)

    def read(self, log, resume_at=0):
        for line in read_lines(log.path, resume_at):
            words = line.text.decode().split()
            if words[0] == "torn":
                yield Unreadable(place=f"byte {line.start}", reason="torn")
                continue
            yield ReadRun(run=_run(words), resume_at=line.start, position=line.end)


def _run(words):
    marks = dict(word.split("=") for word in words[1:] if "=" in word)
    ended = float(marks.get("ended", time.time() - float(marks.get("silent", 0.0))))
    return run_of(
        agent="lines", session=marks.get("session", "s"), prompt=words[0], folder="",
        started_at=ended - 1, ended_at=ended, is_over="open" not in words,
        automated="automated" in words, record=marks.get("record", ""), is_copy="copy" in words,
    )  # fmt: skip


def outcome_of(run):
    return {
        "outcome_id": run.outcome_id, "project": "shop", "source": run.agent,
        "task_id": run.prompt, "success": True, "outcome_source": "tests",
        "timestamp": run.ended_at,
    }  # fmt: skip


class Shelf:
    """A sink that keeps what it is given, once settled."""

    def __init__(self, *, fails_after=None):
        self.safe = []
        self._waiting = []
        self._fails_after = fails_after

    def publish(self, fields):
        if fields["task_id"] == "invalid":
            message = "it is no outcome"
            raise InvalidOutcome(message)
        self._waiting.append(fields)

    def settle(self):
        if self._fails_after is not None and len(self._waiting) > self._fails_after:
            self.safe += self._waiting[: self._fails_after]
            message = "Redis went away"
            raise ServerUnavailable(message)
        self.safe += self._waiting
        self._waiting = []
        return 0

    @property
    def prompts(self):
        return [fields["task_id"] for fields in self.safe]


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("")
    return path


def read(home, *paths, shelf=None, **options):
    """Read logs as one process does, and return the sink and the counts."""
    shelf = Shelf() if shelf is None else shelf
    reading = LogReading(outcome_of=outcome_of, **options)
    with CaptureState(home) as state:
        counts = [
            read_and_publish(Lines(), each, state, shelf, reading) for each in Lines().logs(paths)
        ]
    return shelf, counts


def test_only_what_is_new(home, log):
    """A log is read on from where its last run begins; unchanged, it is not read at all."""
    log.write_text("a\nb\n")
    assert read(home, log)[0].prompts == ["a", "b"]
    shelf, (counts,) = read(home, log)
    assert (shelf.prompts, counts.unchanged, counts.logs) == ([], 1, 0)
    with log.open("a") as file:
        file.write("c\n")
    assert read(home, log)[0].prompts == ["b", "c"]


def test_an_unchanged_log_is_not_opened(home, log):
    """Ten thousand logs are known by what their folders say of them; changed, they are opened."""
    log.write_text("a\n")
    opened = []
    sys.addaudithook(lambda event, given: opened.append(given[0]) if event == "open" else None)

    def has_new():
        opened.clear()
        with CaptureState(home) as state:
            ((_, found),) = logs_in([log], "*")
            return has_news(Lines(), found, state), str(log) in map(str, opened), found

    assert has_new()[0] is True
    with CaptureState(home) as state:
        reading = LogReading(outcome_of=outcome_of)
        read_and_publish(Lines(), has_new()[2], state, Shelf(), reading)
    assert has_new()[:2] == (False, False)
    os.utime(log)
    assert has_new()[:2] == (False, True)
    log.write_text("b\n")
    assert has_new()[:2] == (True, True)


def test_everything_again(home, log):
    """On demand a log is read from its start."""
    log.write_text("a\nb\n")
    read(home, log)
    assert read(home, log, everything=True)[0].prompts == ["a", "b"]


@pytest.mark.parametrize("new", ["c\n", "c\nd\ne\nf\n"])
def test_a_log_that_was_replaced(home, log, new):
    """Another file under the same name is read from its start."""
    log.write_text("a\nb\n")
    read(home, log)
    other = log.with_name("other")
    other.write_text(new)
    other.replace(log)
    assert read(home, log)[0].prompts == new.split()


@pytest.mark.parametrize("fails_after", range(5))
def test_a_failure_at_any_point(home, log, fails_after):
    """What was not delivered is read again the next time: nothing is lost."""
    log.write_text("a\nb\nc\nd\ne\n")
    broken = Shelf(fails_after=fails_after)
    with pytest.raises(ServerUnavailable):
        read(home, log, shelf=broken)
    shelf, _ = read(home, log)
    assert {*broken.prompts, *shelf.prompts} == set("abcde")


def test_two_readers_at_once(home, log):
    """Several readers of one growing log lose nothing, and leave a state that is right."""
    lock = threading.Lock()
    seen = set()
    stop = threading.Event()

    def follow(_number):
        while not stop.is_set():
            shelf, _ = read(home, log)
            with lock:
                seen.update(shelf.prompts)

    wanted = {f"run{number}" for number in range(300)}
    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(follow, number) for number in range(3)]
        with log.open("a") as file:
            for name in sorted(wanted):
                file.write(f"{name}\n")
                file.flush()
        stop.set()
        for reader in readers:
            reader.result()
    shelf, _ = read(home, log)
    assert seen | set(shelf.prompts) == wanted
    assert read(home, log)[1][0].unchanged == 1


def test_a_run_that_goes_on(home, log):
    """A run that has not ended has no verdict yet, and is read again until it has."""
    log.write_text("a\nb open\n")
    first, _ = read(home, log)
    assert [fields["success"] for fields in first.safe] == [True, None]
    assert "outcome_source" not in first.safe[1]
    with log.open("a") as file:
        file.write("c\n")
    assert read(home, log)[0].prompts == ["b", "c"]


def test_a_run_that_fell_silent(home, log):
    """A run without an end that has been silent for long is over."""
    log.write_text(f"a open silent={SILENT_S + 60}\n")
    shelf, _ = read(home, log)
    assert shelf.safe[0]["success"] is True
    assert read(home, log)[1][0].unchanged == 1


def test_a_run_that_falls_silent_later(home, log):
    """A log in which a run went on is read again when that run has been silent for long."""
    log.write_text("a open\n")
    read(home, log)
    with sqlite3.connect(home / FILE_NAME) as connection:
        connection.execute("UPDATE log SET goes_on_since = ?", (time.time() - SILENT_S - 1,))
    assert read(home, log)[0].prompts == ["a"]


def test_runs_of_programs(home, log):
    """Runs that programs started are left out on demand, and counted."""
    log.write_text("a\nb automated\n")
    shelf, (counts,) = read(home, log, with_automated=False)
    assert (shelf.prompts, counts.left_out) == (["a"], 1)


@pytest.mark.parametrize("order", [*permutations(["a ended=2", "b ended=2 copy", "c ended=1"])])
@pytest.mark.parametrize("longest", ["", "d ended=9 copy"])
def test_a_run_that_several_sessions_hold(home, tmp_path, order, longest):
    """It is told by the session that has most of it, and of those by the one that had it first."""
    paths = [tmp_path / each[0] for each in (*order, *filter(None, [longest]))]
    for path, line in zip(paths, (*order, longest), strict=False):
        path.write_text(f"{line} session={path.name} record=r\n")
    shelf, counts = read(home, *paths, *paths, everything=True)
    assert len({fields["outcome_id"] for fields in shelf.safe}) == 1
    assert shelf.prompts[-1] == ("d" if longest else "a")
    assert sum(each.copied for each in counts) >= len(order) - 1


def test_bad_parts(home, log):
    """What cannot be read, and what is no outcome, is counted and named; the rest goes through."""
    log.write_text("a\ntorn\ninvalid\nb\n")
    shelf, (counts,) = read(home, log)
    assert shelf.prompts == ["a", "b"]
    assert (counts.runs, counts.bad, counts.refused) == (2, 1, 1)
    assert counts.named[0][1].place == "byte 2"
    assert counts.reasons == ["it is no outcome"]
    assert read(home, log)[1][0].unchanged == 1


def test_the_state_is_private(home):
    """Nobody else may read which folders and commits there are."""
    CaptureState(home).close()
    assert (home / FILE_NAME).stat().st_mode & 0o077 == 0


def test_a_damaged_state(home):
    """One line says which file it is, and that moving it away loses nothing."""
    home.mkdir(exist_ok=True)
    (home / FILE_NAME).write_text("this is not a database at all")
    with pytest.raises(StoreUnfit, match=r"capture\.db cannot be used .* move it away"):
        CaptureState(home)


def test_an_output_beside_its_log(log):
    """A large output is read from its file beside the log, wherever its session was recorded."""
    folder = log.with_suffix("") / "tool-results"
    folder.mkdir(parents=True)
    (folder / "b1.txt").write_text("ok 1\n" + "x\n" * 9_000 + "3 passed in 1s")
    said = "Output too large. Full output saved to: C:\\home\\tool-results\\{}.txt\n\nok 1\n..."
    calls = tuple(
        RunCall(tool="Bash", command="pytest", ok=True, result=said.format(name))
        for name in ("b1", "..\\b1", "gone")
    )
    run = msgspec.structs.replace(_run(["a"]), calls=calls)
    read_now, outside, gone = with_saved_outputs(run, log).calls
    assert read_now.result.startswith("ok 1")
    assert read_now.result.endswith("3 passed in 1s")
    assert len(read_now.result) <= 4096
    assert (outside, gone) == calls[1:]
