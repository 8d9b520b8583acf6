"""memories add, recall, confirm, reject, forget, list, similar; explain, status and rankings."""

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
