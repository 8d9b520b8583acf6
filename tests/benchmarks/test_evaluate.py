"""`python -m benchmarks.evaluate`: advice compared with recorded runs and sessions."""

import gzip
import json
import random
from pathlib import Path

import pytest

from benchmarks.evaluate.__main__ import main, moments, recommendations
from benchmarks.evaluate.tau_bench import read_answers, read_tau_bench

AIRLINE = Path(__file__).parents[3] / "shared/data/tau-bench/gpt-4o-airline.json"
KINDS = {
    "cancel the booking and refund it": (["find", "refund"], ["find", "give_up"]),
    "book two seats for tomorrow": (["search", "book"], ["search", "give_up"]),
    "add a bag, and pay for it": (["find", "pay"], ["find", "search", "give_up"]),
}


def outcomes(tasks, *, seed=1):
    """Two runs of each task; those with the tools of its kind succeed."""
    draw = random.Random(seed)
    for task in range(tasks):
        text, (right, wrong) = list(KINDS.items())[task % len(KINDS)]
        for attempt in range(2):
            success = draw.random() < 0.6
            yield {
                "outcome_id": f"o{task}-{attempt}",
                "task_id": f"t{task}",
                "success": success,
                "instruction": f"{text}, says {chr(97 + task % 26)}{chr(97 + task // 26)}q",
                "source": "an-agent",
                "project": f"p{task % 2}",
                "tool_graph": [{"tool": tool} for tool in (right if success else wrong)],
            }


@pytest.fixture
def history(tmp_path):
    """Write outcomes into a file of JSON Lines."""

    def write(given, name="history.jsonl", end="\n"):
        path = tmp_path / name
        path.write_text("\n".join(map(json.dumps, given)) + end)
        return path

    return write


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    """No settings of this machine."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(tmp_path / "home"))


def test_a_history_is_evaluated(history, capsys):
    """A world that advice can know is known; what is no outcome is named and left out."""
    path = history(outcomes(40), end='\n{"task_id": "torn", "succ')
    assert main(["jsonl", str(path)]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert (found["runs"], found["tasks"], found["sources"]) == (80, 40, 1)
    assert 0.4 < found["base_rate"] < 0.8
    advice = found["recommendation"]
    assert (advice["tasks"], advice["distinct"], advice["right"]) == (40, 3, None)
    assert advice["matches"]["votes"]["value"] > 0.95 > advice["matches"]["commonest"]["value"]
    assert advice["silent"]["value"] < 0.2
    assert f"{path}, line 81: " in said.err
    assert main(["jsonl", str(history(outcomes(4)))]) == 1


def _run(**changed):
    call = {"id": "c1", "function": {"name": "book_it", "arguments": '{"id": 7}'}}
    task = {"instruction": "do it", "actions": [{"name": "get_user"}, {"name": "cancel_it"}]}
    run = {
        "task_id": 0,
        "reward": 1.0,
        "trial": 0,
        "info": {"task": task},
        "traj": [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": None, "tool_calls": [call, call]},
            {"role": "tool", "tool_call_id": "c1", "name": "book_it", "content": "Error: full"},
        ],
    }
    return {**run, **changed}


def test_a_recorded_run_of_tau_bench_becomes_an_outcome_that_invents_nothing(tmp_path):
    """Only a full reward is a success; a run that crashed is a failure with its error."""
    path = tmp_path / "an-agent.json"
    crashed = _run(info={"error": "Request timed out."}, traj=None, reward=0.0)
    path.write_text(json.dumps([_run(), _run(reward=0.9), crashed]))
    first, second, third = (each.fields for each in read_tau_bench(path))
    assert first.pop("outcome_id") != second.pop("outcome_id")
    assert (first.pop("success"), second.pop("success")) == (True, False)
    task = first.pop("task_id")
    assert task.startswith("tau-bench/0-")
    call = {"tool": "book_it", "args": {"id": 7}, "id": "c1"}
    assert first == {
        "outcome_source": "evaluator", "source": "an-agent", "instruction": "do it",
        "error_count": 1, "tool_graph": [{**call, "ok": False, "error": "Error: full"}, call],
    }  # fmt: skip
    assert (third["success"], third["failure_mode"], third["task_id"]) == (
        False, "timeout", "tau-bench/0",
    )  # fmt: skip
    gold = read_answers(path)
    assert gold.answers == {task: {"cancel_it"}}
    assert gold.changing == {"book_it", "cancel_it"}


@pytest.mark.skipif(not AIRLINE.exists(), reason="the τ-bench runs are not beside the repository")
def test_two_hundred_recorded_runs():
    """Better than today's rules, and than always the commonest success."""
    found = recommendations("tau-bench", [AIRLINE], seed=0)
    assert (found["runs"], found["tasks"], found["base_rate"]) == (200, 50, 0.42)
    right = {name: each["value"] for name, each in found["recommendation"]["right"].items()}
    assert right["votes"] >= 0.5 > right["commonest"] == 0.4 > right["seed"]
    assert found["recommendation"]["distinct"] >= 12
    assert 0.2 < found["recommendation"]["silent"]["value"] < 0.8


CHECKS = {
    "rtk bun run test": (True, "Exit code 2\nerror: unrecognized subcommand 'bun'"),
    "bun run test": (False, " 41 pass\n 0 fail\nRan 41 tests across 5 files. [700.00ms]"),
}
SESSIONS = Path(__file__).parents[3] / "shared/data/sessions"


def _transcript(number, lines):
    """The records of a session of Claude Code that runs command lines."""
    session = f"00000000-0000-4000-8000-{number:012}"
    common = {"sessionId": session, "cwd": "/work/shop", "version": "2.1.0", "isSidechain": False}

    def record(kind, second, message, **more):
        at = f"2026-03-{1 + number:02}T10:00:{second:02}.000Z"
        return {"type": kind, "uuid": f"{session}-{second}", "timestamp": at, "message": message,
                **common, **more}  # fmt: skip

    prompt = f"Mend the cart so that it survives voucher number {number}"
    yield record("user", 0, {"role": "user", "content": prompt}, promptId=f"p{number}")
    for place, line in enumerate(lines):
        is_error, said = CHECKS[line]
        use = {"type": "tool_use", "id": f"c{place}", "name": "Bash", "input": {"command": line}}
        result = {"type": "tool_result", "tool_use_id": f"c{place}", "content": said,
                  "is_error": is_error}  # fmt: skip
        yield record("assistant", 2 * place + 1, {"role": "assistant", "content": [use]})
        yield record("user", 2 * place + 2, {"role": "user", "content": [result]})


def test_sessions_are_replayed(tmp_path):
    """What each would have been told by what the others had shown; nothing is published."""
    broken, good = CHECKS
    for number, lines in enumerate([[good], *[[broken, good]] * 5, [broken]]):
        path = tmp_path / "projects" / "shop" / f"00000000-0000-4000-8000-{number:012}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(each)}\n" for each in _transcript(number, lines)))
    found = moments([tmp_path])
    assert (found["sessions"], found["calls"], found["failures"]) == (7, 12, 6)
    assert found["hints"] == {"known failure": 3, "line that runs": 3}
    assert found["silent_sessions"]["part"] == 1
    assert found["most_in_a_session"] == 1
    assert [(each["entry"], each["sessions"]["part"]) for each in found["sessions_by_entry"]] == [
        ("known failure: line rtk bun run test", 3), ("line that runs: test", 3),
    ]  # fmt: skip
    right = found["right"]
    assert (right["line that runs"]["part"], right["line that runs"]["whole"]) == (3, 3)
    assert found["told_at_first_failures"]["rate"] == 1.0
    assert found["false_alarms"]["part"] == 0
    assert found["never_tested_with_a_line_known"]["part"] == 1
    assert found["told"][-1]["text"].startswith(
        "`rtk bun run test` failed in each of the last 5 sessions here"
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    assert moments([empty]) is None


@pytest.mark.skipif(not SESSIONS.is_dir(), reason="the recorded sessions are not here")
def test_goals_on_recorded_sessions(tmp_path):
    """Precision, false alarms and coverage, as far as two repositories tell."""
    for path in sorted(SESSIONS.glob("*/*.jsonl.gz")):
        folder = tmp_path / path.parent.name / "projects" / "-home-u-x"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    found = moments([tmp_path])
    assert found["sessions"] > 150
    assert found["hints_per_session"] <= 0.5
    assert found["most_in_a_session"] <= 3
    assert found["right"]["known failure"]["rate"] >= 0.85
    assert found["right"]["file elsewhere"]["rate"] >= 0.85
    assert found["false_alarms"]["rate"] <= 0.001
    assert found["told_at_first_failures"]["rate"] >= 0.8
