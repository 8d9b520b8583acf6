"""The tools by which coding agents send sub-agents to work."""

from collections.abc import Mapping
from typing import Any, Final

from ..agent_run import SubAgent
from .excerpts import excerpt

_STARTS: Final = frozenset({"Agent", "Task", "task", "spawn_agent"})
# They tell a sub-agent more, or wait for it: whatever it changes may be changed by then.
_GOES_ON: Final = frozenset({
    "SendMessage", "TaskOutput", "AgentOutputTool", "send_input", "send_message", "followup_task",
    "assign_task", "resume_agent", "wait", "wait_agent", "close_agent",
})  # fmt: skip
_KINDS: Final = ("subagent_type", "agent_type")
_ERRANDS: Final = ("prompt", "message")
_LONGEST_KIND: Final = 128
_LONGEST_ERRAND: Final = 1024


def sub_agent_of(tool: str, arguments: object) -> SubAgent | None:
    """Return the sub-agent that a call concerns; None if the tool is not one for sub-agents."""
    if tool in _GOES_ON:
        return SubAgent()
    if tool not in _STARTS:
        return None
    return started_sub_agent(arguments if isinstance(arguments, Mapping) else {})


def started_sub_agent(given: Mapping[str, Any]) -> SubAgent:
    """Return the sub-agent that a call with these arguments starts."""
    return SubAgent(
        starts=True,
        kind=excerpt(_first(given, _KINDS), _LONGEST_KIND),
        errand=excerpt(_first(given, _ERRANDS), _LONGEST_ERRAND),
    )


def _first(given: Mapping[Any, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := given.get(name), str)), "")
