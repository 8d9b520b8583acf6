"""The Python calls for one thing, for pages of lists, and for decisions, on both databases."""

import json
import time
from pathlib import Path

import pytest
from sqlalchemy import Engine

import trackrecord
from tests.store.teaching import learn_reports
from trackrecord.learning.rules_bundle import Rules
from trackrecord_cli.main import run

_CALL_LISTED = ("tool", "ok", "error", "duration_ms")


@pytest.fixture(autouse=True)
def _store_of_this_process(tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKRECORD_HOME", str(tmp_path))
    monkeypatch.setenv("TRACKRECORD_DATABASE_URL", store_url)


@pytest.fixture
def learnt(store: Engine):
    """Lets the store learn runs, with a number each."""

    def teach(*numbers: int, **more: object) -> None:
        reports = [
            {
                "outcome_id": f"run-{number:04}",
                "task_id": f"task-{number}",
                "success": number % 3 != 0,
                "timestamp": 1_700_000_000 + number // 2,
                "strategy": "file-based",
                "instruction": "fix the build",
                "tool_graph": [
                    {"tool": "grep", "ok": True},
                    {"tool": "edit", "ok": number % 3 != 0},
                ],
                **more,
            }
            for number in numbers
        ]
        learn_reports(store, reports, Rules(), now=time.time())

    return teach


def printed(capsys, *arguments: str) -> object:
    """Return what a command prints as JSON."""
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_pages_of_runs_meet_while_runs_are_added(learnt):
    """Each run that was there comes once, in the order of the whole list; none that is newer."""
    learnt(*range(12))
    whole = [each.outcome_id for each in trackrecord.list_runs(limit=None)]
    found = trackrecord.list_runs(limit=5)
    number = 100
    while True:
        learnt(number)
        number += 1
        page = trackrecord.list_runs(limit=5, after=found[-1].cursor)
        if not page:
            break
        found += page
    assert [each.outcome_id for each in found] == whole


def test_a_run_is_shown_with_all_that_was_reported_of_it(learnt, capsys):
    """What its page shows is in the answer of each surface; a list leaves out what is long."""
    call = {
        "tool": "edit", "args": {"file": "a.py"}, "result": ["done"], "error": {"code": 7},
        "timestamp": 1_700_000_000, "duration_ms": 5.5, "actor": "helper",
    }  # fmt: skip
    small = {
        "strategy": "file-based", "trigger": {"signal": "red build"}, "error_count": 2,
        "retry_count": 1, "cost": {"tokens_in": 3, "tokens_out": 4, "usd": 0.5},
    }  # fmt: skip
    long = {
        "description": "mended it", "failure_details": "too late", "files_touched": ["a.py"],
        "competence_id": "skill-1", "memory_ids": ["m-1"],
        "metadata": {"k": [1], "model": "some-model"},
    }  # fmt: skip
    learnt(4, tool_graph=[call], **small, **long)
    shown = printed(capsys, "runs", "show", "run-0004")
    assert shown == trackrecord.show_run("run-0004").to_document()
    reported = small | long | {"trigger": "red build", "model": "some-model"}
    assert {name: shown[name] for name in reported} == reported
    started = {"started_at": "2023-11-14T22:13:20.000Z", "ok": None}
    del call["timestamp"]
    assert shown["calls"] == [call | started]
    assert (shown["patterns"], shown["handed"], shown["competence"]) == (["file-based"], [], None)
    (listed,) = printed(capsys, "runs", "list")
    assert listed["calls"] == [{name: shown["calls"][0][name] for name in _CALL_LISTED}]
    assert {name: shown[name] for name in listed} == listed | {"calls": shown["calls"]}
    assert not long.keys() & listed.keys()
