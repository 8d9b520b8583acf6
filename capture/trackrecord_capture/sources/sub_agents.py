"""The tools by which coding agents send sub-agents to work."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from ..agent_run import AgentRun, RunCall, SubAgent
from .excerpts import excerpt

_STARTS: Final = frozenset({"Agent", "Task", "task", "spawn_agent"})
# They tell a sub-agent more, or wait for it: whatever it changes may be changed by then.
_GOES_ON: Final = frozenset({
    "SendMessage", "TaskOutput", "AgentOutputTool", "send_input", "send_message", "followup_task",
    "assign_task", "resume_agent", "wait", "wait_agent", "close_agent",
})  # fmt: skip
_WAITS: Final = frozenset({"wait", "wait_agent"})
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
    """Return a call that started a sub-agent with what that one did until it ended.

    If that cannot be told, nothing is known of it. Nor is it if the sub-agent started others, which
    may have edited after it.

    Args:
        call: the call.
        calls: those of the sub-agent, which may have been told more later.
    """
    if call.sub_agent is None or call.started_at is None or call.duration_ms is None:
        return call
    start, end = call.started_at, call.sub_agent.ended_at
    end = _end(call) if end is None else end
    own = tuple(each for each in calls if start <= (each.started_at or start) <= end)
    if not own or any(each.sub_agent is not None for each in own):
        return call
    return _with_calls(call, own)


def with_sub_agents(
    calls: tuple[RunCall, ...], work_of: Callable[[str], Sequence[AgentRun]]
) -> tuple[RunCall, ...]:
    """Return calls with what sub-agents did meanwhile, at the calls that waited for their end.

    If that is not known of all, nothing is known of any: another one may have edited later. A run
    that works itself meanwhile is left as it is, for nobody knows what a check of both has seen.

    Args:
        calls: the calls of a run.
        work_of: gives the runs of a sub-agent by its id; none if they are not known.
    """
    places = [place for place, call in enumerate(calls) if call.sub_agent is not None]
    starts = [place for place in places if _has_started(calls[place])]
    if not starts or not all(_can_be_told(calls[place]) for place in places):
        return calls
    done: dict[int, tuple[RunCall, ...]] = dict.fromkeys(places, ())
    for start in starts:
        runs = work_of(_id(calls[start]))
        waits = (place for place in places if place > start and place not in starts)
        wait = next((place for place in waits if _have_ended(runs, calls[place])), None)
        if wait is None or any(place not in done for place in range(start, wait)):
            return calls
        until = _end(calls[wait])
        own = [call for run in runs if run.started_at <= until for call in run.calls]
        if any(call.sub_agent is not None for call in own):
            return calls
        done[wait] = tuple(sorted((*done[wait], *own), key=lambda call: call.started_at or 0.0))
    return tuple(
        _with_calls(call, done[place]) if place in done else call
        for place, call in enumerate(calls)
    )


def _has_started(call: RunCall) -> bool:
    return call.sub_agent is not None and call.sub_agent.starts and call.ok is not False


def _can_be_told(call: RunCall) -> bool:
    is_timed = call.started_at is not None and call.duration_ms is not None
    return is_timed and (bool(_id(call)) if _has_started(call) else call.tool in _WAITS)


def _id(call: RunCall) -> str:
    return call.sub_agent.id if call.sub_agent is not None else ""


def _end(call: RunCall) -> float:
    return (call.started_at or 0.0) + (call.duration_ms or 0.0) / 1000


def _have_ended(runs: Sequence[AgentRun], wait: RunCall) -> bool:
    begun = [run for run in runs if run.started_at <= _end(wait)]
    return bool(begun) and all(run.is_over and run.ended_at <= _end(wait) for run in begun)


def _with_calls(call: RunCall, calls: tuple[RunCall, ...]) -> RunCall:
    assert call.sub_agent is not None  # noqa: S101 - chosen for it
    sub_agent = msgspec.structs.replace(call.sub_agent, calls=calls)
    return msgspec.structs.replace(call, sub_agent=sub_agent)


def _first(given: Mapping[Any, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := given.get(name), str)), "")
