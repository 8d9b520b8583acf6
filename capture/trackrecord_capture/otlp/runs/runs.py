"""From the facts of one trace to the runs of agents in it.

One task is one run: the topmost agent, workflow or graph of a trace. Agents below it, whether it
called them or handed over to them, are a part of it: only the task as a whole has a verdict, and
their calls carry their name as the `actor`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from ...agent_run import AgentRun, Signal, SignalKind
from ...shell.git import commits_of
from ..facts.fact import Fact, SpanScore
from ..facts.vocabulary import SpanKind
from .calls import SpanCall, call_seen, has_failed, is_call, merged
from .event_runs import PromptOf, event_runs, is_from_events, no_prompt, placed, summed
from .tree import Tree

VERCEL: Final = "ai."
_SLACK_S: Final = 0.1


class FactGroup(msgspec.Struct, kw_only=True):
    """The facts of one run, the fact at its root, and that at the root of its last part."""

    root: Fact
    facts: list[Fact]
    last: Fact
    has_root: bool = True


def grouped(tree: Tree) -> list[FactGroup]:
    """Return the facts of each run."""
    of_root: dict[str, list[Fact]] = defaultdict(list)
    for fact in tree.facts:
        root = tree.root_of(fact)
        if root is not None:
            of_root[root.span].append(fact)
    groups = [
        FactGroup(root=tree.by_span[span], facts=facts, last=tree.by_span[span])
        for span, facts in of_root.items()
        if any(fact.kind in (SpanKind.TOOL, SpanKind.MODEL, SpanKind.RUN) for fact in facts)
    ]
    groups = _with_resumed(_without_doubles(_of_one_session(groups, tree)))
    _take_in_strays(groups, tree)
    return sorted(groups, key=lambda group: (group.root.start, group.root.span))


def _of_one_session(groups: list[FactGroup], tree: Tree) -> list[FactGroup]:
    """Join what the Vercel AI SDK traces request by request, where a loop of one's own calls it.

    Requests without a call of a tool, such as the one for a title, are a part of it as well.
    """
    kept, of_session = [], defaultdict(list)
    for group in groups:
        session = first_of(group.facts, "session")
        if group.root.name.startswith(VERCEL) and session:
            of_session[session].append(group)
        else:
            kept.append(group)
    for together in of_session.values():
        facts = [fact for group in together for fact in group.facts]
        complete = all(not tree.is_orphan(group.root) for group in together)
        root = together[0].root
        kept.append(FactGroup(root=root, facts=facts, last=root, has_root=complete))
    return kept


def _with_resumed(groups: list[FactGroup]) -> list[FactGroup]:
    """Join what went on after a person's answer with what it went on from."""
    kept: list[FactGroup] = []
    for group in sorted(groups, key=lambda group: group.root.start):
        session = first_of(group.facts, "session")
        earlier = session and kept and first_of(kept[-1].facts, "session")
        if session and session == earlier and is_resumed(group.facts):
            kept[-1].facts += group.facts
            kept[-1].last = group.root
        else:
            kept.append(group)
    return kept


def is_resumed(facts: Sequence[Fact]) -> bool:
    """Return whether a trace continues an earlier run: no person asked anything at its start."""
    spans = {fact.span for fact in facts}
    tops = (fact for fact in facts if fact.parent not in spans)
    first = min(tops, key=lambda fact: fact.start, default=None)
    return first is not None and any(
        fact.resumes and not first.prompt
        for fact in facts
        if first.span in (fact.span, fact.parent)
    )


class TraceOutline(NamedTuple):
    """The features of a trace that another trace of the same task has as well.

    Attributes:
        trace: the trace.
        session: its session; "" if it names none.
        service: the service.
        scopes: the instrumentations.
        tools: the tools that were called, in order.
        start: when it began; seconds since the epoch.
        end: when it ended.
        has_requests: whether it holds requests to a model.
    """

    trace: str
    session: str
    service: str
    scopes: frozenset[str]
    tools: tuple[str, ...]
    start: float
    end: float
    has_requests: bool

    def is_twin_of(self, other: "TraceOutline") -> bool:
        """Return whether two instrumentations told of one task in traces of their own."""
        return (
            bool(self.tools and self.scopes and other.scopes)
            and (self.tools, self.service) == (other.tools, other.service)
            and self.scopes.isdisjoint(other.scopes)
            and abs(self.start - other.start) <= _SLACK_S
            and abs(self.end - other.end) <= _SLACK_S
        )


def outline_of(trace: str, facts: Sequence[Fact]) -> TraceOutline:
    """Return the outline of a trace."""
    calls = sorted((fact for fact in facts if is_call(fact)), key=lambda fact: fact.start)
    return TraceOutline(
        trace,
        first_of(facts, "session"),
        first_of(facts, "service"),
        frozenset(fact.scope for fact in facts if fact.scope),
        tuple(fact.tool for fact in calls),
        min((fact.start for fact in facts), default=0.0),
        max((fact.end for fact in facts), default=0.0),
        any(fact.kind is SpanKind.MODEL for fact in facts),
    )


def _take_in_strays(groups: list[FactGroup], tree: Tree) -> None:
    """Add calls whose parents never came to the run of their session, or to the only run."""
    for fact in tree.facts:
        if fact.kind is SpanKind.TOOL and tree.root_of(fact) is None and tree.is_orphan(fact):
            session = fact.session
            same = [group for group in groups if first_of(group.facts, "session") == session]
            if len(same) == 1 or (session and same):
                same[0].facts.append(fact)


def _without_doubles(groups: list[FactGroup]) -> list[FactGroup]:
    """Join runs that two instrumentations report in parallel."""
    kept: list[FactGroup] = []
    for group in sorted(groups, key=lambda group: (group.root.start, -group.root.end)):
        same = next((other for other in kept[-8:] if _is_within(group.root, other.root)), None)
        if same is None:
            kept.append(group)
        else:
            same.facts += group.facts
    return kept


def _is_within(root: Fact, other: Fact) -> bool:
    return (
        root.scope != other.scope
        and root.start >= other.start - _SLACK_S
        and root.end <= other.end + _SLACK_S
    )


def first_of(facts: Iterable[Fact], name: str) -> str:
    """Return the first text that facts hold under a name; "" without one."""
    return next((held for fact in facts if (held := str(getattr(fact, name)))), "")


_SAYS_CHARS: Final = 1000
_INTERRUPTS: Final = re.compile(
    r"(?:^|\.)(?:KeyboardInterrupt|CancelledError|AbortError|UserAbort\w*)$|\binterrupted by user\b"
)
# The errors of the clients of models: their API refused or failed, which is nobody's failure.
_API: Final = re.compile(
    r"(?:^|[.\s'\"(])(?:API\w*Error|APITimeoutError|RateLimitError|AuthenticationError|"
    r"PermissionDeniedError|OverloadedError|InternalServerError|ServiceUnavailableError|"
    r"ModelHTTPError|ModelAPIError|ThrottlingException|ModelThrottledException|"
    r"ServiceUnavailable|TooManyRequests|InsufficientQuotaError|AI_APICallError|AI_RetryError)\b"
)
# The same from below the client. A tool may raise these as well.
_NETWORK: Final = re.compile(
    r"(?:^|[.\s'\"(])(?:Connect(?:ion)?(?:Reset|Refused)?Error|Connect(?:ion)?Timeout|ReadTimeout|"
    r"ReadError|RemoteProtocolError|TimeoutError|HTTPStatusError|HTTPError|URLError)\b|"
    r"\b(?:status|http|code)\W{1,3}(?:429|5\d\d)\b|\b(?:429|5\d\d)\s+(?:service|too many|internal|"
    r"bad gateway|gateway)|\boverloaded\b|\brate.?limit",
    re.IGNORECASE,
)


def ending_of(root: Fact, facts: Sequence[Fact]) -> Signal | None:
    """Return how a run ended, if it raised; a root without an error proves nothing.

    Where a request to a model failed last, no answer came, whatever the root says.
    """
    last = _last_act(facts)
    failed_last = last.kind if last is not None and has_failed(last) else None
    if not has_failed(root):
        if last is None or failed_last is not SpanKind.MODEL:
            return None
        if _INTERRUPTS.search(last.error_type):
            return None
        says = f"{last.error_type} {last.error}".strip()[:_SAYS_CHARS]
        return Signal(kind=SignalKind.API_FAILED, says=says, at=last.end or None)
    words = f"{root.error_type} {root.error}".strip()
    if _INTERRUPTS.search(root.error_type) or _INTERRUPTS.search(root.error):
        kind = SignalKind.INTERRUPTED
    elif _API.search(root.error_type) or _API.search(root.error[:_SAYS_CHARS]):
        kind = SignalKind.API_FAILED
    else:
        is_network = _NETWORK.search(words[:_SAYS_CHARS]) and failed_last is not SpanKind.TOOL
        is_api = is_network or failed_last is SpanKind.MODEL
        kind = SignalKind.API_FAILED if is_api else SignalKind.CRASHED
    return Signal(kind=kind, says=words[:_SAYS_CHARS], at=root.end or None)


def _last_act(facts: Sequence[Fact]) -> Fact | None:
    acts = (fact for fact in reversed(facts) if fact.kind in (SpanKind.MODEL, SpanKind.TOOL))
    return next(acts, None)


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
        signs=_signs(group.last, facts, calls, scores, spans),
        is_over=(group.has_root and not tree.is_orphan(group.last)) or is_idle,
        name=main.agent or _title(root),
        model=next((f.model for f in reversed(facts) if f.kind is SpanKind.MODEL and f.model), ""),
        tokens_in=summed(root, facts, "tokens_in"),
        tokens_out=summed(root, facts, "tokens_out"),
        usd=summed(root, facts, "usd"),
        commits=commits_of(seen.call for seen in calls),
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
