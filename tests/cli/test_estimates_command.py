"""Estimates as people see them: beside patterns and records, and for any procedure."""

import pytest


def outcome(number, tools, *, success, **fields):
    """One outcome of its own task."""
    return {
        "task_id": f"t{number}",
        "success": success,
        "tool_graph": [{"tool": tool} for tool in tools],
        "instruction": f"mend the build of part {number}",
        **fields,
    }


OUTCOMES = [
    *(
        outcome(number, ("edit", "test"), success=number != 0, patterns=["Plan"])
        for number in range(10)
    ),
    *(outcome(10 + number, ("guess",), success=False, patterns=["Hurry"]) for number in range(6)),
    outcome(20, ("deploy",), success=True),
]


@pytest.fixture
def taught(learnt, trackrecord, project):
    """Runs a command in the test's project, which has learnt the outcomes."""
    learnt(*OUTCOMES)
    assert trackrecord("consolidate", "--project", project).status == 0

    def call(*arguments):
        return trackrecord(*arguments, "--project", project)

    return call


def test_every_procedure_gets_an_answer(taught):
    """One that always failed, one that succeeded once, one that nobody tried, in any order."""
    failing = taught("explain", "--procedure", "guess", "--json").json
    assert (failing["numbers"]["runs"], failing["numbers"]["successes"]) == (6, 0)
    assert failing["numbers"]["rate"] < 0.35
    assert not failing["numbers"]["is_worth_recommending"]
    assert "below what such tasks do otherwise" in failing["numbers"]["words"]
    once = taught("explain", "--procedure", "deploy", "--json").json["numbers"]
    assert (once["level"], once["runs"]) == ("procedure", 1)
    often = taught("explain", "--procedure", " test + edit ", "--json").json
    assert (often["id"], often["numbers"]["runs"]) == ("edit+test", 10)
    assert once["rate"] < often["numbers"]["rate"]
    unknown = taught("explain", "--procedure", "wish", "--json").json["numbers"]
    assert (unknown["level"], unknown["runs"]) == ("project", 17)
    assert unknown["rate"] == pytest.approx(10.5 / 18, abs=0.02)
    assert unknown["words"].startswith("no run of it is on record; tasks of the project succeed in")
    meant = taught("explain", "--procedure", "wish", "--task", "mend the build", "--json").json
    assert meant["numbers"]["kind"]
