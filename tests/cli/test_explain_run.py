"""trackrecord explain --run: the terms of the verdict on a run."""

import pytest


@pytest.fixture
def runs(learnt):
    """Twelve runs with a check at the end that succeeded, and twelve without that failed."""
    learnt(
        *(
            {
                "outcome_id": f"run-{'good' if checked else 'bad'}-{number}",
                "task_id": f"t{number}",
                "success": checked,
                "tool_graph": [{"tool": "edit"}, *([{"tool": "check"}] if checked else [])],
            }
            for number in range(12)
            for checked in (True, False)
        )
    )


def test_each_term_is_a_line(runs, trackrecord, project):
    """What it was counted from, and how much it adds; the run itself does not count."""
    good, bad = (
        trackrecord("explain", "--run", run, "--project", project, "--json").json
        for run in ("run-good-3", "run-bad-3")
    )
    assert good["numbers"]["probability"] > 0.6 > 0.4 > bad["numbers"]["probability"]
    assert (good["id"], good["numbers"]["success"]) == ("run-good-3", True)
    base, steps, *_ = good["because"]
    assert base == ("base rate: +0.00 in log odds; 50% of the project's runs succeed (24 runs)")
    assert "11 of 11 runs succeeded" in steps
    out = trackrecord("explain", "--run", "run-good-3", "--project", project).out
    assert f"  {base}\n" in out


def test_mistakes_are_one_line(runs, trackrecord, project):
    """An unknown outcome, one that is ambiguous, and two questions at once."""
    for arguments, status, said in (
        (("--run", "nothing"), 1, "has no outcome 'nothing'"),
        (("--run", "run-good"), 2, "is ambiguous"),
        (("x", "--run", "run-good-3"), 2, "give either an ID, --procedure TOOLS or --run OUTCOME"),
    ):
        ran = trackrecord("explain", *arguments, "--project", project)
        assert (ran.status, ran.out, len(ran.err.splitlines())) == (status, "", 1), arguments
        assert said in ran.err


def test_the_grounds_of_a_captured_run(runs, learnt, trackrecord, project):
    """What the reported verdict rests on."""
    learnt(
        {
            "outcome_id": "captured-1", "task_id": "t0", "success": True, "outcome_source": "tests",
            "tool_graph": [{"tool": "check", "ok": True}],
            "grounds": [{"kind": "check passed", "says": "check: 3 passed"}, {"kind": "odd"}],
        }
    )  # fmt: skip
    said = trackrecord("explain", "--run", "captured-1", "--project", project, "--json").json
    assert said["because"][-2:] == ["because: check passed: check: 3 passed", "because: odd"]
