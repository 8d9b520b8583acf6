"""competences select, reinforce … merge, history: what people ask and decide about records."""

import json

import pytest

from trackrecord_cli.main import run

DAY = 86_400


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


@pytest.fixture(scope="module")
def unchanged_project(up_home, tmp_path_factory):
    """A project with the same two records, which no test changes."""
    folder = tmp_path_factory.mktemp("unchanged")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TRACKRECORD_HOME", str(up_home))
        _learn_two_records(folder, f"{folder.parent.name}-{folder.name}")
    return f"{folder.parent.name}-{folder.name}"


@pytest.fixture
def unchanged(up, trackrecord, unchanged_project):
    """Runs a `competences` command that changes nothing."""
    return lambda *given: trackrecord("competences", *given, "--project", unchanged_project)


@pytest.fixture
def both_ids(unchanged):
    """The ids of the two records by name."""
    return _ids_by_name(unchanged)


def _ids_by_name(competences):
    return {each["skill_name"]: each["id"] for each in competences("list", "--json").json}


SEED = ("--by", "seed")
BUILD = "skill:edit+go_test"
DEPLOY = "skill:deploy"


def test_select_shows_scores_and_their_parts(unchanged, both_ids):
    """The best first, with the three parts, how sure the choice is and whether that is enough."""
    ran = unchanged("select", "Red build", *SEED, "--json")
    assert ran.status == 0
    answer = ran.json
    first, second = answer["candidates"]
    assert (answer["selected"], first["id"]) == (both_ids[BUILD], both_ids[BUILD])
    assert first["applicability"] == pytest.approx(1.0)
    assert (first["success"], second["applicability"]) == (1.0, 0.0)
    for each in answer["candidates"]:
        parts = each["applicability"] + each["success"] + each["recency"]
        assert each["score"] == pytest.approx(parts / 3)
    confidence = (first["score"] - second["score"]) / first["score"]
    assert answer["confidence"] == pytest.approx(confidence)
    assert (answer["needs_more"], answer["count"]) == (True, 2)
    assert answer["compared_by"] == "words"
    assert [each["tool"] for each in first["record"]["recipe"]] == ["edit", "go_test"]
    assert unchanged("select", "上线失败了", *SEED, "--json").json["selected"] == both_ids[DEPLOY]
    without = unchanged("select", *SEED, "--json").json
    assert [each["applicability"] for each in without["candidates"]] == [0.8, 0.8]
    assert without["compared_by"] == "confidence"
    one = unchanged("select", *SEED, "--limit", "1", "--json").json
    assert (len(one["candidates"]), one["confidence"]) == (1, without["confidence"])


def test_select_asks_the_successes_of_similar_tasks(unchanged, both_ids):
    """Unless told otherwise: the confidence is the share of their votes."""
    answer = unchanged("select", "Red build", "--json").json
    (first,) = answer["candidates"]
    assert (answer["by"], answer["selected"]) == ("advice", both_ids[BUILD])
    assert first["id"] == both_ids[BUILD]
    assert (answer["confidence"], answer["needs_more"], first["share"]) == (1.0, False, 1.0)
    assert (first["successes"], first["failures"], first["tools"]) == (2, 0, ["edit", "go_test"])
    assert [each["tool"] for each in first["record"]["recipe"]] == ["edit", "go_test"]
    nothing = unchanged("select", "paint the wall", "--json").json
    assert (nothing["candidates"], nothing["needs_more"]) == ([], True)
    out = unchanged("select", "paint the wall").out
    assert out.splitlines()[-1] == (
        "no similar task is on record; more information is needed "
        "(--by seed ranks the records themselves)"
    )
    without = unchanged("select", "--json").json
    assert {each["id"]: each["share"] for each in without["candidates"]} == {
        both_ids[BUILD]: pytest.approx(0.5),
        both_ids[DEPLOY]: pytest.approx(0.5),
    }
    out = unchanged("select", "Red build").out
    assert "1 candidate from 1 similar task; the first has 100% of the votes\n" in out


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


def test_select_heeds_what_was_decided_by_hand(competences, ids):
    """A retracted record's procedure gets no votes; a new record has those of the old one."""
    why = ("--reason", "tidying up")
    changes = json.dumps({"tools": ["edit", "go_test", "lint"]})
    forked = competences("fork", ids[BUILD], "--changes", changes, *why, "--json").json
    (new,) = forked["records"]
    assert competences("supersede", ids[BUILD], new["id"], *why).status == 0
    answer = competences("select", "Red build", "--json").json
    assert (answer["selected"], answer["tools"]) == (new["id"], ["edit", "go_test", "lint"])
    assert competences("retract", new["id"], *why).status == 0
    answer = competences("select", "Red build", "--json").json
    assert (answer["candidates"], answer["needs_more"]) == ([], True)


def test_select_of_nothing(unchanged):
    """No candidate: confidence 0, and more is needed."""
    answer = unchanged("select", "x", "--source", "nobody", "--json").json
    assert (answer["candidates"], answer["selected"]) == ([], None)
    assert (answer["confidence"], answer["needs_more"]) == (0.0, True)


def test_reinforce_and_penalize(competences, ids, trackrecord, project):
    """Salience moves, the rate does not; both stand in the history."""
    some_id = ids[BUILD]
    lowered = competences("penalize", some_id, "--amount", "0.4", "--by", "ada", "--json").json
    assert lowered["records"][0]["salience"] == pytest.approx(0.6)
    raised = competences("reinforce", some_id, "--reason", "it worked", "--json").json
    assert raised["records"][0]["salience"] == pytest.approx(0.7)
    history = competences("history", some_id, "--json").json
    assert [(each["action"], each["rationale"]) for each in history[1:]] == [
        ("penalized", "by hand"), ("reinforced", "it worked"),
    ]  # fmt: skip
    assert history[1]["actor"] == "ada"
    assert [each["version"] for each in history] == [1, 2, 3]
    shown = competences("show", some_id, "--json").json
    assert shown["performance"]["success_rate"] == 1.0
    explained = trackrecord("explain", some_id, "--project", project, "--json").json
    assert any("salience 0.7" in line for line in explained["because"])


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


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("reinforce", "no-such-id"), 1),
        (("penalize", "{one}"), 2),
        (("penalize", "{one}", "--amount", "-1"), 2),
        (("penalize", "{one}", "--amount", "nan"), 2),
        (("penalize", "{one}", "--amount", "inf"), 2),
        (("reinforce", "{one}", "--amount", "much"), 2),
        (("supersede", "{one}", "{one}", "--reason", "x"), 2),
        (("supersede", "{one}", "no-such-id", "--reason", "x"), 1),
        (("supersede", "{one}", "{two}"), 2),
        (("fork", "{one}"), 2),
        (("fork", "{one}", "--reason", "x", "--changes", "{{"), 2),
        (("fork", "{one}", "--reason", "x", "--changes", '{{"unknown": 1}}'), 2),
        (("fork", "{one}", "--reason", "x", "--changes", '{{"confidence": 2}}'), 2),
        (("fork", "{one}", "--reason", "x", "--changes", '{{"half_life_days": 0}}'), 2),
        (("fork", "{one}", "--reason", "x", "--changes", '{{"tools": [" "]}}'), 2),
        (("contest", "{one}", "--reason", "x"), 2),
        (("contest", "{one}", "--reason", "x", "--record", "no-such-id"), 1),
        (("contest", "{one}", "--reason", "x", "--record", "{two}", "--evidence", "y"), 2),
        (("retract", "{one}"), 2),
        (("retract", "{one}", "--reason", "  "), 2),
        (("merge", "{one}", "--reason", "x"), 2),
        (("merge", "{one}", "{one}", "--reason", "x"), 2),
        (("merge", "{one}", "no-such-id", "--reason", "x"), 1),
        (("history", "no-such-id"), 1),
        (("select", "x", "--limit", "0"), 2),
        (("select", "x", "--by", "dice"), 2),
        (("select", "x", "--by", "seed", "--source", "ada"), 2),
    ],
)
def test_mistakes_change_nothing(unchanged, both_ids, arguments, status):
    """One line or a usage message, no traceback, and every record stands where it stood."""
    before = unchanged("list", "--json").json
    named = {"one": both_ids[BUILD], "two": both_ids[DEPLOY]}
    ran = unchanged(*(each.format(**named) for each in arguments))
    assert (ran.status, ran.out) == (status, "")
    assert "Traceback" not in ran.err
    after = unchanged("list", "--json").json
    for each in (*before, *after):
        del each["salience_now"], each["estimate"]  # both age
    assert {each["id"]: each for each in after} == {each["id"]: each for each in before}


def test_an_outcome_credits_the_record_it_used(
    competences, ids, trackrecord, project, outcomes_file
):
    """Published as any other; the next answer counts it, and so does a rebuild."""
    path = outcomes_file(
        {"task_id": "t", "success": False, "duration_ms": 70, "competence_id": ids[DEPLOY]}
    )
    assert trackrecord("publish", path, "--project", project, "--wait").status == 0
    performance = competences("show", ids[DEPLOY], "--json").json["performance"]
    assert (performance["success_count"], performance["failure_count"]) == (2, 1)
    assert performance["avg_latency_ms"] == 70
    assert trackrecord("rebuild", "--project", project).status == 0
    assert competences("show", ids[DEPLOY], "--json").json["performance"] == performance


def test_lists_name_fallbacks(unchanged):
    """And tables are plain lines in a pipe."""
    assert all(each["fallbacks"] == [] for each in unchanged("list", "--json").json)
    for arguments in (("select", "red build"), ("select", "red build", *SEED), ("list",)):
        lines = unchanged(*arguments).out.splitlines()
        assert len(lines) >= 3


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


def test_history_of_a_project_without_runs(up, trackrecord):
    """A project without runs has an empty list; one that does not exist is said not to."""
    ran = trackrecord("consolidate", "--history", "--project", "nowhere")
    assert (ran.status, ran.out) == (1, "")
    assert "project 'nowhere' does not exist" in ran.err
    trackrecord("memories", "add", "A fact about the place", "--project", "somewhere")
    ran = trackrecord("consolidate", "--history", "--project", "somewhere")
    assert (ran.status, ran.out) == (0, "No run has read episodes of project 'somewhere' yet.\n")


def test_history_starts_no_run_not_even_a_dry_one(trackrecord):
    """Which of the two is meant has to be said."""
    ran = trackrecord("consolidate", "--history", "--dry-run")
    assert ran.status == 2
    assert "--history" in ran.err
