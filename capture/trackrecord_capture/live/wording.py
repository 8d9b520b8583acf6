"""The words in which an agent is handed what is known: records of the past, and no orders.

Orders in a context that no person wrote are what agents are trained to distrust.
"""

from collections.abc import Iterable
from typing import Final

from trackrecord.learning.patterns.texts import PLAIN
from trackrecord.learning.text.inert import identifier
from trackrecord.prompt.headings import ANTI_PATTERNS_HEADING, ANTI_PATTERNS_INTRODUCTION

# Beyond 10,000 characters Claude Code hands on a preview only.
_LONGEST: Final = 9000
_FACTS: Final = {
    ANTI_PATTERNS_HEADING["en"]: "## Strategies That Failed",
    ANTI_PATTERNS_INTRODUCTION["en"]: "Tasks with these strategies mostly failed:",
}
_ABOUT: Final = (
    "Records of earlier runs of coding agents in the project {project}, kept by trackrecord:"
)


def as_facts(
    prompt: str, project: str, *, said: str = "", prefix: str = PLAIN.warning_prefix
) -> str:
    """Return what is handed to an agent; "" if there is nothing new to say.

    Args:
        prompt: what is known, as text for a prompt.
        project: the project's name.
        said: what the session was told before; its lines are not repeated.
        prefix: the beginning of warnings, which is an order and left out.
    """
    known = set(said.splitlines())
    lines = [_without(prefix, _FACTS.get(line, line)) for line in prompt.splitlines()]
    body = "\n".join(_without_empty_sections(lines, known)).strip()
    if not body:
        return ""
    text = f"{_ABOUT.format(project=identifier(project))}\n\n{body}"
    # Nothing in it may pass for the end of what an agent wraps it in.
    text = text.replace("</", "< /")
    return text if len(text) <= _LONGEST else text[:_LONGEST].rpartition("\n")[0]


def _without(prefix: str, line: str) -> str:
    order = f"- {prefix} "
    return f"- {line.removeprefix(order)}" if line.startswith(order) else line


def _without_empty_sections(lines: Iterable[str], known: set[str]) -> Iterable[str]:
    """Yield the lines that are new, and a heading only before a line that is."""
    head: list[str] = []
    for line in lines:
        if line.startswith("- "):
            if line not in known:
                yield from head
                head = []
                yield line
        elif line.startswith("#"):
            head = ["", line]
        else:
            head.append(line)
