"""The Python calls that read and change the store, on real ones of both databases."""

import asyncio
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, event

import trackrecord
from tests.store.teaching import learn_reports
from trackrecord.errors import (
    DecisionRefused,
    InvalidRequest,
    StoreUnavailable,
    TrackrecordError,
    UnknownId,
)
from trackrecord.learning.rules_bundle import Rules
from trackrecord.store.database.engine import connect_store
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord_cli.main import run

PORT = "The login test needs port 5432"


@pytest.fixture(autouse=True)
def _store_of_this_process(tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKRECORD_HOME", str(tmp_path))
    monkeypatch.setenv("TRACKRECORD_DATABASE_URL", store_url)


@pytest.fixture
def taught(store_url: str):
    """Lets the store learn outcomes."""

    def teach(*outcomes: dict) -> None:
        engine = connect_store(store_url, timeout_s=20.0)
        reports = [
            {"outcome_id": f"o{number}", "task_id": f"t{number}", **fields}
            for number, fields in enumerate(outcomes)
        ]
        learn_reports(engine, reports, Rules(), now=time.time())
        index_past_tasks(engine)
        engine.dispose()

    return teach


def add(text: str, *more: str) -> None:
    """Store a memory, as a person does."""
    assert run(["memories", "add", text, *more]) == 0


def test_a_memory_is_recalled_confirmed_rejected_and_forgotten() -> None:
    """Each call does what the command of its name does."""
    add(PORT)
    (found,) = trackrecord.recall("login test port")
    assert found.text == PORT
    assert trackrecord.confirm_memory(found.id[:13]).confidence == 0.6
    rejected = asyncio.run(trackrecord.areject_memory(found.id))
    assert rejected.confidence == 0.45
    assert trackrecord.forget_memory(found.id) == found.id
    assert asyncio.run(trackrecord.arecall("login test port")) == []
    with pytest.raises(UnknownId):
        trackrecord.confirm_memory(found.id)


def test_a_pattern_is_promoted_deprecated_and_reset(taught) -> None:
    """With who decided and why; the history of the command shows both."""
    taught({"success": True, "error_count": 0, "strategy": "Split by component"})
    promoted = trackrecord.promote_pattern("split-by-component", reason="in the field", by="Ada")
    assert (promoted.before, promoted.after) == ("candidate", "proven")
    (pattern,) = trackrecord.list_patterns(state="proven")
    assert pattern.id == "split-by-component"
    (chinese,) = trackrecord.list_patterns(state="proven", lang="zh")
    assert (chinese.shown.content, chinese.shown.label) == ("按组件拆分", "已验证")
    assert chinese.to_document()["reason"] == "由Ada人工设为已验证:in the field"
    done = asyncio.run(trackrecord.adeprecate_pattern("split-by", reason="it hurts", by="Ada"))
    assert done.to_document() == {
        "id": "split-by-component", "action": "deprecate", "changed": True,
        "before": "proven", "after": "deprecated", "by": "Ada", "reason": "it hurts",
    }  # fmt: skip
    with pytest.raises(DecisionRefused, match="is deprecated and cannot be promoted"):
        trackrecord.promote_pattern("split-by-component")
    explained = trackrecord.explain("split-by-component")
    assert any("Ada" in line for line in explained.because)
    assert trackrecord.reset_pattern("split-by-component").changed
    again = trackrecord.reset_pattern("split-by-component")
    assert (again.changed, again.before, again.reason) == (False, None, None)
    assert again.by
    with pytest.raises(UnknownId, match="did you mean 'split-by-component'") as caught:
        trackrecord.promote_pattern("split-by-compnent")
    assert caught.value.nearest == "split-by-component"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: trackrecord.recall(5), "text must be a string, not int"),
        (lambda: trackrecord.recall(" "), "text must be 1 to 65536 characters long"),
        (lambda: trackrecord.recall("x\0"), "without NUL"),
        (lambda: trackrecord.recall("x", limit=0), "limit must be a whole number from 1 to 1000"),
        (lambda: trackrecord.recall("x", min_confidence=float("nan")), "from 0 to 1, not nan"),
        (lambda: trackrecord.recall("x", project=""), "a project's name has 1 to 128"),
        (lambda: trackrecord.show_run("x", at=[]), "at must be a moment or None"),
        (lambda: trackrecord.list_memories(type="memry"), "did you mean 'memory'?"),
        (lambda: trackrecord.list_runs(verdict="failed"), "one of success, failure, none"),
        (lambda: trackrecord.list_runs(failed="no"), "failed must be true or false, not 'no'"),
        (lambda: trackrecord.list_lessons(everything=1), "everything must be true or false, not 1"),
        (lambda: trackrecord.promote_pattern("x", by=""), "by must be 1 to 128"),
        (lambda: trackrecord.deprecate_pattern("x", reason=None), "reason must be a string"),
        (lambda: trackrecord.select_competences(by="advise"), "did you mean 'advice'?"),
        (
            lambda: trackrecord.select_competences("x", conditions={"os": object()}),
            "conditions must be JSON of at most 2048 bytes",
        ),
        (
            lambda: trackrecord.select_competences("x", by="seed", source="me"),
            "a source tells whose runs vote",
        ),
        (lambda: trackrecord.list_runs(at=object()), "at must be a moment or None"),
        (lambda: trackrecord.tag_pattern(5, add=["x"]), "pattern_id must be a string"),
    ],
)
def test_a_wrong_argument_is_one_line_that_names_it(call, said) -> None:
    """Before anything is read or changed."""
    with pytest.raises(InvalidRequest) as caught:
        call()
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_many_calls_at_once_answer_as_one_by_one() -> None:
    """Each is counted: none undoes another one's change."""
    add(PORT)
    (memory,) = trackrecord.list_memories()
    trackrecord.reject_memory(memory.id)  # 0.35
    with ThreadPoolExecutor(6) as threads:
        done = [threads.submit(trackrecord.confirm_memory, memory.id) for _ in range(6)]
        for each in done:
            each.result(60)
    (memory,) = trackrecord.list_memories()
    assert memory.confidence == 0.95


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # of Python 3.12
def test_a_child_made_by_fork_asks_by_itself() -> None:
    """A child opens its own connection, and the parent's goes on."""
    add(PORT)
    assert len(trackrecord.recall("login")) == 1
    child = os.fork()
    if not child:
        status = 1
        try:
            found = asyncio.run(asyncio.wait_for(trackrecord.arecall("login"), 60))
            trackrecord.confirm_memory(found[0].id)
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    (memory,) = trackrecord.recall("login")
    assert memory.confidence == 0.6


@pytest.mark.faults
@pytest.mark.parametrize("moment", ["commit", "before_cursor_execute"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # of Python 3.12
def test_a_process_killed_in_a_change_leaves_all_or_nothing(taught, moment) -> None:
    """Nothing is half done: neither in the memory nor in its history, and others go on."""
    taught({"success": True, "error_count": 0, "strategy": "Split by component"})
    add(PORT)
    (memory,) = trackrecord.list_memories()
    for change in (
        lambda: trackrecord.confirm_memory(memory.id),
        lambda: trackrecord.forget_memory(memory.id),
        lambda: trackrecord.promote_pattern("split-by-component"),
        lambda: trackrecord.tag_pattern("split-by-component", add=["ui"]),
    ):
        child = os.fork()
        if not child:
            event.listen(Engine, moment, _killed_in_a_change)
            try:
                change()
            finally:
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        (left,) = trackrecord.list_memories()
        assert left.state == memory.state
        assert trackrecord.list_patterns(state="proven") == []
        assert trackrecord.list_patterns(tag="ui") == []
    assert trackrecord.confirm_memory(memory.id).confidence == 0.6
    assert trackrecord.promote_pattern("split-by-component").after == "proven"


def _killed_in_a_change(connection: Connection, *executed: object) -> None:
    _, statement = executed[:2] or (None, "UPDATE")
    is_change = connection.get_execution_options().get("writes", False)
    if is_change and str(statement).startswith(("UPDATE", "DELETE", "INSERT")):
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_call_leaves_no_connection_behind(tmp_path: Path) -> None:
    """A fleet of idle agents must not use up PostgreSQL's connections, nor a fork share one."""
    add(PORT)
    opened = _open_files()
    trackrecord.recall("login")
    trackrecord.list_patterns()
    assert _open_files() <= opened


def _open_files() -> set[str]:
    return {str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()}


def test_a_database_that_is_away_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """That names the setting, and no password."""
    monkeypatch.setenv("TRACKRECORD_DATABASE_URL", "postgresql://me:hunter2@127.0.0.1:1/x")
    with pytest.raises(StoreUnavailable, match="TRACKRECORD_DATABASE_URL") as caught:
        trackrecord.recall("x")
    assert "hunter2" not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert issubclass(StoreUnavailable, TrackrecordError)


def test_strategies_are_recognised_without_any_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """In either language, the settings' own among them; a negated one does not count."""
    monkeypatch.setenv("TRACKRECORD_DATABASE_URL", "postgresql://me@127.0.0.1:1/x")
    monkeypatch.setenv("TRACKRECORD_REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("TRACKRECORD_STRATEGIES", '[{"name_en": "Ask first"}]')
    text = "Split the work by component, not by file type, and ask first. 先处理共享类型"
    assert [each.slug for each in trackrecord.strategies(text)] == [
        "split-by-component", "handle-shared-types-first", "ask-first",
    ]  # fmt: skip
    assert asyncio.run(trackrecord.astrategies("")) == ()
