"""`trackrecord effect`: whether advice helps, and a holdout that is turned on."""

import pytest

from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.settings import load_settings


def test_turned_on_measured_turned_off(handed, trackrecord, project):
    """Agents see the holdout at once; what it measured is told in numbers and in words."""
    mine = ("--project", project)
    handed(200, with_advice=lambda n: n % 10 < 9, without=lambda n: n % 10 < 4)
    found = trackrecord("effect", *mine, "--json").json
    assert found["holdout"] == 0.5
    assert sum(found["tasks"].values()) == 200
    (success, *_) = found["measures"]
    assert success["verdict"] == "helps"
    assert success["low"] < 0.5 < success["high"]
    told = trackrecord("effect", *mine).out
    assert "tasks succeeded" in told
    assert "Advice helps: " in told
    assert "50% of the tasks are withheld advice now" in told
    status = trackrecord("status", *mine, "--json").json
    assert status["effect"] == "measured: 50% of the tasks get no advice"
    assert trackrecord("status", "--json").json["effect"].startswith("measured in ")
    assert trackrecord("effect", "--by", "kind", *mine).out.splitlines()[1].startswith("other\t")
    assert trackrecord("effect", "--disable", *mine).status == 0
    status = trackrecord("status", *mine, "--json").json
    assert status["effect"] == "not measured (`trackrecord effect --enable`)"
    reader = RankingsReader(load_settings(holdout=0.9))
    assert {reader.read(project=project, task_id=f"new-{n}").arm for n in range(30)} == {"given"}


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--enable", "--holdout", "2"), 2, "2.0 is not in the range"),
        (("--enable", "--holdout", "0"), 2, "is not in the range"),
        (("--holdout", "0.1"), 2, "--holdout needs --enable"),
        (("--enable", "--disable"), 2, "one by one"),
        (("--enable", "--by", "kind"), 2, "one by one"),
    ],
)
def test_mistakes_are_one_line(learnt, trackrecord, project, arguments, status, said):
    """And change nothing."""
    learnt({"task_id": "t", "success": True, "patterns": ["one"]})
    ran = trackrecord("effect", *arguments, "--project", project)
    assert (ran.status, ran.out) == (status, "")
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1
    assert trackrecord("effect", "--project", project, "--json").json["holdout"] == 0.0


def test_before_anything_was_handed_out(learnt, trackrecord, project):
    """It says what to do."""
    learnt({"task_id": "t", "success": True})
    out = trackrecord("effect", "--project", project).out
    assert "pass task_id=" in out
    assert (
        "0% of the tasks are withheld advice now. Tasks without an outcome yet: 0. "
        "Tasks for which there was nothing to hand out: 0." in out
    )
    assert trackrecord("effect", "--project", "nobody").status == 1
