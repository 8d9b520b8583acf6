"""trackrecord evaluate: what advice would have said about recorded runs, from files alone."""

import gzip
import json
import random
from pathlib import Path

import pytest

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


def test_a_history_is_evaluated(trackrecord, history):
    """Every figure with its spread; a world that advice can know is known."""
    ran = trackrecord("evaluate", "jsonl", history(outcomes(40)), "--json")
    assert (ran.status, ran.err) == (0, "")
    found = ran.json
    assert (found["runs"], found["tasks"], found["sources"]) == (80, 40, 1)
    assert 0.4 < found["base_rate"] < 0.8
    advice = found["recommendation"]
    assert (advice["tasks"], advice["distinct"], advice["right"]) == (40, 3, None)
    assert advice["matches"]["votes"]["value"] > 0.95 > advice["matches"]["commonest"]["value"]
    assert advice["silent"]["value"] < 0.2


def test_the_same_seed_gives_the_same_figures_from_files_in_any_order(trackrecord, history):
    """Another seed draws other splits; a file that is named twice counts once."""
    given = list(outcomes(12))
    one, other = history(given[:10], "one.jsonl"), history(given[10:], "other.jsonl")

    def evaluated(*arguments):
        return trackrecord("evaluate", "jsonl", *arguments, "--json").json

    first = evaluated(one, other, "--seed", "5")
    assert evaluated(other, one, other, "--seed", "5") == first
    assert evaluated(one, other, "--seed", "6") != first


def test_tables_name_each_figure_beside_its_baselines(trackrecord, history):
    """For people; a pipe has no progress bar."""
    ran = trackrecord("evaluate", "jsonl", history(outcomes(12)))
    assert (ran.status, ran.err) == (0, "")
    for said in (
        "24 runs of 12 tasks",
        "always the commonest", "competence records (--by seed)",
    ):  # fmt: skip
        assert said in ran.out
    assert "seeds" not in ran.out


def test_torn_lines_are_named_in_one_line(trackrecord, history):
    """The others are evaluated, and the status says that something is wrong."""
    path = history(outcomes(12), end='\n{"task_id": "torn", "succ')
    ran = trackrecord("evaluate", "jsonl", path, "--json")
    assert (ran.status, ran.json["runs"], len(ran.err.splitlines())) == (2, 24, 1)
    assert "1 record could not be read" in ran.err
    assert f"{path}, line 25: " in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("jsonl", "{few}"), "at least 10 runs of 2 tasks, and found 3 runs of 2 tasks"),
        (("jsonl", "{one_task}"), "and found 12 runs of 1 task"),
        (("jsonl", "{empty}"), "and found 0 runs of 0 tasks"),
        (("jsonl", "{other}"), "0 tasks; 12 records could not be read and counted nowhere; the"),
        (("csv", "{few}"), "'csv'"),
        (
            ("claude-code", "{few}"),
            "'claude-code' is not one of 'inspect', 'jsonl', 'moments', 'tau-bench'",
        ),
        (("jsonl", "{few}.gone"), "does not exist"),
        (("jsonl",), "Missing argument"),
        (("tau-bench", "{few}"), "is not a JSON array of runs"),
        (("tau-bench", "{torn}"), "torn.json, record 1, is not JSON, or is cut off"),
    ],
)
def test_mistakes_are_one_line(trackrecord, history, tmp_path, arguments, said):
    """It says what is wrong, and prints nothing else."""
    given = list(outcomes(12))
    (tmp_path / "torn.json").write_text('[{"task_id": 1, "reward": 1')
    files = {
        "few": history(given[:3], "few"),
        "one_task": history([each | {"task_id": "t"} for each in given[:12]], "one_task"),
        "empty": history([], "empty"),
        "other": history([each | {"task_id": 4711} for each in given[:12]], "other"),
        "torn": tmp_path / "torn.json",
    }
    ran = trackrecord("evaluate", *(each.format(**files) for each in arguments))
    assert (ran.status, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert said in ran.err


@pytest.mark.skipif(not AIRLINE.exists(), reason="the τ-bench runs are not beside the repository")
def test_two_hundred_recorded_runs(trackrecord):
    """Better than the base rate, than today's rules, and than always the commonest success."""
    found = trackrecord("evaluate", "tau-bench", AIRLINE, "--json").json
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


def test_sessions_are_replayed(trackrecord, tmp_path):
    """What each would have been told by what the others had shown; nothing is published."""
    broken, good = CHECKS
    for number, lines in enumerate([[good], *[[broken, good]] * 5, [broken]]):
        path = tmp_path / "projects" / "shop" / f"00000000-0000-4000-8000-{number:012}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(each)}\n" for each in _transcript(number, lines)))
    ran = trackrecord("evaluate", "moments", tmp_path, "--json")
    assert (ran.status, ran.err) == (0, "")
    found = ran.json
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
    table = trackrecord("evaluate", "moments", tmp_path)
    assert "14% (1 of 7)" in table.out
    assert "told of no standing defect" in table.out
    assert "sessions told of: known failure: line rtk bun run test" in table.out
    empty = tmp_path / "empty"
    empty.mkdir()
    assert trackrecord("evaluate", "moments", empty).status == 1
    assert trackrecord("evaluate", "tau-bench", empty).status == 2


@pytest.mark.skipif(not SESSIONS.is_dir(), reason="the recorded sessions are not here")
def test_goals_on_recorded_sessions(trackrecord, tmp_path):
    """Precision, false alarms and coverage, as far as two repositories tell."""
    for path in sorted(SESSIONS.glob("*/*.jsonl.gz")):
        folder = tmp_path / path.parent.name / "projects" / "-home-u-x"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    found = trackrecord("evaluate", "moments", tmp_path, "--json").json
    assert found["sessions"] > 150
    assert found["hints_per_session"] <= 0.5
    assert found["most_in_a_session"] <= 3
    assert found["right"]["known failure"]["rate"] >= 0.85
    assert found["right"]["file elsewhere"]["rate"] >= 0.85
    assert found["false_alarms"]["rate"] <= 0.001
    assert found["told_at_first_failures"]["rate"] >= 0.8
