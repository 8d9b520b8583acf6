"""The tools by which coding agents send sub-agents to work."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from ..agent_run import RunCall, SubAgent
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


def with_calls_of_sub_agent(call: RunCall, calls: Iterable[RunCall]) -> RunCall:
    """Return a call that started a sub-agent with what that one did until the call ended.

    If that cannot be told, nothing is known of it.

    Args:
        call: the call.
        calls: those of the sub-agent, which may have been told more later.
    """
    if call.sub_agent is None or call.started_at is None or call.duration_ms is None:
        return call
    start, end = call.started_at, call.started_at + call.duration_ms / 1000
    own = tuple(each for each in calls if start <= (each.started_at or start) <= end)
    if not own:
        return call
    sub_agent = msgspec.structs.replace(call.sub_agent, calls=own)
    return msgspec.structs.replace(call, sub_agent=sub_agent)


def _first(given: Mapping[Any, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := given.get(name), str)), "")
