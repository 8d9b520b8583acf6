"""The Python calls for competence records, on a real store of each dialect."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

import trackrecord
from trackrecord.calls.here import store_here
from trackrecord.daemon_settings import DaemonSettings
from trackrecord.errors import InvalidConditions, InvalidSelection, UnknownProject
from trackrecord.factories import scorer_of
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.intake import learn
from trackrecord.wire.outcome import decode_outcome, encode_body
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
    with store_here(None) as here:
        here.engine.dispose()


def report(store: Engine, name: str, tools: tuple[str, ...], **fields: object) -> None:
    """Learn one outcome, as the worker does."""
    body = encode_body(
        {
            "outcome_id": name,
            "task_id": name,
            "project": "default",
            "success": True,
            "timestamp": NOW,
            "tool_graph": [{"tool": tool} for tool in tools],
            **fields,
        }
    )
    scored = scorer_of(RULES).score(decode_outcome(body), body, received_at=NOW, outcome_id="none")
    with writing(store) as connection:
        learn(connection, [scored], RULES, now=NOW)


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


@pytest.mark.parametrize("by", ["advice", "seed"])
def test_what_all_candidates_contradict_needs_more(learnt: Path, by: str) -> None:
    """None of them was used there."""
    found = trackrecord.select_competences(TASK, by=by, conditions={"os": "plan9"})
    assert (found.confidence, found.needs_more) == (0.0, True)
    assert len(found.candidates) == 2


@pytest.mark.parametrize("by", ["advice", "seed"])
def test_the_command_selects_alike_now_and_at_a_moment(
    learnt: Path, by: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """One engine; of a moment before the first record there is nothing."""
    told = []
    for more in ([], ["--at", str(time.time())]):
        capfd.readouterr()
        arguments = ["competences", "select", TASK, "--by", by, "--condition", "os=Windows"]
        assert run([*arguments, "--json", *more]) == 0
        told.append(json.loads(capfd.readouterr().out))
    expected = trackrecord.select_competences(TASK, by=by, conditions={"os": "windows"})
    for each in told:
        assert each["selected"] == expected.to_document()["selected"]
        assert not each["needs_more"]
    assert trackrecord.select_competences(TASK, at=NOW - 10).candidates == ()
    assert trackrecord.select_competences(TASK, by="seed", at=NOW - 10).candidates == ()


def test_what_cannot_be_asked_is_said_in_one_line(learnt: Path) -> None:
    """A person asked a question, so it raises."""
    with pytest.raises(InvalidConditions, match="conditions must be JSON of at most 2048 bytes"):
        trackrecord.select_competences(TASK, conditions={"os": object()})
    with pytest.raises(InvalidSelection, match="a source tells whose runs vote"):
        trackrecord.select_competences(TASK, by="seed", source="me")
    with pytest.raises(InvalidSelection, match=r"limit must lie in 1\.\.1000"):
        trackrecord.select_competences(TASK, limit=0)
    with pytest.raises(UnknownProject):
        trackrecord.select_competences(TASK, project="nobody's")


def test_a_condition_of_the_command_line_names_its_value(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """One line says how."""
    assert run(["competences", "select", TASK, "--condition", "windows"]) == 2
    assert "a condition is NAME=VALUE, for example os=linux" in capfd.readouterr().err
