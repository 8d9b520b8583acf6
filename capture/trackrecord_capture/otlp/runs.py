"""From the facts of one trace to the runs of agents in it.

One task is one run: the topmost agent, workflow or graph of a trace. Agents below it, whether it
called them or handed over to them, are a part of it: only the task as a whole has a verdict, and
their calls carry their name as the `actor`.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from ..agent_run import AgentRun, Signal, SignalKind
from ..shell.git import commits_and_reverts
from .calls import SpanCall, call_seen, is_call, merged
from .endings import ending_of
from .event_runs import PromptOf, event_runs, is_from_events, no_prompt, placed
from .fact import Fact, SpanScore
from .grouping import VERCEL, FactGroup, first_of, grouped
from .tree import Tree
from .usage import tokens_of, usd_of
from .vocabulary import SpanKind

_NAMELESS: Final = "unknown_service"
_ENDINGS: Final = (".run", ".kickoff", ".workflow", ".task", ".agent")


class TraceScore(msgspec.Struct, frozen=True, kw_only=True):
    """A score that came on its own, for a trace or one of its spans.

    Attributes:
        span: the span that was scored; "" for the trace as a whole.
        evaluation: the score.
    """

    span: str
    evaluation: SpanScore


class RunOfTrace(msgspec.Struct, frozen=True, kw_only=True):
    """A run, and which spans it is made of.

    Attributes:
        run: the run.
        spans: the ids of its spans.
        tools: the ids of the spans among them that are calls of tools.
    """

    run: AgentRun
    spans: frozenset[str]
    tools: frozenset[str] = frozenset()


def runs_of(
    trace_id: str,
    facts: Iterable[Fact],
    scores: Sequence[TraceScore] = (),
    *,
    is_idle: bool = False,
    prompt_of: PromptOf = no_prompt,
) -> list[RunOfTrace]:
    """Return the runs in a trace, the earliest first.

    Args:
        trace_id: the trace.
        facts: what its spans and events tell, in any order.
        scores: scores that came on their own.
        is_idle: whether nothing came for so long that nothing more is expected.
        prompt_of: asks the recordings of an agent for the prompt of a session at a moment.
    """
    known = sorted(facts, key=lambda fact: (fact.start, fact.span))
    if any(is_from_events(fact) for fact in known):
        return [
            _scored_whole(run, frozenset(fact.span for fact in part), scores)
            for run, part in event_runs(trace_id, known, prompt_of)
        ]
    tree = Tree(known)
    groups = grouped(tree)
    return [
        _under_recorded_prompt(
            _run(trace_id, tree, group, scores, is_first=position == 0, is_idle=is_idle), prompt_of
        )
        for position, group in enumerate(groups)
    ]


def _under_recorded_prompt(found: RunOfTrace, prompt_of: PromptOf) -> RunOfTrace:
    """Return a run of an agent that records its sessions under the recorded prompt's id."""
    run = found.run
    if not run.session:
        return found
    recorded = prompt_of(run.agent, run.session, run.started_at)
    if not recorded.id:
        return found
    run = msgspec.structs.replace(placed(run, recorded), prompt=recorded.id)
    return msgspec.structs.replace(found, run=run)


def _scored_whole(run: AgentRun, spans: frozenset[str], scores: Sequence[TraceScore]) -> RunOfTrace:
    signs = tuple(
        sign_of(score.evaluation, counts=True)
        for score in scores
        if not score.span or score.span in spans
    )
    return RunOfTrace(run=msgspec.structs.replace(run, signs=(*run.signs, *signs)), spans=spans)


def _run(
    trace_id: str,
    tree: Tree,
    group: FactGroup,
    scores: Sequence[TraceScore],
    *,
    is_first: bool,
    is_idle: bool,
) -> RunOfTrace:
    root, facts = group.root, sorted(group.facts, key=lambda fact: (fact.start, fact.span))
    main = _main(root, facts)
    calls = merged(
        call_seen(fact, tree.details_of(fact), _actor(fact, main, tree))
        for fact in facts
        if is_call(fact) and not tree.is_inside_same_call(fact)
    )
    commits, reverts = commits_and_reverts(seen.call for seen in calls)
    project = first_of(facts, "project")
    # The model answers a request of its own first for a title: what led to calls is what was asked.
    asked = [fact for fact in facts if fact.kind is not SpanKind.TOOL and fact.prompt]
    spans = frozenset(fact.span for fact in facts)
    run = AgentRun(
        agent=_agent((root, main, *facts), main),
        session=root.session or first_of(facts, "session"),
        prompt=trace_id if is_first else f"{trace_id}:{root.span}",
        captured_from="traces",
        started_at=min((fact.start for fact in facts if fact.start), default=0.0),
        ended_at=max((max(fact.start, fact.end) for fact in facts), default=0.0),
        # A project that was named outright is not that of the folder.
        folder="" if project else first_of(facts, "folder"),
        project=project,
        repository=first_of(facts, "repository"),
        branch=first_of(facts, "branch"),
        instruction=_instruction(root, asked, tree),
        calls=tuple(seen.call for seen in calls),
        signs=_signs(root, facts, calls, scores, spans),
        is_over=(group.has_root and not tree.is_orphan(root)) or is_idle,
        name=main.agent or _title(root),
        model=next((f.model for f in reversed(facts) if f.kind is SpanKind.MODEL and f.model), ""),
        tokens_in=tokens_of(root, facts, "tokens_in"),
        tokens_out=tokens_of(root, facts, "tokens_out"),
        usd=usd_of(root, facts),
        commits=commits,
        reverts=reverts,
    )
    tools = frozenset(fact.span for fact in facts if fact.kind is SpanKind.TOOL)
    return RunOfTrace(run=run, spans=spans, tools=tools)


def _main(root: Fact, facts: Sequence[Fact]) -> Fact:
    """Return the agent that the run is named after: the root, or the first one that has a name."""
    if root.agent:
        return root
    return next((fact for fact in facts if fact.kind is SpanKind.RUN and fact.agent), root)


def _agent(facts: Iterable[Fact], main: Fact) -> str:
    service = first_of(facts, "service")
    if service and not service.startswith(_NAMELESS):
        return service
    return main.agent or _title(main) or "agent"


def _title(root: Fact) -> str:
    """Return the name of an agent by its span, as "fixer" by "fixer.run"."""
    if root.kind not in (SpanKind.RUN, SpanKind.STEP):
        return ""
    for ending in _ENDINGS:
        root_name = root.name.removesuffix(ending)
        if root_name != root.name:
            return root_name
    return root.name.removeprefix("invoke_agent ").removeprefix("invoke_workflow ")


def _actor(fact: Fact, main: Fact, tree: Tree) -> str:
    """Return "agent", or the name of another agent below the main one that made the call."""
    nearest = tree.agent_above(fact)
    if nearest is None or not nearest.agent or nearest.agent == main.agent:
        return "agent"
    return nearest.agent


def _instruction(root: Fact, asked: Sequence[Fact], tree: Tree) -> str:
    if root.prompt and not root.name.startswith(VERCEL):
        return root.prompt
    with_calls = (fact for fact in asked if tree.has_calls(fact))
    found = next(with_calls, None) or next(iter(asked), None)
    return found.prompt if found else ""


def _signs(
    root: Fact,
    facts: Sequence[Fact],
    calls: Sequence[SpanCall],
    scores: Sequence[TraceScore],
    spans: frozenset[str],
) -> tuple[Signal, ...]:
    """Return the evidence on how the run went."""
    at_call = {span: position for position, seen in enumerate(calls) for span in seen.spans}
    kinds = {fact.span: fact.kind for fact in facts}
    models = [fact.span for fact in facts if fact.kind is SpanKind.MODEL]
    given = [(fact.span, evaluation) for fact in facts for evaluation in fact.evaluations]
    given += [(score.span, score.evaluation) for score in scores if score.span in spans]
    given += [("", score.evaluation) for score in scores if not score.span]
    signs = [
        Signal(kind=SignalKind.REJECTED, call=position, at=seen.start or None)
        for position, seen in enumerate(calls)
        if seen.rejected
    ]
    signs += [
        sign_of(
            evaluation,
            counts=evaluation.of_trace or _concerns_run(kinds.get(span), span, models),
            call=None if evaluation.of_trace else at_call.get(span),
        )
        for span, evaluation in given
    ]
    ending = ending_of(root, facts)
    return (*signs, *([ending] if ending else ()))


def _concerns_run(kind: SpanKind | None, span: str, models: Sequence[str]) -> bool:
    """Return whether a score judges the run, and not one call or a request in the middle of it."""
    return kind is not SpanKind.TOOL and (kind is not SpanKind.MODEL or span == models[-1])


def sign_of(evaluation: SpanScore, *, counts: bool, call: int | None = None) -> Signal:
    """Return a score as a sign; one that does not count judges something smaller than the run."""
    return Signal(
        kind=SignalKind.EVALUATED,
        success=evaluation.success if counts else None,
        says=evaluation.says,
        at=evaluation.at,
        call=call,
    )
