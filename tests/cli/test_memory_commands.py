"""memories add, recall, confirm, reject, forget, list, similar; explain, status and rankings."""

import time

import pytest

CACHE = "Clear the build cache before the release build starts"


@pytest.fixture
def memories(up, trackrecord, project):
    """Runs a command of `memories` in the test's project, as JSON."""

    def call(*arguments, status=0):
        ran = trackrecord("memories", *arguments, "--project", project, "--json")
        assert ran.status == status, ran.err
        return ran.json if status == 0 else ran

    return call


def test_add_and_recall(memories, trackrecord, project):
    """What a result shows; recalling lets it count in full again, unless asked not to."""
    added = memories("add", f"  {CACHE} ", "--source", "agent-a")
    assert (added["text"], added["type"], added["source"]) == (CACHE, "memory", "agent-a")
    assert (added["confidence"], added["is_new"]) == (0.5, True)
    (quiet,) = memories("recall", "build cache", "--no-reset")
    assert quiet["last_recalled_at"] is None
    assert (quiet["relevance"], quiet["id"]) == (1.0, added["id"])
    assert quiet["score"] == pytest.approx(0.85, abs=1e-6)
    memories("recall", "build cache")
    (listed,) = memories("list")
    assert listed["last_recalled_at"] is not None
    assert memories("recall", "kubernetes") == []
    assert memories("recall", "build cache", "--min-confidence", "0.6") == []
    said = trackrecord("memories", "recall", "build cache", "--project", project)
    assert CACHE in said.out


def test_the_same_and_the_contrary(memories):
    """Known already; or it supersedes, and both say so."""
    first = memories("add", CACHE, "--source", "a")
    again = memories("add", CACHE + "!", "--source", "b")
    assert (again["is_new"], again["id"], again["sources"]) == (False, first["id"], ["a", "b"])
    newer = memories("add", "Never clear the build cache before the release build")
    assert newer["supersedes"] == [first["id"]]
    forced = memories("add", CACHE, "--force")
    assert forced["is_new"]
    by_id = {each["id"]: each for each in memories("list")}
    assert len(by_id) == 3
    assert by_id[first["id"]]["superseded_by"] == newer["id"]
    assert by_id[first["id"]]["confidence"] == 0.15


def test_reject_to_a_pitfall_and_explain(memories, trackrecord, project):
    """With the numbers, the rule, and what it would take."""
    memory_id = memories("add", CACHE)["id"]
    explained = trackrecord("explain", memory_id, "--project", project, "--json").json
    assert "3 more rejections would make it a known pitfall" in explained["to_change"]
    assert memories("confirm", memory_id)["confidence"] == 0.6
    time.time()
    for confidence in (0.45, 0.3, 0.15):
        assert memories("reject", memory_id)["confidence"] == confidence
    pitfall = memories("reject", memory_id)
    assert (pitfall["type"], pitfall["confidence"]) == ("anti-pattern", 0.5)
    assert pitfall["text"] == f"KNOWN PITFALL: {CACHE}"
    explained = trackrecord("explain", memory_id, "--project", project, "--json").json
    assert explained["because"][0].startswith("known pitfall: a rejection took it below 0.15")
    assert [each["action"] for each in explained["numbers"]["history"]] == [
        "stored", "confirmed", "rejected", "rejected", "rejected", "inverted",
    ]  # fmt: skip
    assert [each["id"] for each in memories("list", "--type", "anti-pattern")] == [memory_id]
    assert memories("list", "--min-confidence", "0.51") == []


def test_forget(memories, trackrecord, project):
    """Gone from lists, questions and counts."""
    memory_id = memories("add", CACHE)["id"]
    assert trackrecord("status", "--project", project, "--json").json["memories"] == 1
    assert memories("forget", memory_id) == {"id": memory_id, "forgotten": True}
    assert memories("list") == memories("recall", "cache") == []
    assert trackrecord("status", "--project", project, "--json").json["memories"] == 0


@pytest.mark.parametrize("command", ["confirm", "reject", "forget"])
def test_unknown_ids(memories, command):
    """Exit 1 and one line, in a project that is there and in one that is not."""
    for _ in range(2):
        ran = memories(command, "nobody", status=1)
        assert (ran.json["message"], len(ran.err.splitlines())) == (ran.err[13:-1], 1)
        memories("add", CACHE)


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", " "), ("add", "KNOWN PITFALL: "), ("add", "x" * 2001), ("add", "x", "--source", ""),
        ("recall", "x", "--limit", "0"), ("recall", "x", "--min-confidence", "nan"),
        ("recall", "x", "--min-confidence", "-0.1"), ("list", "--min-confidence", "inf"),
        ("list", "--type", "fact"), ("add",),
    ],
)  # fmt: skip
def test_bad_input(memories, arguments):
    """Exit 2, nothing on standard output, nothing stored."""
    memories("add", CACHE)
    assert memories(*arguments, status=2).out == ""
    assert len(memories("list")) == 1


def test_untrusted_text_on_a_terminal(memories, trackrecord, project):
    """A table's row stays one line, without anything that could steer a terminal."""
    memories("add", "a\tb\n## heading \x1b[31m red")
    ran = trackrecord("memories", "list", "--project", project)
    assert len(ran.out.splitlines()) == 2
    assert "\x1b" not in ran.out
