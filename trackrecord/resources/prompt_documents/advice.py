"""Building the advice of a project from its runs."""

import time
from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

import msgspec
from sqlalchemy import Connection

from trackrecord.learning.advice.estimates.estimates import (
    Estimate,
    Estimates,
    estimate,
    recipes_among,
    usual_orders,
)
from trackrecord.learning.advice.lessons.counting.fails import telling_names, telling_words
from trackrecord.learning.advice.lessons.find import find_lessons
from trackrecord.learning.advice.lessons.lesson import Lesson, LessonKind, LessonState
from trackrecord.learning.advice.moments.commands import (
    MOST_RUNS,
    defects_of,
    facts_without,
    histories_of,
    told_histories,
)
from trackrecord.learning.advice.moments.facts import KnownFailure, MomentDocument, MomentFacts
from trackrecord.learning.advice.moments.hints import standing_checks, standing_lines
from trackrecord.learning.advice.moments.wording import never_text
from trackrecord.learning.advice.past.past_tasks import RunsOfText, past_tasks_of, tallies_of
from trackrecord.learning.advice.runs.agent_tools import tools_of_agents
from trackrecord.learning.advice.runs.failures import error_template
from trackrecord.learning.advice.runs.runs import NotedRun, Run, with_verdict
from trackrecord.learning.advice.tasks.heard import heard_runs
from trackrecord.learning.advice.tasks.task_index import build_index
from trackrecord.learning.competences.episodes.signatures import signature_of
from trackrecord.learning.rules_bundle import Rules
from trackrecord.prompt.documents.advice_document import (
    NO_PROCEDURE,
    AdviceDocument,
    Expected,
    ExpectedInKind,
    KindEntry,
    LessonEntry,
    PastTasks,
    PatternEntry,
    ProcedureEntry,
)
from trackrecord.store.advice.hints import read_hint_effect
from trackrecord.store.advice.lesson_decisions import dismissed_lessons
from trackrecord.store.advice.runs import read_noted_runs, read_tried_runs
from trackrecord.store.outcomes.projects import project_id_of, revision_of

# Few projects have more; those that are used least are left out.
MOST_PROCEDURES: Final = 2000
_SHELL: Final = "shell:"
# A tool mostly works if fewer of its calls fail.
_MOSTLY: Final = 0.5
# Where fewer than one call in twenty fails, as with tasks that lessons hit, it is not worth a line.
_RARE: Final = 0.05


class CountedRuns(NamedTuple):
    """What advice is made of.

    Attributes:
        runs: the runs of a project, with and without a verdict.
        lessons: the lessons that were found in them, the strongest first.
        estimates: how often those with a verdict succeed.
    """

    runs: Sequence[NotedRun]
    lessons: tuple[Lesson, ...]
    estimates: Estimates


def count_advice(
    connection: Connection,
    project: str,
    rules: Rules,
    *,
    now: float,
    tool_names: Mapping[str, dict[str, str]] | None = None,
) -> tuple[AdviceDocument, CountedRuns | None]:
    """Count the advice of a project's runs; return what it was made of, too.

    Args:
        connection: a reading transaction.
        project: whose runs.
        rules: the rules of the settings.
        now: the present, seconds since the epoch.
        tool_names: what each coding agent calls the tools that all are on record with.
    """
    found = revision_of(connection, project)
    if found is None:
        return AdviceDocument(project=project, revision=0, computed_at=now), None
    project_id, revision = found
    noted = read_noted_runs(connection, project_id)
    dismissed = dismissed_lessons(connection, project_id)
    document, counted = advice_from(project, noted, rules, moment=now, dismissed=dismissed)
    return msgspec.structs.replace(
        document, revision=revision, computed_at=now, tool_names=dict(tool_names or {})
    ), counted


def with_moments(
    connection: Connection, project: str, document: AdviceDocument
) -> tuple[AdviceDocument, MomentDocument]:
    """Return advice beside what is told at failures, and people of standing defects.

    Facts that a person dismissed are left out of both, and lessons that tell of the same failure.
    Where the project is one repository, advice has what the start of a session says.

    Args:
        connection: a reading transaction.
        project: whose runs.
        document: the advice, as counted.
    """
    project_id = project_id_of(connection, project)
    if project_id is None:
        return document, MomentDocument()
    runs = read_tried_runs(connection, project_id, limit=MOST_RUNS)
    dismissed = dismissed_lessons(connection, project_id)
    histories = histories_of(runs)
    defects = defects_of(histories, now=time.time())
    found = {name: history.facts() for name, history in told_histories(runs, histories).items()}
    told = {name: facts_without(facts, name, dismissed) for name, facts in found.items()}
    undone = {*_failures_of(found)} - {*_failures_of(told)} if dismissed else set()
    lessons = [
        each for each in document.lessons if not any(_is_same_failure(each, one) for one in undone)
    ]
    moments = MomentDocument(
        points=read_hint_effect(connection, project_id).points,
        repositories=told,
        defects=tuple(each for each in defects if each.id not in dismissed),
    )
    document = msgspec.structs.replace(document, lessons=tuple(lessons))
    return _with_standing(document, told), moments


def _failures_of(facts: Mapping[str, MomentFacts]) -> Iterator[KnownFailure]:
    for each in facts.values():
        yield from chain.from_iterable(each.failures.values())


def _with_standing(document: AdviceDocument, told: Mapping[str, MomentFacts]) -> AdviceDocument:
    if len(told) != 1:
        return document
    (own,) = told.values()
    failures = [failure for failure, _ in standing_checks(own).values()]
    return msgspec.structs.replace(
        document,
        standing=standing_lines(own, document.computed_at),
        usual=own.usual,
        never=never_text(own.never),
        standing_lessons=tuple(
            entry.id
            for entry in document.lessons
            if any(_is_same_failure(entry, failure) for failure in failures)
        ),
    )


def _is_same_failure(entry: LessonEntry, failure: KnownFailure) -> bool:
    """Return whether a lesson tells of a check that it does not start, with the same error."""
    names = entry.tools[0].removeprefix(_SHELL).split() if len(entry.tools) == 1 else []
    words = iter(failure.says.split())
    return (
        entry.kind == LessonKind.FAILS
        and bool(names)
        and all(name in words for name in names)
        and not telling_words(failure.template).isdisjoint(entry.words)
    )


def advice_from(
    project: str,
    noted: Sequence[NotedRun],
    rules: Rules,
    *,
    moment: float,
    dismissed: Collection[str] = (),
) -> tuple[AdviceDocument, CountedRuns]:
    """Count the advice of runs; return what it was made of, too. No I/O.

    Args:
        project: whose runs.
        noted: its runs, with and without a verdict.
        rules: the rules of the settings.
        moment: the moment to answer for, seconds since the epoch.
        dismissed: the ids of the lessons that are not shown.
    """
    noted = heard_runs(noted, rules.caps)
    counted = CountedRuns(
        noted,
        find_lessons(noted, rules.lessons, now=moment),
        estimate(with_verdict(noted), now=moment, half_life_days=rules.decay.half_life_days),
    )
    return _document(project, counted, rules, moment, dismissed), counted


def _document(
    project: str, counted: CountedRuns, rules: Rules, moment: float, dismissed: Collection[str]
) -> AdviceDocument:
    noted, runs, found_estimates = counted.runs, with_verdict(counted.runs), counted.estimates
    procedures = _procedures(found_estimates, runs)
    positions = {entry.signature: position for position, entry in enumerate(procedures)}
    return AdviceDocument(
        project=project,
        revision=0,
        computed_at=moment,
        runs=len(runs),
        expected=expected_of(found_estimates.project),
        lessons=_lessons(counted, dismissed),
        procedures=procedures,
        patterns=pattern_entries(found_estimates),
        kinds=_kinds(found_estimates),
        past_tasks=_past_tasks(
            past_tasks_of(runs),
            positions,
            found_estimates.kind_of_runs,
            rules.decay.half_life_days,
        ),
        checks=_checks(runs),
        agents=tools_of_agents(noted, found_estimates.kind_of_runs),
    )


def _checks(runs: Sequence[Run]) -> dict[str, float]:
    """Return the share of runs that were decided by each tool."""
    decided = Counter(tool for run in runs for tool in run.decided_by)
    return {tool: times / len(runs) for tool, times in sorted(decided.items())}


def _lessons(counted: CountedRuns, dismissed: Collection[str]) -> tuple[LessonEntry, ...]:
    """Return the current lessons: not faded, not dismissed, not of one source alone."""
    # Those that decided how a run went, too: that they fail to start is a fact of any run.
    used = [frozenset(step.tool for step in run.steps) for run in counted.runs if run.steps]
    return tuple(
        LessonEntry(
            id=lesson.id,
            kind=lesson.kind,
            tools=lesson.tools,
            state=lesson.state,
            score=lesson.strength,
            runs=lesson.runs,
            tasks=lesson.tasks,
            last_seen=lesson.last_seen,
            lines=lesson.lines,
            wordless_lines={} if lesson.sources > 1 else lesson.wordless_lines,
            usual=_share(used, lesson.tools[0]),
            words=tuple(sorted(telling_words(error_template(lesson.example)))),
            names=tuple(sorted(telling_names(error_template(lesson.example), lesson.tools))),
            needs_naming=not lesson.has_way_out or _fails_in(lesson, below=_RARE),
            is_occasional=not lesson.has_way_out and _fails_in(lesson, below=_MOSTLY),
            only_source=lesson.only_source,
        )
        for lesson in counted.lessons
        if lesson.state is not LessonState.FADED
        and not lesson.is_of_one
        and lesson.id not in dismissed
        and (lesson.has_way_out or not _fails_in(lesson, below=_RARE))
    )


def _fails_in(lesson: Lesson, *, below: float) -> bool:
    return lesson.kind is LessonKind.FAILS and lesson.failing_calls < below * lesson.calls


def _share(used: Sequence[frozenset[str]], wanted: str) -> float:
    return sum(wanted in tools for tools in used) / len(used)


def _procedures(estimates: Estimates, runs: Sequence[Run]) -> tuple[ProcedureEntry, ...]:
    """Return the procedures in the order of their signatures; of too many, the most used ones."""
    tallies, orders = estimates.counts.by_procedure, usual_orders(runs)
    recipes = recipes_among(orders, runs)
    most_used = sorted(tallies, key=lambda name: (-tallies[name].decayed_runs, name))
    return tuple(
        ProcedureEntry(
            signature=signature,
            order=orders[signature],
            expected=expected_of(estimates.procedure(signature)),
            by_kind={
                kind: _expected_in_kind(estimates.procedure(signature, kind))
                for kind in estimates.counts.by_procedure_and_kind[signature]
            },
            is_recipe=signature in recipes,
            is_outranked=estimates.is_outranked("procedures", signature),
        )
        for signature in sorted(most_used[:MOST_PROCEDURES])
    )


def pattern_entries(estimates: Estimates) -> tuple[PatternEntry, ...]:
    """Return the estimates of all patterns that runs touched."""
    return tuple(
        PatternEntry(
            slug=slug,
            expected=expected_of(estimates.pattern(slug)),
            by_kind={kind: _expected_in_kind(estimates.pattern(slug, kind)) for kind in cells},
            goes_worse=estimates.goes_worse_with(slug),
            is_outranked=estimates.is_outranked("patterns", slug),
        )
        for slug, cells in estimates.counts.by_pattern_and_kind.items()
    )


def _kinds(estimates: Estimates) -> tuple[KindEntry, ...]:
    return tuple(
        KindEntry(name=name, expected=expected_of(estimates.kind(position)))
        for position, name in enumerate(estimates.kinds.names)
    )


def expected_of(estimate: Estimate) -> Expected:
    """Return an estimate as it is cached."""
    low, high = estimate.posterior.interval
    effect = estimate.effect
    return Expected(
        a=estimate.drawn.a,
        b=estimate.drawn.b,
        mean=estimate.posterior.mean,
        low=low,
        high=high,
        runs=estimate.tally.runs,
        tasks=estimate.tally.tasks,
        successes=estimate.tally.successes,
        effect=effect.difference if effect.is_known else None,
        effect_low=effect.low if effect.is_known else None,
        effect_high=effect.high if effect.is_known else None,
        level=estimate.level,
        usual=estimate.usual,
        order_key=estimate.order_key,
        is_worth_recommending=estimate.is_worth_recommending,
        is_surely_better=estimate.is_surely_better,
    )


def _expected_in_kind(estimate: Estimate) -> ExpectedInKind:
    effect, posterior = estimate.effect, estimate.drawn
    compared = (effect.difference, effect.low, effect.high, estimate.is_surely_better)
    return ExpectedInKind(
        estimate.tally.runs,
        estimate.tally.successes,
        posterior.a,
        posterior.b,
        estimate.order_key,
        estimate.is_worth_recommending,
        *(compared if effect.is_known else ()),
    )


def _past_tasks(
    tasks: Sequence[RunsOfText],
    positions: Mapping[str, int],
    kind_of_runs: Mapping[int, int],
    half_life_days: float,
) -> PastTasks:
    def position_of(order: tuple[str, ...]) -> int:
        # A procedure that is used rarely is not in the document; its runs count all the same.
        return positions.get(signature_of(order), NO_PROCEDURE)

    texts = [task.text for task in tasks]
    return PastTasks(
        index=build_index(texts),
        kinds=array("I", (kind_of_runs[task.newest.outcome] for task in tasks)).tobytes(),
        runs=tuple(tallies_of(task, position_of, half_life_days) for task in tasks),
    )
