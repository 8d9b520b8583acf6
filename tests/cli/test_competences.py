"""competences select, reinforce … merge, history: what people ask and decide about records."""

import json

import pytest

from trackrecord_cli.main import run


def _learn_two_records(folder, project):
    """Publish what makes the two records of a project, and make them."""
    path = folder / "outcomes.jsonl"
    outcomes = [
        {
            "task_id": f"t{number}",
            "success": True,
            "tool_graph": [{"tool": tool} for tool in tools],
            "trigger": {"signal": signal},
        }
        for tools, signal in ((("edit", "go_test"), "red build"), (("deploy",), "上线失败"))
        for number in range(2)
    ]
    path.write_text("".join(f"{json.dumps(each)}\n" for each in outcomes), encoding="utf-8")
    assert run(["publish", str(path), "--project", project, "--wait"]) == 0
    assert run(["consolidate", "--project", project]) == 0


@pytest.fixture
def competences(up, trackrecord, project, tmp_path):
    """Runs a `competences` command in the test's project, which has two records."""
    _learn_two_records(tmp_path, project)
    return lambda *arguments: trackrecord("competences", *arguments, "--project", project)


@pytest.fixture
def ids(competences):
    """The ids of the two records by name."""
    return _ids_by_name(competences)


def _ids_by_name(competences):
    return {each["skill_name"]: each["id"] for each in competences("list", "--json").json}


SEED = ("--by", "seed")
BUILD = "skill:edit+go_test"
DEPLOY = "skill:deploy"


def test_select_asks_the_runs_of_one_agent(competences, trackrecord, project, outcomes_file):
    """Agents with other tools have other procedures."""
    given = [
        {"task_id": f"s{n}", "success": True, "tool_graph": [{"tool": tool}], "source": source,
         "instruction": "tidy up the cellar"}
        for n in range(4)
        for tool, source in (("broom", "ada"), ("hoover", "bob"))
    ]  # fmt: skip
    path = outcomes_file(*given)
    assert trackrecord("publish", path, "--project", project, "--wait").status == 0
    for tool, source in (("broom", "ada"), ("hoover", "bob")):
        answer = competences("select", "tidy the cellar", "--source", source, "--json").json
        assert (answer["tools"], answer["confidence"]) == ([tool], 1.0)
    both = competences("select", "tidy the cellar", "--json").json
    assert both["confidence"] == pytest.approx(0.5)
    assert competences("select", "tidy", "--source", "eve", "--json").json["candidates"] == []


def test_contest_shows_as_contested_in_the_next_prompt(competences, ids, trackrecord, project):
    """At once, and it is selected still."""
    why = ("--reason", "fails on Mondays")
    assert competences("contest", ids[BUILD], "--evidence", "run 7", *why).status == 0
    shown = competences("show", ids[BUILD], "--json").json
    assert shown["status"] == "contested"
    assert {"predicate": "contested_by", "target_id": "run 7"} in shown["relations"]
    candidates = competences("select", "red build", *SEED, "--json").json["candidates"]
    assert candidates[0]["record"]["status"] == "contested"
    # As soon as advice is counted as well, the procedure is not recommended by votes either.
    asked = ("rankings", "--project", project, "--task", "red build", "--format", "prompt")
    for asked_for in (asked, asked[:3] + asked[5:]):
        text = trackrecord(*asked_for).out
        assert "contested" in text
        assert "runs of similar tasks" not in text


def test_fork_supersede_merge_retract(competences, ids, trackrecord, project):
    """Each says what became of the records; provenance is kept through all of them."""
    why = ("--reason", "tidying up", "--by", "ada", "--json")
    changes = json.dumps({"tools": ["edit", "go_test", "lint"], "tags": ["strict"]})
    (forked,) = competences("fork", ids[BUILD], "--changes", changes, *why).json["records"]
    assert (forked["status"], forked["tags"]) == ("active", ["strict"])
    old, new = competences("supersede", ids[BUILD], forked["id"], *why).json["records"]
    assert (old["status"], new["status"]) == ("superseded", "active")
    shown = competences("show", forked["id"], "--json").json
    assert {"predicate": "supersedes", "target_id": ids[BUILD]} in shown["relations"]
    assert shown["provenance"]["episodes"] == 2
    (merged,) = competences("merge", forked["id"], ids[DEPLOY], *why).json["records"]
    shown = competences("show", merged["id"], "--json").json
    assert shown["provenance"]["episodes"] == 4
    assert shown["performance"]["success_count"] == 2
    assert len(shown["history"]) == 1
    selected = competences("select", *SEED, "--json").json["candidates"]
    assert [each["id"] for each in selected] == [merged["id"]]
    assert competences("retract", merged["id"], *why).status == 0
    assert competences("select", *SEED, "--json").json["candidates"] == []
    ranked = trackrecord("rankings", "--project", project, "--json").json
    assert ranked["competences"] == []
    again = competences("retract", merged["id"], "--reason", "again")
    assert (again.status, again.out, len(again.err.splitlines())) == (1, "", 1)
    assert "retracted already" in again.err


def test_history_lists_the_last_runs(competences, trackrecord, project):
    """What each read and changed, the newest first; asking starts no run."""
    assert trackrecord("consolidate", "--project", project).status == 0
    for _ in range(2):
        ran = trackrecord("consolidate", "--history", "--project", project, "--json")
        newest, first = ran.json["runs"]
        assert (newest["episodes_read"], first["records_created"]) == (0, 2)
        assert newest["started_at"] > first["started_at"]
    shown = trackrecord("consolidate", "--history", "--project", project).out.splitlines()
    assert len(shown) == 3
    assert "command line" in shown[1]


def test_history_starts_no_run_not_even_a_dry_one(trackrecord):
    """Which of the two is meant has to be said."""
    ran = trackrecord("consolidate", "--history", "--dry-run")
    assert ran.status == 2
    assert "--history" in ran.err
