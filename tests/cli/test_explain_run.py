"""trackrecord explain --run: the grounds of the verdict on a run."""

import pytest


@pytest.fixture
def runs(learnt):
    """Two runs, one of which was captured with the grounds of its verdict."""
    grounds = [{"kind": "check passed", "says": "check: 3 passed"}, {"kind": "odd"}]
    checked = {"success": True, "outcome_source": "tests", "grounds": grounds}
    for name, said in (("good", checked), ("bad", {"success": False}), ("open", {"success": None})):
        learnt({"outcome_id": f"run-{name}", "task_id": "t", "tool_graph": [], **said})


def test_the_verdict_and_its_grounds_are_lines(runs, trackrecord, project):
    """With the kind of evidence; a run without grounds has none."""
    for run, success, because in (
        ("run-good", True, ["reported: it succeeded (evidence: tests)",
                            "because: check passed: check: 3 passed", "because: odd"]),
        ("run-bad", False, ["reported: it failed (evidence: explicit)"]),
        ("run-open", None, ["reported: no verdict"]),
    ):  # fmt: skip
        said = trackrecord("explain", "--run", run, "--project", project, "--json").json
        assert (said["id"], said["numbers"]) == (run, {"success": success})
        assert said["because"] == because
    out = trackrecord("explain", "--run", "run-good", "--project", project).out
    assert "  because: check passed: check: 3 passed\n" in out


def test_mistakes_are_one_line(runs, trackrecord, project):
    """An unknown outcome, one that is ambiguous, and two questions at once."""
    for arguments, status, said in (
        (("--run", "nothing"), 1, "has no outcome 'nothing'"),
        (("--run", "run-"), 2, "is ambiguous"),
        (("x", "--run", "run-good"), 2, "give either an ID, --procedure TOOLS or --run OUTCOME"),
    ):
        ran = trackrecord("explain", *arguments, "--project", project)
        assert (ran.status, ran.out, len(ran.err.splitlines())) == (status, "", 1), arguments
        assert said in ran.err
