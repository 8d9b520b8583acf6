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
