"""Words that the lines of lessons share: names, and summaries of errors."""

from ...text.error_summary import error_summary
from ...text.inert import identifier, is_short_name
from ...text.numerals import counted
from .history import ToolCaller


def tool_text(caller: ToolCaller) -> tuple[str, str]:
    """Return a tool in backticks, with its caller unless that is the agent: English, Chinese."""
    name = named(caller.tool)
    if caller.is_agent:
        return name, name
    actor = identifier(caller.actor)
    return (
        f"{name}, called by the {actor}," if actor == "user" else f"{name}, called by {actor},",
        (f"{name}(由{'用户' if actor == 'user' else actor}调用)"),
    )


def named(tool: str) -> str:
    """Return a tool's name in backticks."""
    return f"`{identifier(tool)}`"


def error_text(template: str) -> str:
    """Return an error's code and a few words; "" for an empty summary.

    The words of an error are an outsider's, so that no more than `error_summary` leaves is told.

    Args:
        template: the template of an error, or the name of a way to fail.
    """
    return template if is_short_name(template) else error_summary(template)


def of_all(part: int, whole: int, thing: str, *, is_last: bool = False) -> str:
    """Return "3 of 4 calls", "all 4 calls" or "3 of the last 4 calls"."""
    if is_last:
        return f"{'all' if part == whole else part} of the last {counted(whole, thing)}"
    return f"{'all' if part == whole > 1 else f'{part} of'} {counted(whole, thing)}"
