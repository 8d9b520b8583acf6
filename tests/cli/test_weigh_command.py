"""criteria weigh: the weighted evaluation, on the command line and beside what agents get."""

import io
import json

import pytest

import trackrecord as package


@pytest.fixture
def judged(learnt):
    """Learns that one criterion is mostly wrong, and another one half right."""
    verdicts = [("noisy", "harmful")] * 4 + [("half", "helpful"), ("half", "harmful")]
    learnt(
        *(
            {"task_id": f"t{n}", "success": True, "criteria": {name: said}}
            for n, (name, said) in enumerate(verdicts)
        )
    )


@pytest.fixture
def stdin(monkeypatch):
    """Types a text on standard input."""

    def write(text):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return write


def test_scores_from_options_a_file_and_standard_input(
    judged, trackrecord, project, tmp_path, stdin
):
    """One document; the parts say who has a say."""
    mine = ("--project", project, "--json")
    typed = trackrecord(
        "criteria", "weigh", "--score", "noisy=0", "--score", "half=1", "--score", "new=0.25", *mine
    )
    parts = {each["criterion"]: each for each in typed.json["parts"]}
    assert (parts["noisy"]["weight"], parts["noisy"]["note"]) == (0.0, "deprecated")
    assert parts["half"]["weight"] == pytest.approx(0.5)
    assert (parts["new"]["weight"], parts["new"]["note"]) == (1.0, "no feedback on record")
    assert typed.json["score"] == pytest.approx((0.5 * 1 + 1 * 0.25) / 1.5)
    given = {"noisy": 0, "half": True, "new": 0.25}
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(given))
    assert trackrecord("criteria", "weigh", path, *mine).json["parts"][0] == typed.json["parts"][0]
    stdin(json.dumps(given))
    assert trackrecord("criteria", "weigh", *mine).json["parts"][0] == typed.json["parts"][0]
    table = trackrecord("criteria", "weigh", path, "--project", project).out
    assert table.splitlines()[-1] == "0.5000 weighted, 0.4167 without weights"


@pytest.mark.usefixtures("asking_agent")
def test_agents_weigh_by_the_same_weights(judged, trackrecord, project):
    """The cache has them, the JSON of rankings shows them, and the call uses them."""
    trackrecord("rankings", "--project", project)
    shown = trackrecord("rankings", "--project", project, "--json").json["criteria"]
    listed = trackrecord("criteria", "list", "--project", project, "--json").json
    assert {each["criterion"]: each["weight"] for each in shown} == {
        each["criterion"]: pytest.approx(each["weight"]) for each in listed
    }
    found = package.rankings(project=project).criteria
    assert [each.criterion for each in found] == ["half", "noisy"]
    weighed = package.weigh({"noisy": 0, "half": 1}, project=project)
    assert (weighed.score, weighed.problem) == (1.0, None)


def test_nothing_is_divided_by_nothing(judged, trackrecord, project):
    """Where only deprecated criteria are given, the answer says so."""
    ran = trackrecord("criteria", "weigh", "--score", "noisy=1", "--project", project)
    assert ran.status == 0
    assert ran.out.splitlines()[-1] == (
        "no weighted score: no criterion has a say: all weights are 0"
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--score", "half"), ""),
        (("--score", "half=2"), ""),
        (("--score", "half=x"), ""),
        (("--score", "half=nan"), ""),
        (("--score", "=1"), ""),
        (("--score", "half=1", "--score", "half=0"), ""),
        ((), "[1]"),
        ((), "{"),
        ((), "{}"),
        ((), '{"half": 1, "half": 0}'),
        ((), '{"half": "1"}'),
        ((), '{"half": NaN}'),
        (("-", "--score", "half=1"), '{"half": 1}'),
    ],
)
def test_mistakes_are_said_in_one_line(judged, trackrecord, project, stdin, arguments, text):
    """With exit status 2, and nothing on standard output."""
    stdin(text)
    ran = trackrecord("criteria", "weigh", *arguments, "--project", project)
    assert (ran.status, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert "Traceback" not in ran.err
