"""`trackrecord context rank`: candidates as JSON, a table or JSON as the answer."""

import json

import pytest

FAILED = {"id": "log", "kind": "evidence", "text": "2 tests failed",
          "metadata": {"hasFailure": True, "dependencyDepth": 1}}  # fmt: skip
TASK = {"id": "now", "kind": "task", "text": "Fix it", "metadata": {"isCurrentTask": True}}


@pytest.fixture
def asked(tmp_path, trackrecord):
    """Writes a question to a file and asks it."""

    def ask(question, *arguments):
        path = tmp_path / "question.json"
        path.write_text(question if isinstance(question, str) else json.dumps(question))
        return trackrecord("context", "rank", path, *arguments)

    return ask


def test_candidates_are_ranked_without_any_server(nothing_up, asked):
    """A list of them; with a budget what fits is chosen."""
    ran = asked([FAILED, TASK], "--json")
    assert ran.status == 0
    assert [(each["rank"], each["id"], each["score"]) for each in ran.json["taken"]] == [
        (1, "now", 2.0), (2, "log", 1.25),
    ]  # fmt: skip
    small = asked([FAILED, TASK], "--budget", 5, "--json").json
    assert [each["id"] for each in small["taken"]] == ["now"]
    assert [(each["id"], each["reason"]) for each in small["left_out"]] == [("log", "budget")]
    assert (small["prompt"], small["tokens"], small["budget"]) == ("## Tasks\n\nFix it", 5, 5)


def test_the_table_and_the_text(nothing_up, asked):
    """One row for each candidate, in the order of their rank."""
    lines = asked([FAILED, TASK], "--budget", 5).out.splitlines()
    assert lines[0].split("\t") == ["rank", "id", "kind", "score", "tokens", "what became of it"]
    assert lines[1].split("\t") == ["1", "now", "task", "2.00", "2", "taken"]
    assert lines[2].split("\t")[-1] == "left out: budget"
    assert lines[3] == "5 tokens, 1 left out"
    assert asked([TASK], "--format", "prompt").out == "## Tasks\n\nFix it\n"
    assert "## 任务" in asked([TASK], "--format", "prompt", "--lang", "zh").out


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ([TASK, {"kind": "task", "text": "x"}], "candidate number 2"),
        ([TASK, TASK], "'now'"),
        ([{**TASK, "kind": "story"}], "'story'"),
        ('[{"id": "now", "kind": "task", "text": "x", "priority": NaN}]', "priority"),
        ('[{"id": "now", "kind": "task", "text": "x", "priority": 1e999}]', "priority"),
        ({"candidates": [], "config": {"weights": {"phase": 9}}}, "phase_weight"),
        ({"candidates": [], "config": {"weights": {"fame": 1}}}, "fame"),
        ({"candidates": [], "budgte": 7}, "budgte"),
        ({"candidates": [], "budget": "7"}, "budget"),
        ({"candidates": {}}, "candidates"),
        ("7", "candidates"),
        ("not JSON", "JSON"),
        ("[" * 100_000, "JSON"),
        ("", "JSON"),
    ],
)
def test_bad_input_is_one_line_that_names_the_culprit(nothing_up, asked, question, named):
    """Exit status 2, and nothing on standard output."""
    ran = asked(question)
    assert ran.status == 2
    assert len(ran.err.splitlines()) == 1
    assert named in ran.err
    assert ran.out == ""


def test_what_is_learnt_competes_when_asked_to(up, asked, trackrecord, project, outcomes_file):
    """From the cache; without servers it cannot."""
    path = outcomes_file(
        *({"task_id": f"t{n}", "success": True, "patterns": ["tests first"]} for n in range(6))
    )
    assert trackrecord("publish", path, "--project", project, "--wait").status == 0
    learnt = asked([TASK], "--learnt", "--project", project, "--task", "fix", "--json").json
    assert [(e["id"], e["is_learnt"]) for e in learnt["taken"]] == [
        ("now", False), ("tests-first", True),
    ]  # fmt: skip
    assert learnt["age_s"] >= 0
    alone = asked([TASK], "--project", project, "--json").json
    assert [each["id"] for each in alone["taken"]] == ["now"]


def test_learnt_needs_a_server(nothing_up, asked):
    """Status 3; and what is about the learnt alone is refused without it."""
    assert asked([TASK], "--learnt").status == 3
    assert asked([TASK], "--task", "fix").status == 2
