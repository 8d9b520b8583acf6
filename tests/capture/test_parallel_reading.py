"""Reading logs in several processes: the outcomes and the order of one, whatever ends."""

import json
from itertools import chain

import psutil
import pytest

from benchmarks.workloads.transcripts import write_sessions
from trackrecord.settings.capture_rules import CaptureRules
from trackrecord_capture.history.parallel import (
    LARGEST_SENT,
    LogPart,
    LogReaders,
    outcome_maker,
    processes_for,
)
from trackrecord_capture.history.reading import LogReading, find_outcomes
from trackrecord_capture.projects import run_projects
from trackrecord_capture.sources.register import known_sources
from trackrecord_capture.sources.source import Log, Unreadable

_MB = 1024 * 1024


@pytest.fixture
def parts(tmp_path):
    """Sessions of two agents in two repositories of one name."""
    found = []
    for number, agent in enumerate(("claude-code", "codex", "claude-code")):
        shop = tmp_path / str(number) / "shop"
        (shop / ".git").mkdir(parents=True)
        sessions = tmp_path / f"sessions-{number}"
        sessions.mkdir()
        write_sessions(sessions, agent, 2 * _MB)
        for path in sessions.iterdir():
            path.write_text(path.read_text().replace("/src/shop", str(shop)))
        source = known_sources()[agent]
        found += [LogPart(source, log) for log in source.logs([sessions])]
    assert len(found) > 3
    return found


def test_what_is_left_out_is_left_out_by_all(parts, home, tmp_path, monkeypatch):
    """By a file in the folder, by the folder's path, and by the project's name."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    (tmp_path / "0" / ".trackrecordignore").touch()
    first = run_projects(CaptureRules(), home).of(str(tmp_path / "1" / "shop"))
    for named in (first, str(tmp_path / "1")):
        monkeypatch.setenv("TRACKRECORD_CAPTURE__EXCLUDE", json.dumps([named]))
        projects = run_projects(CaptureRules(exclude=(named,)), home)
        with LogReaders(2, with_automated=True, projects=projects) as readers:
            read = [found for _, found in readers.read(parts)]
        kept = [fields for fields in _fields(read) if fields]
        assert {fields["project"] for fields in kept} == {projects.of(str(tmp_path / "2" / "shop"))}


def _read_by_one(parts, home):
    rules = CaptureRules()
    reading = LogReading(outcome_of=outcome_maker(rules, run_projects(rules, home)))
    return [list(find_outcomes(*part, reading)) for part in parts]


def _fields(found):
    return [each.fields for each in chain.from_iterable(found)]


def test_several_processes_find_what_one_finds(parts, home, tmp_path, monkeypatch):
    """In the same order, with the same places to go on, and the same names of projects."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    one = _read_by_one(parts, tmp_path / "other")
    projects = run_projects(CaptureRules(), home)
    with LogReaders(2, with_automated=True, projects=projects) as readers:
        read = list(readers.read(parts))
    assert [part for part, _ in read] == parts
    several = [list(found) for _, found in read]
    assert _fields(several) == _fields(one)
    names = {each["project"] for each in _fields(several)}
    assert len(names) == 3
    assert "shop" in names
    for place in ("resume_at", "position"):
        for found, expected in zip(several, one, strict=True):
            assert [getattr(each, place) for each in found] == [
                getattr(each, place) for each in expected
            ]
    assert not psutil.Process().children(recursive=True)


def test_a_process_that_is_killed(parts, home, monkeypatch):
    """Its log is named and read another time; another process reads the logs after it."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    with LogReaders(1, with_automated=True) as readers:
        read = readers.read(parts[:1])
        assert not isinstance(next(iter(next(read)[1])), Unreadable)
        (process,) = psutil.Process().children()
        process.kill()
        process.wait()
        _, (ended,) = next(readers.read(parts[1:2]))
        assert ended.reason.startswith("the process that read it ended")
        _, found = next(readers.read(parts[1:2]))
        assert not isinstance(next(iter(found)), Unreadable)


def test_a_log_that_cannot_be_read(parts, home, monkeypatch, tmp_path):
    """It is named as one process names it."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    gone = LogPart(parts[0].source, Log(path=tmp_path / "gone.jsonl", size=1, version=1))
    with LogReaders(1, with_automated=True) as readers:
        _, (bad,) = next(readers.read([gone]))
    assert (bad.place, bad.reason) == ("the file", "No such file or directory")


def test_who_is_done_leaves_no_process_behind(parts, home, monkeypatch):
    """Also in the middle of the work, as at Ctrl-C."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    with LogReaders(2, with_automated=True) as readers:
        next(readers.read(parts))
        assert psutil.Process().children()
    assert not psutil.Process().children()


def test_small_imports_stay_in_one_process(parts, tmp_path):
    """And a log that is too large to be held is read by the caller."""
    source = parts[0].source

    def sized(*megabytes):
        return [
            LogPart(source, Log(path=tmp_path / str(number), size=size * _MB, version=1))
            for number, size in enumerate(megabytes)
        ]

    assert processes_for(sized(*[1] * 20)) == 0
    assert processes_for(sized(1000)) == 0
    assert processes_for(sized(1000, 1000)) == 0
    cores = len(psutil.Process().cpu_affinity())
    assert processes_for(sized(*[10] * 20)) == (min(cores, 8) if cores > 1 else 0)
    large = LogPart(source, Log(path=tmp_path / "large", size=LARGEST_SENT + 1, version=1))
    with LogReaders(1, with_automated=True) as readers:
        assert list(readers.read([large])) == [(large, None)]
