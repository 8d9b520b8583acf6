"""Every command that reads what was learnt answers for a moment: what was true then."""

import time

import pytest

OUTCOMES = [
    {"task_id": f"t{n}", "success": True, "patterns": ["Plan"], "criteria": {"own": "helpful"}}
    for n in range(5)
]
BEFORE = "2000-01-01"
# Command, and what it answers when nothing was known: a status, and in JSON what is empty.
READING = [
    (("patterns", "list"), 0, []),
    (("patterns", "show", "plan"), 1, None),
    (("criteria", "list"), 0, []),
    (("criteria", "show", "own"), 1, None),
    (("criteria", "feedback", "t1"), 1, None),
    (("criteria", "weigh", "--score", "own=0.5"), 0, None),
    (("explain", "plan"), 1, None),
    (("explain", "criterion:own"), 1, None),
    (("rankings",), 0, None),
    (("status",), 0, None),
    (("errors", "stats", "t1"), 0, {"total": 0, "unresolved": 0, "by_type": {}}),
    (("errors", "context", "t1"), 0, None),
]


def steady(document):
    """Without what ages while the test runs."""
    if isinstance(document, dict):
        return {name: steady(value) for name, value in document.items() if name not in AGEING}
    if isinstance(document, list):
        return [steady(each) for each in document]
    return round(document, 3) if isinstance(document, float) else document


# The last one: then when the last outcome was received, now when its batch was learnt.
AGEING = {"age_s", "computed_at", "because", "cache_age_s", "workers", "revision", "last_learnt"}
AGEING |= {"as_of"}


@pytest.mark.parametrize(
    ("command", "status", "empty"), READING, ids=[" ".join(command) for command, *_ in READING]
)
def test_before_anything_was_known_and_now(command, status, empty, learnt, trackrecord, project):
    """Then nothing; as of this moment what is answered without one."""
    learnt(*OUTCOMES)
    mine = (*command, "--project", project, "--json")
    trackrecord("errors", "record", "t1", "m", "--project", project)
    then = trackrecord(*mine, "--at", BEFORE)
    assert (then.status, "Traceback" in then.err) == (status, False)
    if empty is not None:
        assert then.json == empty
    of_now = trackrecord(*mine, "--at", time.time())
    # What is cached follows the outcomes by a few seconds.
    deadline = time.monotonic() + 60
    while steady((now := trackrecord(*mine)).json) != steady(of_now.json):
        assert time.monotonic() < deadline, (steady(now.json), steady(of_now.json))
        time.sleep(0.1)
    assert now.status == 0


def test_rankings_before_the_first_outcome_say_so(learnt, trackrecord, project):
    """With the moment of the first one."""
    learnt(*OUTCOMES)
    ran = trackrecord("rankings", "--project", project, "--at", BEFORE)
    assert f"nothing was known in project {project!r} at 2" in ran.err
    assert "the first outcome came at 2" in ran.err
    now = trackrecord("rankings", "--project", project, "--at", time.time())
    assert (now.status, now.err) == (0, "")


@pytest.mark.parametrize("wrong", ["yesterday", "-1", "nan", "99999999999999", ""])
def test_an_impossible_moment_is_refused(wrong, trackrecord, up, project):
    """With the way to write one."""
    for command, *_ in READING:
        ran = trackrecord(*command, "--project", project, "--at", wrong)
        assert (ran.status, ran.out) == (2, "")
        assert "--at" in ran.err


def test_what_nobody_knows_is_said_to_be_unknown(learnt, trackrecord, project):
    """One line that says where to look."""
    learnt(*OUTCOMES)
    for some_id in ("nothing", "anti-nothing", "criterion:plan"):
        ran = trackrecord("explain", some_id, "--project", project)
        assert (ran.status, ran.out, len(ran.err.splitlines())) == (1, "", 1)
        assert "criteria list" in ran.err
    ran = trackrecord("explain", "", "--project", project)
    assert (ran.status, ran.out) == (2, "")
    assert "some_id must be 1 to 1024 characters long" in ran.err
