"""The weighted evaluation, beside what agents get."""

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
