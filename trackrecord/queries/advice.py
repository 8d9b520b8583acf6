"""Building the advice of a project from its runs."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from sqlalchemy import Connection

from trackrecord.learning.advice.estimates.counting import usual_orders
from trackrecord.learning.advice.estimates.estimates import Estimate, Estimates, estimate
from trackrecord.learning.advice.estimates.posterior import posterior_of
from trackrecord.learning.advice.lessons.find import find_lessons
from trackrecord.learning.advice.lessons.lesson import LessonState
from trackrecord.learning.advice.past_tasks import RunsOfText, alike, past_tasks_of, tallies_of
from trackrecord.learning.advice.runs import NotedRun, Run, with_verdict
from trackrecord.learning.advice.task_index import build_index
from trackrecord.learning.competences.signatures import signature_of
from trackrecord.prompt.advice_document import (
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
from trackrecord.rules_bundle import Rules
from trackrecord.store.advice.lesson_decisions import dismissed_lessons
from trackrecord.store.advice.runs import read_noted_runs
from trackrecord.store.outcomes.projects import revision_of

# Few projects have more; those that are used least are left out.
MOST_PROCEDURES: Final = 2000


def build_advice(
    connection: Connection, project: str, rules: Rules, *, now: float, at: float | None = None
) -> AdviceDocument:
    """Count all that a project's runs tell.

    Args:
        connection: a reading transaction.
        project: whose runs.
        rules: the rules of the settings.
        now: the present, seconds since the epoch.
        at: a past moment to answer for.
    """
    found = revision_of(connection, project)
    if found is None:
        return AdviceDocument(project=project, revision=0, computed_at=now)
    project_id, revision = found
    moment = now if at is None else at
    noted = read_noted_runs(connection, project_id, limit=rules.advice.max_runs, at=at)
    return advice_of(
        with_verdict(noted),
        rules,
        project=project,
        revision=revision,
        now=now,
        moment=moment,
        lessons=_lessons(connection, project_id, noted, rules, moment, at),
    )


def advice_of(
    runs: Sequence[Run],
    rules: Rules,
    *,
    project: str,
    revision: int,
    now: float,
    moment: float,
    lessons: tuple[LessonEntry, ...] = (),
) -> AdviceDocument:
    """Return the advice that is counted from runs.

    Args:
        runs: those of the project whose ending is known.
        rules: the rules of the settings.
        project: its name.
        revision: the revision of its rankings.
        now: the present, seconds since the epoch.
        moment: the moment to answer for.
        lessons: the lessons that stand.
    """
    found_estimates = estimate(runs, now=moment, half_life_days=rules.decay.half_life_days)
    procedures = _procedures(found_estimates, runs)
    positions = {entry.signature: position for position, entry in enumerate(procedures)}
    return AdviceDocument(
        project=project,
        revision=revision,
        computed_at=now,
        runs=len(runs),
        expected=expected_of(found_estimates.project),
        lessons=lessons,
        procedures=procedures,
        patterns=pattern_entries(found_estimates),
        kinds=_kinds(found_estimates),
        past_tasks=_past_tasks(
            past_tasks_of(runs),
            positions,
            found_estimates.kind_of_runs,
            rules.decay.half_life_days,
        ),
    )


def _lessons(
    connection: Connection,
    project_id: int,
    runs: Sequence[NotedRun],
    rules: Rules,
    moment: float,
    at: float | None,
) -> tuple[LessonEntry, ...]:
    """Return the lessons that stand: neither faded nor dismissed, nor of one source alone."""
    dismissed = dismissed_lessons(connection, project_id, at=at)
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
        )
        for lesson in find_lessons(runs, rules.lessons, now=moment)
        if lesson.state is not LessonState.FADED
        and not lesson.is_of_one
        and lesson.id not in dismissed
    )


def _procedures(estimates: Estimates, runs: Sequence[Run]) -> tuple[ProcedureEntry, ...]:
    """Return the procedures in the order of their signatures; of too many, the most used ones."""
    tallies, orders = estimates.counts.by_procedure, usual_orders(runs)
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
        a=estimate.posterior.a,
        b=estimate.posterior.b,
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
    )


def _expected_in_kind(estimate: Estimate) -> ExpectedInKind:
    # What is bad at other kinds may be the best at this one: a draw starts from the kind's rate.
    effect, posterior = estimate.effect, posterior_of(estimate.tally, estimate.usual)
    found = ExpectedInKind(
        estimate.tally.runs,
        estimate.tally.successes,
        posterior.a,
        posterior.b,
        estimate.order_key,
        estimate.is_worth_recommending,
    )
    if not effect.is_known:
        return found
    return msgspec.structs.replace(
        found, effect=effect.difference, effect_low=effect.low, effect_high=effect.high
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
    encoded = [text.encode() for text in texts]
    ends, end = array("I"), 0
    for text in encoded:
        end += len(text)
        ends.append(end)
    return PastTasks(
        index=build_index(texts),
        texts=b"".join(encoded),
        ends=ends.tobytes(),
        kinds=array("I", (kind_of_runs[task.newest.outcome] for task in tasks)).tobytes(),
        alike=array("I", alike(texts)).tobytes(),
        runs=tuple(tallies_of(task, position_of, half_life_days) for task in tasks),
        endings=tuple(
            min(task.endings, key=lambda said: (-task.endings[said], said), default="")
            for task in tasks
        ),
    )
