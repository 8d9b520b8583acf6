"""The last moments at which sub-agents may have changed files: a run lacks their calls."""

from collections.abc import Iterator
from typing import Final

from ..agent_run import AgentRun, RunCall
from .checks import Moment
from .phrases import only_looks

# Types of sub-agents whose makers made them for looking: Claude Code's, Codex's and opencode's.
_LOOKING: Final = frozenset({"explore", "plan", "claude-code-guide", "explorer"})
# Of a longer errand nobody can be sure that it asks for nothing else.
_LONGEST_ERRAND: Final = 400


def last_delegation(run: AgentRun) -> Moment | None:
    """Return when a sub-agent may have changed files for the last time; None if none did.

    Every call that starts a sub-agent, tells it more or waits for it counts as an edit, and so does
    the end of one in the background. They do not if all sub-agents of the run were only to look,
    and neither does one whose own calls are known.
    """
    calls = [(place, call) for place, call in enumerate(run.calls) if _has_worked(call)]
    if not any(_may_edit(call) for _, call in calls):
        return None
    return max((moment for place, call in calls for moment in _moments(run, place, call)))


def _has_worked(call: RunCall) -> bool:
    return call.sub_agent is not None and call.sub_agent.calls is None and call.ok is not False


def _may_edit(call: RunCall) -> bool:
    sub_agent = call.sub_agent
    if sub_agent is None or not sub_agent.starts or sub_agent.kind.lower() in _LOOKING:
        return False
    errand = sub_agent.errand
    return len(errand) > _LONGEST_ERRAND or not only_looks(errand)


def _moments(run: AgentRun, place: int, call: RunCall) -> Iterator[Moment]:
    yield place, 0
    ended = call.sub_agent.ended_at if call.sub_agent is not None else None
    if ended is not None:
        after = (at for at, other in enumerate(run.calls) if (other.started_at or 0.0) >= ended)
        yield next(after, len(run.calls)), 0
