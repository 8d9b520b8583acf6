"""A file of instructions is compared with the sessions: what does not work in it, what it lacks."""

from tests.learning.advice.test_moments import BUN, LINT, NOW, RTK, sessions
from trackrecord.learning.advice.moments.commands import commands_of
from trackrecord.resources.experience.commands import CommandAnswer
from trackrecord.resources.reports.instruction_file import compared


def found(text, opened=()):
    """Return the lines that fail, those that are lacking, and the paths that are not there."""
    commands = [
        CommandAnswer.of(each, dismissed=False)
        for each in commands_of(sessions(*[[RTK, BUN, LINT]] * 5), now=NOW)
    ]
    check = compared(text, commands, opened)
    return [each.line for each in check.failing], [each.line for each in check.lacks], check.missing


def test_a_file_is_compared_with_the_sessions():
    """A line that runs may be the end of one that does not; a part of a word is no line."""
    assert found("`rtk bun run test`, `bun lint`") == (["rtk bun run test"], ["bun run test"], {})
    assert found("`bun run test`, `bun lint:all`") == ([], ["bun lint"], {})
    lost = [(path, f"s{number}", False) for path in ("docs/x.md", "y.md") for number in range(3)]
    opened = [*lost, ("y.md", "s4", True), ("z.md", "s1", False)]
    assert found("docs/x.md, y.md, z.md; bun lint, bun run test", opened) == (
        [], [], {"docs/x.md": 3},
    )  # fmt: skip
