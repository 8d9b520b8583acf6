"""amend: later evidence of how a run went, by its id or by its commit."""

import pytest

from trackrecord import list_runs, show_run

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


def test_each_amendment_is_told(amend, trackrecord, project):
    """Who said what, when and why, also of those whose word no longer counts; on each surface."""
    told = [("eve", "--failure"), ("joe", "--success"), ("kim", "--failure")]
    for who, verdict in told:
        amend("claude-code", verdict, "--reason", f"seen by {who}", "--by", who)
    (run,) = list_runs(project=project)
    for given in (run, show_run("claude-code", project=project)):
        assert [(each.by, each.success) for each in given.amendments] == [
            ("eve", False), ("joe", True), ("kim", False),
        ]  # fmt: skip
        times = [each.received_at for each in given.amendments]
        assert times == sorted(set(times))
    shown = trackrecord("runs", "show", "claude-code", "--project", project).out
    lines = shown.split("amendments\n")[1].splitlines()[1:]
    for line, (who, verdict) in zip(lines, told, strict=True):
        assert str(verdict == "--success") in line
        assert f"{who}: seen by {who}" in line


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
