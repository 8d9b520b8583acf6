"""amend: later evidence of how a run went, by its id or by its commit."""

import time

import pytest

RUN = {
    "outcome_id": "claude-code:s1:p1",
    "task_id": "t1",
    "success": True,
    "outcome_source": "tests",
    "strategy": "Split by component",
    "commits": ["0a1b2c3d4e5f"],
    "tool_graph": [{"tool": "shell:pytest", "ok": True}],
    "timestamp": 1_700_000_000,
}


@pytest.fixture
def amend(up, learnt, trackrecord, project):
    """Learns the run, and amends it as JSON."""
    learnt(RUN)

    def call(*arguments, status=0):
        ran = trackrecord("amend", *arguments, "--project", project, "--json")
        assert ran.status == status, ran.err
        return ran.json

    return call


@pytest.fixture
def ask(trackrecord, project):
    """Asks in the test's project, as JSON."""
    return lambda *arguments: trackrecord(*arguments, "--project", project, "--json").json


def test_every_statistic_follows(amend, ask):
    """As if the run had been reported so; what stood before is still true of before."""
    before = time.time()
    (said,) = amend("claude-code", "--failure", "--reason", "it broke the build", "--by", "mia")
    assert (said["before"], said["after"], said["stronger"]) == ("success", "failure", None)
    run = ask("runs", "show", "claude-code:s1:p1")
    assert (run["success"], run["outcome_source"]) == (False, "explicit")
    assert run["grounds"] == [{"kind": "amended", "says": "mia: it broke the build", "call": None}]
    assert run["ended_at"] == "2023-11-14T22:13:20.000Z"
    assert [call["tool"] for call in run["calls"]] == ["shell:pytest"]
    assert [(each["success"], each["by"]) for each in run["amendments"]] == [(False, "mia")]
    assert run["amended_by"] == "mia"
    (pattern,) = ask("patterns", "list")
    assert (pattern["success_count"], pattern["failure_count"]) == (0, 1)
    status = ask("status")
    assert (status["outcomes"], status["successes"]) == (1, 0)
    assert ask("runs", "show", "claude-code:s1:p1", "--at", before)["success"] is True
    (pattern,) = ask("patterns", "list", "--at", before)
    assert (pattern["success_count"], pattern["failure_count"]) == (1, 0)


def test_by_its_commit(amend, ask):
    """As a red build does."""
    (said,) = amend("--commit", "0A1B2C3", "--failure", "--reason", "CI", "--evidence", "tests")
    assert (said["outcome_id"], said["after"]) == ("claude-code:s1:p1", "failure")
    assert ask("runs", "list", "--commit", "0a1b2c3d")[0]["success"] is False


def test_stronger_evidence_stands(amend, ask):
    """A guess changes nothing."""
    (said,) = amend("claude-code", "--failure", "--reason", "odd", "--evidence", "heuristic")
    assert (said["after"], said["stronger"]) == ("success", "tests")
    run = ask("runs", "show", "claude-code:s1:p1")
    assert run["success"] is True
    assert run["amendments"] == []


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("nobody", "--failure", "--reason", "x"), 1, "no outcome 'nobody'"),
        (("--commit", "fffffff", "--failure", "--reason", "x"), 1, "made commit 'fffffff'"),
        (("claude-code", "--reason", "x"), 2, "say --success or --failure"),
        (("--failure", "--reason", "x"), 2, "the id of an outcome, or --commit"),
        (("claude-code", "--commit", "fffffff", "--failure", "--reason", "x"), 2, "or --commit"),
        (("claude-code", "--failure"), 2, "--reason"),
    ],
)
def test_mistakes(amend, trackrecord, project, arguments, status, said):
    """One line says what is wrong."""
    ran = trackrecord("amend", *arguments, "--project", project)
    assert ran.status == status
    assert said in ran.err
    assert len(ran.err.strip().splitlines()) == 1
