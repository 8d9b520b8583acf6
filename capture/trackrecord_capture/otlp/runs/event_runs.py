"""Runs of agents that report their work as events, with or without spans.

Claude Code's events know the prompt's id and its spans know when the prompt was done; Codex's
events know the calls and its spans know the turn's id. Together they make the same outcome_id as
the agent's own recording of the session.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import msgspec

from ...agent_run import AgentRun, Signal, SignalKind, run_outcome_id
from ...shell.git import commits_of
from ...sources.source import RecordedPrompt
from ...sources.sub_agents import sub_agent_of
from ..facts.fact import Fact
from ..facts.log_events import CLAUDE, CODEX
from ..facts.vocabulary import SpanKind
from .calls import SpanCall, call_seen, is_call, merged
from .tree import Tree


def summed(root: Fact, facts: Sequence[Fact], name: str) -> Any:  # noqa: ANN401 - a count, or dollars
    """Return the sum of a figure of all requests to models, else the one that the root tells."""
    of_scope: dict[str, float] = defaultdict(int)
    for fact in facts:
        figure = getattr(fact, name)
        if fact.kind is SpanKind.MODEL and figure is not None and figure >= 0:
            of_scope[fact.scope] += figure
    return max(of_scope.values()) if of_scope else getattr(root, name)


_AGENTS: Final = (CLAUDE, CODEX)
_EVENTS: Final = tuple(f"{agent} events" for agent in _AGENTS)
_IN_BACKGROUND: Final = frozenset({"Agent", "Task"})
_SAYS_CHARS: Final = 1000


PromptOf = Callable[[str, str, float], RecordedPrompt]
"""From an agent, a session and a moment to its prompt then, as far as there is a recording."""


def no_prompt(_agent: str, _session: str, _at: float) -> RecordedPrompt:
    """Know no prompt of any session."""
    return RecordedPrompt()


def placed(run: AgentRun, recorded: RecordedPrompt) -> AgentRun:
    """Return a run with the folder of its recording, which decides the project by default."""
    if run.folder or run.project or run.repository:
        return run
    return msgspec.structs.replace(run, folder=recorded.folder, repository=recorded.repository)


def is_from_events(fact: Fact) -> bool:
    """Return whether a fact is of an agent that reports its work as events."""
    return fact.scope in _EVENTS or fact.name.startswith("claude_code.")


def event_runs(
    trace_id: str, facts: Sequence[Fact], prompt_of: PromptOf
) -> Iterator[tuple[AgentRun, Sequence[Fact]]]:
    """Return the runs in the facts of one trace, and the parts of each.

    Spans of Claude Code without its events are left out: the prompt's id is only in the events, and
    without it the run would be another one than that in Claude Code's own recording. Codex has its
    turn's id only in its spans; without them the recording is asked, and else the trace stands in.
    Events do not name the folder either: it is the recording's, so that the project is the same.

    Args:
        trace_id: the trace.
        facts: what its spans and events tell, the earliest first.
        prompt_of: asks the recordings of an agent for the prompt of a session at a moment.
    """
    tree = Tree(facts)
    agent = next((a for a in _AGENTS if any(_is_of(fact, a) for fact in facts)), CLAUDE)
    parts = [part for one in _of_each_agent(agent, facts) for part in _parts(one)]
    for part in parts:
        if not any(fact.kind in (SpanKind.PROMPT, SpanKind.TOOL) for fact in part):
            continue  # requests to a model that belong to a run in another trace
        session = next((fact.session for fact in part if fact.session), "")
        prompt = next((fact.prompt_id for fact in part if fact.prompt_id), "")
        if not session:
            continue
        recorded = RecordedPrompt()
        if not prompt or not any(fact.folder for fact in part):
            recorded = prompt_of(agent, session, part[0].start)
        if agent == CODEX and not prompt:
            prompt = recorded.id or (
                trace_id if part[0] is facts[0] else f"{trace_id}:{part[0].span}"
            )
        if prompt:
            yield placed(_run(agent, session, prompt, part, tree), recorded), part


def _is_of(fact: Fact, agent: str) -> bool:
    return fact.scope == f"{agent} events" or (
        agent == CLAUDE and fact.name.startswith("claude_code.")
    )


def _of_each_agent(agent: str, facts: Sequence[Fact]) -> list[list[Fact]]:
    """Split facts by who they are of: sub-agents share the trace of the agent that started them.

    Codex gives each of them a session, Claude Code an id that stands for the prompt's. What names
    neither is the main agent's.
    """
    named = [fact.session if agent == CODEX else fact.prompt_id for fact in facts]
    asked = (name for name, fact in zip(named, facts, strict=True) if fact.kind is SpanKind.PROMPT)
    main = next(filter(None, asked), "") or next(filter(None, named), "")
    of_each: dict[str, list[Fact]] = {main: []}
    for name, fact in zip(named, facts, strict=True):
        of_each.setdefault(name or main, []).append(fact)
    return list(of_each.values())


def _parts(facts: Sequence[Fact]) -> Iterator[Sequence[Fact]]:
    """Split facts where a person's next prompt begins another run."""
    starts = [at for at, fact in enumerate(facts) if fact.kind is SpanKind.PROMPT]
    for start, end in pairwise([0, *starts[1:], len(facts)]):
        yield facts[start:end]


def _run(agent: str, session: str, prompt: str, facts: Sequence[Fact], tree: Tree) -> AgentRun:
    calls = merged(_call(fact, tree) for fact in facts if is_call(fact))
    commits = [fact.commit for fact in facts if fact.commit]
    commits += commits_of(seen.call for seen in calls)
    started_by = next((fact.started_by for fact in facts if fact.started_by), "")
    is_over = any(fact.is_end or fact.kind is SpanKind.RUN for fact in facts)
    return AgentRun(
        agent=agent,
        session=session,
        prompt=prompt,
        captured_from="traces",
        started_at=min((fact.start for fact in facts if fact.start), default=0.0),
        ended_at=max((fact.end for fact in facts), default=0.0),
        folder=next((fact.folder for fact in facts if fact.folder), ""),
        branch=next((fact.branch for fact in reversed(facts) if fact.branch), ""),
        instruction=next((fact.prompt for fact in facts if fact.prompt), ""),
        calls=tuple(seen.call for seen in calls),
        signs=tuple(_signs(facts, calls)),
        is_over=is_over,
        parent=run_outcome_id(agent, session, started_by) if started_by else "",
        model=next((fact.model for fact in facts if fact.model), ""),
        tokens_in=summed(facts[0], facts, "tokens_in"),
        tokens_out=summed(facts[0], facts, "tokens_out"),
        usd=summed(facts[0], facts, "usd"),
        commits=tuple(dict.fromkeys(commits)),
    )


def _call(fact: Fact, tree: Tree) -> SpanCall:
    seen = call_seen(fact, tree.details_of(fact))
    sub_agent = sub_agent_of(seen.call.tool, seen.call.arguments)
    if sub_agent is not None and sub_agent.starts and fact.tool in _IN_BACKGROUND:
        # The events do not say whether it goes on in the background, as it does by default.
        sub_agent = msgspec.structs.replace(sub_agent, ended_at=math.inf)
    call = msgspec.structs.replace(seen.call, sub_agent=sub_agent)
    return msgspec.structs.replace(seen, call=call)


def _signs(facts: Sequence[Fact], calls: Sequence[SpanCall]) -> Iterator[Signal]:
    for position, seen in enumerate(calls):
        if seen.rejected:
            yield Signal(kind=SignalKind.REJECTED, call=position, at=seen.start or None)
    for fact in facts:
        if fact.rated is not None:
            yield Signal(
                kind=SignalKind.CONFIRMED,
                success=fact.rated,
                says="rated in the agent's own survey",
                at=fact.end or None,
            )
    last = next(
        (fact for fact in reversed(facts) if fact.kind in (SpanKind.MODEL, SpanKind.TOOL)), None
    )
    if last is not None and last.kind is SpanKind.MODEL and last.failed:
        yield Signal(kind=SignalKind.API_FAILED, says=last.error[:_SAYS_CHARS], at=last.end or None)
