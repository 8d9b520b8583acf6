"""feedback give: verdicts on single things, by hand."""

import json

import pytest


@pytest.fixture
def feedback(up, trackrecord, project, tmp_path):
    """Runs `trackrecord feedback …` in the test's project, which knows one pattern."""
    outcome = {
        "outcome_id": "o1", "task_id": "t", "success": True, "patterns": ["Split by component"],
        "project": project,
    }  # fmt: skip
    file = tmp_path / "outcome.json"
    file.write_text(json.dumps(outcome))
    assert trackrecord("publish", "--wait", file).status == 0

    def call(*arguments):
        return trackrecord("feedback", *arguments, "--project", project)

    return call


def test_a_verdict_on_a_pattern_counts_at_once(feedback, trackrecord, project):
    """By its name or its id; the same id again changes nothing."""
    given = feedback("give", "harmful", "--pattern", "Split by component", "--task", "t",
                     "--source", "ada", "--id", "f1", "--json").json  # fmt: skip
    assert (given["feedback_id"], given["name"], given["is_new"]) == (
        "f1", "split-by-component", True,
    )  # fmt: skip
    again = feedback("give", "harmful", "--pattern", "split-by-component", "--id", "f1")
    assert "counted already" in again.out
    feedback("give", "helpful", "--pattern", "anti-split-by-component")

    def counts(*more):
        shown = trackrecord("patterns", "show", "split-by-component", "--project", project,
                            "--json", *more).json  # fmt: skip
        return shown["helpful_count"], shown["harmful_count"], shown["succeeded_count"]

    assert counts() == (2, 1, 1)
    assert trackrecord("rebuild", "--project", project).status == 0
    assert counts() == (2, 1, 1)
