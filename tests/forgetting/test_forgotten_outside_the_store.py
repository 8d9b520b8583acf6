"""What Redis and the home hold of a subject goes; what others said stays."""

import json
from pathlib import Path

import msgspec
import pytest
import redis
from sqlalchemy import Engine

from tests.forgetting.told_store import NOW, RULES, Told
from trackrecord.artifacts.store import ArtifactStore
from trackrecord.errors import UnknownId
from trackrecord.inflight.reports import error_report
from trackrecord.inflight.store import InFlightStore
from trackrecord.resources.access.project_store import ProjectStore, given_stores
from trackrecord.resources.figures.benchmark import benchmark_run
from trackrecord.resources.operation.tokens import create_token, list_tokens
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.advice.benchmark_history import BenchmarkHistory
from trackrecord.store.database.engine import reading
from trackrecord.wire.access_tokens import Permission
from trackrecord.wire.subject import Subject
from trackrecord_capture.agents.runtime import TOLD, runtime_folder
from trackrecord_capture.forgetting.forget import Forgetter, Forgetting
from trackrecord_capture.history.state import CaptureState, RunOfCommit
from trackrecord_capture.live.session_marks import SessionMark as ToldText
from trackrecord_capture.live.session_marks import SessionMarks
from trackrecord_capture.otlp.traces.trace_status import traces_file
from trackrecord_capture.otlp.traces.trace_store import TraceOutcome, TraceStore, WaitingTrace
from trackrecord_producers.spool.files import SpoolWriter, spool_files

PROJECT = "shop"


@pytest.fixture
def settings(home: Path, store_url: str) -> Settings:
    """Settings with a store of either dialect."""
    return load_settings(home=home, database_url=store_url)


@pytest.fixture
def forget(engine: Engine, client: redis.Redis, settings: Settings):
    """Forgets a subject of the project."""

    def act(what: str, name: str, *, dry_run: bool = False) -> Forgetting:
        subject = Subject(what, PROJECT, name)
        forgetter = Forgetter(engine, client, settings, subject, warn=print)
        return forgetter.rehearse() if dry_run else forgetter.forget(actor="test")

    return act


def body(outcome_id: str, source: str, task: str, project: str = PROJECT) -> bytes:
    """An outcome."""
    return json.dumps({
        "project": project, "outcome_id": outcome_id, "task_id": task, "source": source,
        "success": True,
    }).encode()  # fmt: skip


OTHERS = [body("o1", "ada", "t1"), body("o2", "bob", "t2", project="other"), b"not JSON of bobby"]
GOES = [body("o3", "bob", "t3"), b'{"project": "shop", "source": "bob", "task_id": 7}']


def test_entries_that_wait_and_dead_letters(client, settings, engine, forget):
    """Also those that no one can learn; what waits in a worker is left out when it is learnt."""
    for key in (settings.keys.outcomes, settings.keys.dead):
        for each in (*OTHERS, *GOES):
            client.xadd(key, {"v": 1, "body": each})
    client.xadd(settings.keys.dead, {"body": b'{"project": "shop", "source": "bob", cut'})
    found = forget("source", "bob")
    assert (found.counts["waiting"], found.counts["dead_letters"]) == (2, 3)
    for key in (settings.keys.outcomes, settings.keys.dead):
        assert [fields[b"body"] for _, fields in client.xrange(key)] == OTHERS
    Told(engine, RULES, PROJECT).learn([json.loads(GOES[0])], NOW)
    with pytest.raises(UnknownId):
        forget("source", "bob")


def test_lines_of_the_spool(settings, forget):
    """A file that nobody writes to is written anew; of another one the lines are counted."""
    done, writing = (SpoolWriter(settings.spool_dir, 1_000_000) for _ in range(2))
    for writer in (done, writing):
        writer.append([*OTHERS[:2], GOES[0]])
    done.close()
    found = forget("source", "bob")
    assert (found.counts["spooled"], found.held) == (2, 1)
    contents = sorted(path.read_bytes().count(b"\n") for path, _ in spool_files(settings.spool_dir))
    assert contents == [2, 3]
    writing.close()
    forget("source", "bob")
    texts = [path.read_bytes() for path, _ in spool_files(settings.spool_dir)]
    assert len(texts) == 2
    assert all(GOES[0] not in text and OTHERS[0] in text for text in texts)


def test_errors_in_flight(client, settings, forget, engine):
    """Those of a task, or of all tasks of the project."""
    store = InFlightStore(client, settings.keys, PROJECT, settings.errors)
    for task in ("t1", "t2"):
        store.write(error_report(task_id=task, type="timeout", message=f"slow {task}"))
    assert forget("task", "t1").counts["tasks_in_flight"] == 1
    assert (len(store.read("t1").errors), len(store.read("t2").errors)) == (0, 1)
    forget("project", PROJECT)
    assert not [key for key in client.scan_iter() if b"in-flight" in key]


def test_artifacts_and_the_benchmark(settings, engine, forget, home):
    """A project's files go; runs of the benchmark are those of the rest when a source goes."""
    Told(engine, RULES, PROJECT).learn([json.loads(OTHERS[0]), json.loads(GOES[0])], NOW)
    ArtifactStore(home, PROJECT, retention_s=1e9).put(b"a long output")
    with given_stores.within(ProjectStore(engine, settings, PROJECT)):
        benchmark_run()
    history = BenchmarkHistory(home, PROJECT, warn=print)
    assert history.snapshots()[0].outcomes == 2
    forget("source", "bob")
    assert [each.outcomes for each in history.snapshots()] == [1]
    found = forget("project", PROJECT)
    assert (found.counts["artifacts"], found.counts["benchmark_runs"]) == (1, 1)
    assert history.snapshots() == []
    assert b"a long output" not in b"".join(
        path.read_bytes() for path in home.rglob("*") if path.is_file()
    )


def test_a_project_that_only_has_access_tokens(engine, forget):
    """Nothing is on record of it yet, and nobody gets in any more all the same."""
    for project in (PROJECT, PROJECT, "other"):
        create_token(engine, project=project, permission=Permission.READ)
    assert forget("project", PROJECT, dry_run=True).counts["access_tokens"] == 2
    assert forget("project", PROJECT).counts["access_tokens"] == 2
    with reading(engine) as connection:
        assert [token.project for token in list_tokens(connection)] == ["other"]
    with pytest.raises(UnknownId):
        forget("project", PROJECT)


def test_what_was_captured(engine, home, forget):
    """Traces that became the outcomes, commits of the runs, and what sessions were told."""
    Told(engine, RULES, PROJECT).learn([json.loads(OTHERS[0]), json.loads(GOES[0])], NOW)
    with CaptureState(home) as state:
        for name in ("o1", "o3"):
            run = RunOfCommit(f"{name}abcdef", PROJECT, name, "claude", "t", "s", NOW)
            state.note_made([run])
            state.note_said([(PROJECT, name, f"{name}abcdef was reverted")])
    traces = TraceStore(traces_file(home), 1 << 24)
    for name in ("o1", "o3"):
        with traces.writing():
            traces.add_facts([(f"trace-{name}", "span", b"what was said in " + name.encode())])
            traces.put_traces([WaitingTrace(
                trace=f"trace-{name}", first_at=NOW, last_at=NOW, has_ended=True, bytes=9,
                is_published=True,
            )])  # fmt: skip
            known = TraceOutcome(
                outcome_id=name, project=PROJECT, task_id="t", session="s", started_at=NOW,
                spans=frozenset(), tools=frozenset(),
            )  # fmt: skip
            traces.put_outcome(f"trace-{name}", known, NOW)
    traces.close()
    told = SessionMarks(home)
    assert told.begin("claude", "s", "session")
    told.keep("claude", "s", "session", ToldText("a lesson of bob", ("p",)))
    assert forget("source", "bob").counts["traces"] == 1
    data = b"".join(
        path.read_bytes() for path in home.glob("*.db*") if "trackrecord" not in path.name
    )
    assert b"said in o1" in data
    assert b"said in o3" not in data
    assert b"o3abcdef" not in data
    assert b"o1abcdef" in data
    assert not told.begin("claude", "s", "session")
    (mark,) = (runtime_folder(home) / TOLD).iterdir()
    assert msgspec.json.decode(mark.read_bytes(), type=ToldText).text == ""
