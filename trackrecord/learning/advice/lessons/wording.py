"""Words that the lines of lessons share. Names and errors come from agents and are made inert."""

import re
from collections.abc import Sequence
from typing import Final

from ...text.inert import ELLIPSIS, one_line, unlabelled
from .history import ToolCaller

_LONGEST_NAME: Final = 80
_LONGEST_ERROR: Final = 140
_MOST_TOOLS: Final = 6
_PLACEHOLDERS: Final = re.compile(r"<(?:n|text|path|url|mail|id|time)>")
_PREFIX: Final = re.compile(r"\A(?:error|exception|failed|failure)\s*:\s+(?=\S)", re.IGNORECASE)
_REPEATED: Final = re.compile(r"…(?:[\s,;…]*…)+")


def tool_text(caller: ToolCaller) -> tuple[str, str]:
    """Return a tool in backticks, with its caller unless that is the agent: English, Chinese."""
    name = named(caller.tool)
    if caller.is_agent:
        return name, name
    actor = _inert(caller.actor, _LONGEST_NAME)
    return (
        f"{name}, called by the {actor}," if actor == "user" else f"{name}, called by {actor},",
        (f"{name}(由{'用户' if actor == 'user' else actor}调用)"),
    )


def named(tool: str) -> str:
    """Return a tool's name in backticks."""
    return f"`{_inert(tool, _LONGEST_NAME)}`"


def joined(tools: Sequence[str], joint: str = " + ") -> str:
    """Return the names of tools in backticks, no more than a few."""
    more = f"{joint}{ELLIPSIS}" if len(tools) > _MOST_TOOLS else ""
    return joint.join(map(named, tools[:_MOST_TOOLS])) + more


def error_text(template: str) -> str:
    """Return an error's template as people read it: what varies is an ellipsis; the end is kept."""
    said = _REPEATED.sub(ELLIPSIS, _PLACEHOLDERS.sub(ELLIPSIS, template))
    said = _inert(_PREFIX.sub("", said), len(said) + 1)
    said = said.rstrip(".。 ")
    if len(said) > _LONGEST_ERROR:
        said = f"{ELLIPSIS} {said[2 - _LONGEST_ERROR :].lstrip(ELLIPSIS + ' ')}"
    return said


def of_all(part: int, whole: int, things: str, *, is_last: bool = False) -> str:
    """Return "3 of 4 calls", "all 4 calls" or "3 of the last 4 calls"."""
    if whole == 1:
        things = things.removesuffix("s")
    if is_last:
        return f"{'all' if part == whole else part} of the last {whole} {things}"
    return f"{'all' if part == whole > 1 else f'{part} of'} {whole} {things}"


def counted(number: int, things: str) -> str:
    """Return "1 task" or "3 tasks"."""
    return f"{number} {things.removesuffix('s') if number == 1 else things}"


def _inert(text: str, limit: int) -> str:
    return unlabelled(one_line(text.replace("`", "'"), limit))
