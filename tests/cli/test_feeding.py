"""publish, import, score: outcomes go in, bad ones are named."""

import json
import time

import pytest
from sqlalchemy import update

from tests.cli.terminal import Terminal
from trackrecord.settings.settings import load_settings
from trackrecord.store.database.engine import writing
from trackrecord.store.database.migrate import store_at
from trackrecord.store.outcomes.tables import projects


def good(task_id="t", **fields):
    return {"task_id": task_id, "success": True, "strategy": "Split by component", **fields}


def test_publish_and_wait_means_learnt(up, trackrecord, project, outcomes_file):
    """After `publish --wait` the outcomes are on record and in the rankings."""
    path = outcomes_file(*(good(f"t{n}") for n in range(5)))
    ran = trackrecord("publish", path, "--project", project, "--wait", "--json")
    assert ran.status == 0
    assert ran.json["learnt"] == 5
    listed = trackrecord("patterns", "list", "--project", project, "--json").json
    assert [(each["id"], each["helpful_count"]) for each in listed] == [("split-by-component", 5)]
    ranked = trackrecord("rankings", "--project", project, "--json").json
    assert [each["id"] for each in ranked["patterns"]] == ["split-by-component"]
    assert "Split by component [PROVEN - 5 of 5 runs succeeded]" in ranked["prompt"]


def test_a_bad_line_is_named_and_the_good_ones_go_through(up, trackrecord, project, outcomes_file):
    """Exit status 2, the number of each bad line, and everything else is published."""
    path = outcomes_file(
        good("a"), "no json", {"task_id": "b"}, "", good("c"), {"task_id": 5, "success": True}
    )
    ran = trackrecord("publish", path, "--project", project, "--wait", "--json")
    assert ran.status == 2
    assert ran.json["published"] == ran.json["learnt"] == 2
    assert [each["place"] for each in ran.json["bad"]] == ["line 2", "line 3", "line 6"]
    assert ran.err.count("trackrecord: line ") == 3
    assert "Traceback" not in ran.err


def test_what_is_older_than_what_is_kept_is_said(up, trackrecord, project, outcomes_file):
    """A worker does not learn it: it may be on record no more, and would count twice."""
    first = outcomes_file(good("first"))
    assert trackrecord("publish", first, "--project", project, "--wait").status == 0
    kept_since = time.time() - 86_400
    with (
        store_at(load_settings().effective_database_url) as engine,
        writing(engine) as connection,
    ):
        those = projects.c.name == project
        connection.execute(update(projects).where(those).values(outcomes_until=kept_since))
    path = outcomes_file(good("old", outcome_id="old", timestamp=kept_since - 60), good("new"))
    ran = trackrecord("publish", path, "--project", project, "--wait")
    said = "1 new outcome learnt, 0 known already, 1 forgotten or older than what is kept\n"
    assert (ran.status, ran.out) == (0, said)


def test_an_outcome_without_a_verdict_is_counted_apart(up, trackrecord, project, outcomes_file):
    """`publish` takes it, and `status` and `projects` tell how many there are."""
    path = outcomes_file(good("a"), {"task_id": "b", "success": None, "outcome_id": "b"})
    ran = trackrecord("publish", path, "--project", project, "--wait", "--json")
    assert (ran.status, ran.json["learnt"]) == (0, 2)
    status = trackrecord("status", "--project", project, "--json").json
    (listed,) = [each for each in trackrecord("projects", "--json").json if each["name"] == project]
    for counts in (status, listed):
        assert (counts["outcomes"], counts["successes"], counts["without_verdict"]) == (2, 1, 1)
    said = trackrecord("explain", "--run", "b", "--project", project).out
    assert "reported: no verdict" in said
    # One of one is no rate of most: then the counts alone are told.
    row = {"outcome_id": "c", "task_id": "c", "success": None}
    trackrecord("publish", outcomes_file(row), "--project", project, "--wait")
    with Terminal("projects") as terminal:
        assert terminal.wait() == 0
    (line,) = [row for row in terminal.shown.splitlines() if project in row]
    assert "1 of 1" in line
    assert "%" not in line


def test_publishing_twice_changes_nothing(up, trackrecord, project, outcomes_file):
    """An outcome without an id gets one from its content, however its JSON is laid out."""
    path = outcomes_file(good("a"), good("a"), good("b"))
    for new in (3, 0):
        ran = trackrecord("publish", path, "--project", project, "--wait", "--json")
        assert (ran.json["learnt"], ran.json["known"]) == (new, 3 - new)
    laid_out = outcomes_file(json.dumps([good("a"), good("a"), good("b")], indent=2))
    for command in (("publish",), ("import", "jsonl")):
        ran = trackrecord(*command, laid_out, "--project", project, "--wait", "--json")
        assert (ran.json["learnt"], ran.json["known"]) == (0, 3)
    assert trackrecord("status", "--project", project, "--json").json["outcomes"] == 3


@pytest.mark.parametrize("command", [("publish",), ("import", "jsonl"), ("score",)])
def test_lines_are_read_by_one_rule(up, trackrecord, project, tmp_path, command):
    """A byte order mark is passed over, a line that is too long is refused, ten are named."""
    path = tmp_path / "outcomes.jsonl"
    lines = [json.dumps(good(f"t{n}")).encode() for n in range(2)]
    bad = [b"x" * 2_000_000, *[b"no json"] * 15]
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join([*lines, *bad, lines[0]]) + b"\n")
    ran = trackrecord(*command, path, "--project", project, "--json")
    assert ran.status == 2
    assert (len(ran.json) if command == ("score",) else ran.json["published"]) == 3
    said = ran.err.splitlines()
    assert len(said) == 11
    assert "line 3" in said[0]
    assert "bytes" in said[0]
    assert said[-1] == "trackrecord: and 6 more"


def test_score_names_the_strategies_that_it_recognised(nothing_up, trackrecord, outcomes_file):
    """Those that an outcome names and those of its description, with and without a verdict."""
    plan = "First handle the shared types. Do not split by file type."
    path = outcomes_file(
        {"task_id": "t", "success": True, "description": plan, "strategy": "Split by component"},
        {"task_id": "u", "success": None, "description": "按组件拆分"},
        {"task_id": "v", "success": False, "patterns": ["big bang"]},
    )
    scored = trackrecord("score", path, "--json").json
    assert [each["strategies"] for each in scored] == [
        ["handle-shared-types-first", "split-by-component"], ["split-by-component"], [],
    ]  # fmt: skip
    assert "handle-shared-types-first, split-by-component" in trackrecord("score", path).out
