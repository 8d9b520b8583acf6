"""Calls of trackrecord's own MCP tools: they are not steps of the agent's work.

An agent that asks before it begins would otherwise teach that every procedure begins so.
"""

import re
from typing import Final

import msgspec

from .agent_run import AgentRun

# As clients name the tools of a server, and as the adapters do.
_OURS: Final = re.compile(r"(?:mcp__)?trackrecord(?:_{1,2}|:)(?:recall|remember|report_outcome)\Z")


def without_own_tools(run: AgentRun) -> AgentRun:
    """Return a run without the calls of our tools, and without their evidence."""
    kept = [place for place, call in enumerate(run.calls) if not _OURS.match(call.tool)]
    if len(kept) == len(run.calls):
        return run
    moved = {place: now for now, place in enumerate(kept)}
    signs = tuple(
        sign if sign.call is None else msgspec.structs.replace(sign, call=moved[sign.call])
        for sign in run.signs
        if sign.call is None or sign.call in moved
    )
    calls = tuple(run.calls[place] for place in kept)
    return msgspec.structs.replace(run, calls=calls, signs=signs)
