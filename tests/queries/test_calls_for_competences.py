"""The Python calls for competence records, on a real store of each dialect."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

import trackrecord
from tests.store.teaching import learn_reports
from trackrecord.resources.access.project_store import open_project
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord_cli.main import run
from trackrecord_consolidation.run import consolidate

RULES = DaemonSettings().rules
NOW = time.time() - 3600.0
TASK = "the build is red"
ON_LINUX = ("apt", "make")
ON_WINDOWS = ("choco", "nmake")


@pytest.fixture
def home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Engine, store_url: str
) -> Iterator[Path]:
    """A process whose settings name the store."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(tmp_path))
    monkeypatch.setenv("TRACKRECORD_DATABASE_URL", store_url)
    yield tmp_path
    with open_project(None) as here:
        here.engine.dispose()


def report(store: Engine, name: str, tools: tuple[str, ...], **fields: object) -> None:
    """Learn one outcome, as the worker does."""
    told = {
        "outcome_id": name, "task_id": name, "project": "default", "success": True,
        "timestamp": NOW, "tool_graph": [{"tool": tool} for tool in tools], **fields,
    }  # fmt: skip
    learn_reports(store, [told], RULES, now=NOW)


@pytest.fixture
def learnt(store: Engine, home: Path) -> Path:
    """A store with two records for one signal, each for its own system."""
    for number in range(5):
        on = {"signal": TASK, "conditions": {"os": "linux", "ci": True}}
        report(store, f"linux {number}", ON_LINUX, trigger=on)
    for number in range(3):
        on = {"signal": TASK, "conditions": {"os": "windows"}}
        report(store, f"windows {number}", ON_WINDOWS, trigger=on)
    consolidate(store, RULES.competence, "default", now=NOW, actor="test")
    return home


def test_a_selection_says_how_sure_it_is(learnt: Path) -> None:
    """By votes and by signals; what it lacks is said."""
    voted = trackrecord.select_competences(TASK)
    assert [each.tools for each in voted.candidates] == [ON_LINUX, ON_WINDOWS]
    assert (voted.confidence, voted.needs_more) == (pytest.approx(0.625), False)
    ranked = trackrecord.select_competences(TASK, by="seed")
    assert len(ranked.candidates) == 2
    assert (ranked.confidence, ranked.needs_more) == (0.0, True)
    assert trackrecord.select_competences("nothing of the kind").needs_more


@pytest.mark.parametrize("by", ["advice", "seed"])
def test_conditions_decide_between_two_records_with_one_signal(learnt: Path, by: str) -> None:
    """And the choice is sure; without them the other one comes first, or nothing is sure."""
    asked = {"os": "windows", "branch": "main"}
    found = trackrecord.select_competences(TASK, by=by, conditions=asked).to_document()
    first, second = found["candidates"]
    assert first["record"]["required_tools"] == sorted(ON_WINDOWS)
    assert second["record"]["required_tools"] == sorted(ON_LINUX)
    assert not found["needs_more"]
    assert found["selected"] == first["id"]
    awaited = asyncio.run(trackrecord.aselect_competences(TASK, by=by, conditions=asked))
    assert awaited.to_document()["selected"] == first["id"]


def test_the_command_stores_from_a_file_or_from_options(
    home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A list is stored whole or not at all; twice is refused."""
    written = tmp_path / "procedures.json"
    one = {"tools": ["a", "b"], "triggers": [{"signal": "x", "conditions": {"os": "linux"}}]}
    written.write_text(json.dumps([one, {"tools": ["c"], "triggers": ["y"], "pinned": True}]))
    capfd.readouterr()
    assert run(["competences", "add", str(written), "--by", "ada", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert (told["action"], told["by"], told["reason"]) == ("added", "ada", "by hand")
    assert [each["required_tools"] for each in told["records"]] == [["a", "b"], ["c"]]
    assert run(["competences", "add", str(written)]) == 1
    assert "there is a record of these tools already" in capfd.readouterr().err
    written.write_text(json.dumps([{"tools": ["new"], "triggers": ["z"]}, one]))
    assert run(["competences", "add", str(written)]) == 1
    by_options = ["competences", "add", "--tool", "d", "--tool", "e", "--trigger", "y"]
    assert run([*by_options, "--condition", "os=mac", "--confidence", "0.5"]) == 0
    capfd.readouterr()
    assert run(["competences", "list", "--json"]) == 0
    listed = json.loads(capfd.readouterr().out)
    assert sorted(each["signature"] for each in listed) == ["a+b", "c", "d+e"]
    (last,) = [each for each in listed if each["signature"] == "d+e"]
    assert last["triggers"][0]["conditions"] == {"os": "mac"}
    assert last["authored_by"]
    assert run(["explain", last["id"]]) == 0
    capfd.readouterr()
    assert run(["competences", "history", last["id"], "--json"]) == 0
    assert json.loads(capfd.readouterr().out)[0]["action"] == "added"
