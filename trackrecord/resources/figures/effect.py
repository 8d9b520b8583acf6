"""The effect of advice: whether it helps, measured, and the decisions about it."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import TYPE_CHECKING, ClassVar, Final, Literal, Self

from trackrecord.errors import InvalidRequest
from trackrecord.resources.access.project_store import open_project, read_project
from trackrecord.resources.declaration.checks import AdviceId, Name, Reason, decided_by
from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant, Resource

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from trackrecord.learning.advice.effect.comparison import ArmMean, Comparison
    from trackrecord.learning.advice.effect.entries import EntryEffect
    from trackrecord.learning.advice.effect.report import EffectReport
    from trackrecord.learning.advice.hint_effect import HintComparison, HintedRun, HintEffect
    from trackrecord.settings.daemon_settings import DaemonSettings
    from trackrecord.store.advice.effect_decisions import (
        Action,
        EffectDecision,
        EffectDecisions,
    )

_HIGHEST_HOLDOUT: Final = 0.9


class CountedAnswer(Answer, frozen=True):
    """The tasks of one arm of a comparison.

    Attributes:
        tasks: how many there are.
        mean: the mean of their values; 0 without tasks.
    """

    tasks: int
    mean: float

    @classmethod
    def of(cls, arm: ArmMean) -> Self:
        """Return an arm as an answer."""
        return cls(arm.tasks, arm.mean)


class ComparisonAnswer(Answer, frozen=True, kw_only=True):
    """Tasks that were given advice beside tasks that were not.

    Attributes:
        measure: what was compared.
        given: the tasks with advice.
        withheld: the tasks without.
        difference: with - without, compared within strata; null where no stratum has both.
        low: the lower end of its interval; null where there is none.
        high: the upper end of its interval; null where there is none.
        verdict: what can be said.
    """

    measure: str
    given: CountedAnswer
    withheld: CountedAnswer
    difference: float | None
    low: float | None
    high: float | None
    verdict: str
    _comparison: Comparison

    @classmethod
    def of(cls, found: Comparison, **more: object) -> Self:
        """Return a comparison as an answer.

        Args:
            found: the comparison.
            more: a subclass's fields.
        """
        low, high = found.interval.low, found.interval.high
        return cls(
            measure=found.measure.name,
            given=CountedAnswer.of(found.given),
            withheld=CountedAnswer.of(found.withheld),
            difference=found.difference,
            low=low if isfinite(low) else None,
            high=high if isfinite(high) else None,
            verdict=found.verdict,
            _comparison=found,
            **more,
        )

    @property
    def comparison(self) -> Comparison:
        """The comparison, as the rules see it."""
        return self._comparison

    @property
    def tasks(self) -> int:
        """How many tasks were compared."""
        return self.given.tasks + self.withheld.tasks

    @property
    def rate(self) -> float | None:
        """The mean of the tasks with advice; None without such tasks."""
        return self.given.mean if self.given.tasks else None


class KindEffectAnswer(ComparisonAnswer, frozen=True, kw_only=True):
    """The effect of advice on one kind of task.

    Attributes:
        kind: the kind of task.
    """

    _first: ClassVar = ("kind",)
    kind: str


class EntryEffectAnswer(ComparisonAnswer, frozen=True, kw_only=True):
    """The effect of one entry of advice.

    Attributes:
        id: the entry's id.
        handed_out: the ended tasks that it was handed to.
        would_have_been: the ended tasks of the holdout that it would have been handed to.
        followed: of those that it was handed to, those that did what it says; null where a run does
            not show it.
        succeeded: of those that it was handed to, those that reached their goal.
        withdrawn: whether it is handed out no more.
    """

    _first: ClassVar = ("id", "handed_out", "would_have_been", "followed", "succeeded")
    id: str
    handed_out: int
    would_have_been: int
    followed: int | None
    succeeded: int | None
    withdrawn: bool


class BothArmsAnswer(Answer, frozen=True):
    """Numbers of tasks.

    Attributes:
        given: those with advice.
        withheld: those without.
    """

    given: int
    withheld: int


class WithdrawnAnswer(Answer, frozen=True):
    """An entry that is handed out no more.

    Attributes:
        id: the entry's id.
        by: who decided.
        reason: why.
        at: when.
    """

    id: str
    by: str
    reason: str
    at: Instant


class HintMeasureAnswer(Answer, frozen=True, kw_only=True):
    """Failures that were answered with a hint beside failures that were not.

    Attributes:
        measure: what was compared: whether work resumed within five calls, whether the same call
            failed again, how many calls it took, whether the run has a verdict, and which.
        given: the failures with a hint, and their mean by the weights of the trial.
        withheld: those without.
        difference: with - without; null where one is missing.
        low: the lower end of its interval; null where there is none.
        high: the upper end of its interval; null where there is none.
    """

    measure: str
    given: CountedAnswer
    withheld: CountedAnswer
    difference: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, found: HintComparison) -> Self:
        """Return a comparison as an answer."""
        low, high = found.interval.low, found.interval.high
        return cls(
            measure=found.measure,
            given=CountedAnswer.of(found.given),
            withheld=CountedAnswer.of(found.withheld),
            difference=found.difference,
            low=low if isfinite(low) else None,
            high=high if isfinite(high) else None,
        )


class HintEffectAnswer(Answer, frozen=True, kw_only=True):
    """Whether hints at failures help.

    Attributes:
        points: the hints that were left to chance.
        waiting: those of which the session is not on record yet.
        more_points_needed: how many more show a difference of 35 points in four of five projects.
        measures: each measure over all of them.
        withdrawn: the entries that are told no more, for they hurt.
    """

    points: int
    waiting: int
    more_points_needed: int
    measures: tuple[HintMeasureAnswer, ...]
    withdrawn: tuple[str, ...]
    _effect: HintEffect

    @classmethod
    def of(cls, found: HintEffect) -> Self:
        """Return what was measured as an answer."""
        return cls(
            points=found.points,
            waiting=found.waiting,
            more_points_needed=found.needed,
            measures=tuple(map(HintMeasureAnswer.of, found.overall)),
            withdrawn=found.harmful,
            _effect=found,
        )

    @property
    def behind(self) -> tuple[HintedRun, ...]:
        """The runs of the newest hints that were left to chance, the newest first."""
        return self._effect.behind

    @property
    def in_words(self) -> list[str]:
        """What is known of them, in sentences; none while nothing was left to chance."""
        from trackrecord.learning.advice.hint_effect import hint_conclusion

        return hint_conclusion(self._effect)


class EffectAnswer(Answer, frozen=True, kw_only=True):
    """Whether a project's advice helps.

    Attributes:
        project: whose advice.
        holdout: the share of tasks that is withheld advice now.
        tasks: the tasks that ended and count.
        without_outcome: the tasks without an outcome yet.
        nothing_to_hand_out: the tasks that nothing would have been handed to.
        more_tasks_needed: how many more tasks show a difference of ten points in four of five
            projects; null while no task is withheld, 0 when they are there.
        measures: each measure over all tasks.
        kinds: success by kind of task.
        entries: success by entry, in the order of their first exposure.
        withdrawn: the entries that are handed out no more.
        hints: whether hints at failures help.
    """

    project: str
    holdout: float
    tasks: BothArmsAnswer
    without_outcome: BothArmsAnswer
    nothing_to_hand_out: int
    more_tasks_needed: int | None
    measures: tuple[ComparisonAnswer, ...]
    kinds: tuple[KindEffectAnswer, ...]
    entries: tuple[EntryEffectAnswer, ...]
    withdrawn: tuple[WithdrawnAnswer, ...]
    hints: HintEffectAnswer
    _report: EffectReport
    _decisions: EffectDecisions

    @classmethod
    def of(
        cls,
        project: str,
        report: EffectReport,
        decisions: EffectDecisions,
        hints: HintEffect,
        *,
        holdout: float,
    ) -> Self:
        """Return what was measured as an answer.

        Args:
            project: whose advice.
            report: what was measured.
            decisions: the holdout, and which entries are withdrawn.
            hints: what hints at failures did.
            holdout: the share of tasks that is withheld advice now.
        """
        return cls(
            project=project,
            holdout=holdout,
            tasks=BothArmsAnswer(*report.tasks),
            without_outcome=BothArmsAnswer(*report.open),
            nothing_to_hand_out=report.empty,
            more_tasks_needed=report.needed,
            measures=tuple(map(ComparisonAnswer.of, report.overall)),
            kinds=tuple(
                KindEffectAnswer.of(each, kind=kind) for kind, each in (report.kinds or {}).items()
            ),
            entries=tuple(_entry(each, decisions) for each in report.entries),
            withdrawn=tuple(_withdrawn(decisions.entries[name]) for name in decisions.withdrawn),
            hints=HintEffectAnswer.of(hints),
            _report=report,
            _decisions=decisions,
        )

    @property
    def report(self) -> EffectReport:
        """What was measured, as the rules see it."""
        return self._report

    @property
    def decisions(self) -> EffectDecisions:
        """The holdout, and which entries are withdrawn."""
        return self._decisions


def _entry(found: EntryEffect, decisions: EffectDecisions) -> EntryEffectAnswer:
    return EntryEffectAnswer.of(
        found.effect,
        id=found.entry,
        handed_out=found.handed_out,
        would_have_been=found.would_have,
        followed=found.followed,
        succeeded=found.succeeded,
        withdrawn=found.entry in decisions.withdrawn,
    )


def _withdrawn(decision: EffectDecision) -> WithdrawnAnswer:
    return WithdrawnAnswer(decision.entry, decision.actor, decision.reason, decision.at)


EFFECT_KINDS: Final = sorting_of(
    "kinds of task", "kind", name="kind", tasks="tasks", rate="rate", difference="difference"
)
EFFECT_ENTRIES: Final = sorting_of(
    "entries", "id", id="id", handed_out="handed_out", followed="followed", rate="rate",
    difference="difference",
)  # fmt: skip
EFFECT = Resource("effect", "Show whether advice helps: tasks with it beside tasks without.")


@EFFECT.offers("GET /effect")
def effect(*, project: str | None = None) -> EffectAnswer:
    """Return whether advice helps: tasks that were handed advice beside tasks without.

    Args:
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        return measure_effect(it.connection, it.project, setting=it.settings.holdout)


def measure_effect(connection: Connection, project: str, *, setting: float) -> EffectAnswer:
    """Return whether the advice of a project helps.

    Args:
        connection: a reading transaction.
        project: whose advice.
        setting: the holdout of the settings, where nobody decided about the project.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    from trackrecord.resources.access.project_rows import project_row
    from trackrecord.store.advice.effect import MOST_TASKS, read_effect
    from trackrecord.store.advice.effect_decisions import effect_decisions_in_force
    from trackrecord.store.advice.hints import read_hint_effect

    project_id = project_row(connection, project)
    decisions = effect_decisions_in_force(connection, project_id)
    holdout = setting if decisions.holdout is None else decisions.holdout
    report = read_effect(connection, project_id)
    hints = read_hint_effect(connection, project_id, limit=MOST_TASKS)
    return EffectAnswer.of(project, report, decisions, hints, holdout=holdout)


class EntryDecisionAnswer(Answer, frozen=True):
    """A decision about an entry of advice or a hint.

    Attributes:
        id: the entry.
        action: what was decided.
        by: who decided.
        reason: why; null without a reason.
    """

    id: str
    action: Literal["withdraw", "restore"]
    by: str
    reason: str | None


@EFFECT.offers("POST /effect/withdraw", permission="admin")
def withdraw_advice(
    entry: AdviceId,
    *,
    reason: Reason | None = None,
    by: Name | None = None,
    project: str | None = None,
) -> EntryDecisionAnswer:
    """Take an entry of advice, or a hint at failures, out of all that agents are told.

    Args:
        entry: its id, or the beginning of it.
        reason: the reason; it is kept.
        by: who decides; this process's user when not given.
        project: whose advice; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    return _decide_here("withdraw", entry, reason, by, project)


@EFFECT.offers("POST /effect/restore", permission="admin")
def restore_advice(
    entry: AdviceId,
    *,
    reason: Reason | None = None,
    by: Name | None = None,
    project: str | None = None,
) -> EntryDecisionAnswer:
    """Put an entry of advice, or a hint at failures, back for good, whatever is measured.

    Args:
        entry: its id, or the beginning of it.
        reason: the reason; it is kept.
        by: who decides; this process's user when not given.
        project: whose advice; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    return _decide_here("restore", entry, reason, by, project)


def _decide_here(
    action: Literal["withdraw", "restore"],
    entry: str,
    reason: str | None,
    by: str | None,
    project: str | None,
) -> EntryDecisionAnswer:
    actor, given_reason = decided_by(by, reason)
    with open_project(project) as it:
        decision = _decide(
            it.engine, it.settings, it.project, action, entry, None, actor, given_reason
        )
    return EntryDecisionAnswer(decision.entry, action, actor, given_reason)


def hold_out(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    share: float,
    *,
    by: str,
    reason: str | None = None,
) -> EffectDecision:
    """Withhold advice from a share of a project's tasks, so that both can be compared.

    Args:
        engine: the store.
        settings: the rules, and the Redis server.
        project: whose tasks.
        share: 0 to 0.9; 0 gives all tasks advice again.
        by: who decides.
        reason: why.

    Raises:
        InvalidRequest: the share is out of bounds.
        UnknownProject: nothing is on record for the project.
    """
    if not 0 <= share <= _HIGHEST_HOLDOUT:
        message = f"the share without advice must lie in 0..{_HIGHEST_HOLDOUT}, not {share:g}"
        raise InvalidRequest(message)
    return _decide(engine, settings, project, "holdout", "", share, by, reason)


def withdraw_entry(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    entry: str,
    *,
    by: str,
    reason: str | None = None,
) -> EffectDecision:
    """Take an entry out of all advice of a project.

    Args:
        engine: the store.
        settings: the rules, and the Redis server.
        project: whose advice.
        entry: its id, or the beginning of it.
        by: who decides.
        reason: why.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: nothing with that id, or that begins so, was ever handed out.
        AmbiguousId: several ids begin so.
    """
    return _decide(engine, settings, project, "withdraw", entry, None, by, reason)


def restore_entry(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    entry: str,
    *,
    by: str,
    reason: str | None = None,
) -> EffectDecision:
    """Put an entry into advice again, for good; see `withdraw_entry`."""
    return _decide(engine, settings, project, "restore", entry, None, by, reason)


def _decide(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    action: Action,
    entry: str,
    share: float | None,
    by: str,
    reason: str | None,
) -> EffectDecision:
    import time

    from trackrecord.resources.access.project_rows import project_row
    from trackrecord.resources.prompt_documents.changing import changing
    from trackrecord.store.advice.effect_decisions import EffectDecision, decide_effect

    with changing(engine, settings, project) as connection:
        row = project_row(connection, project)
        if entry:
            entry = decided_entry(connection, project, entry)
        decision = EffectDecision(action, entry, share, by, reason or "", time.time())
        decide_effect(connection, row, decision)
    return decision


def said_of(project: str, decision: EffectDecision) -> str:
    """Return what a decision did, in a sentence without its full stop."""
    match decision.action:
        case "withdraw":
            return f"{decision.entry} is handed out no more in project {project!r}"
        case "restore":
            return (
                f"{decision.entry} is handed out again in project {project!r}, whatever is measured"
            )
    if not decision.share:
        return f"no task of project {project!r} is withheld advice any more"
    return (
        f"advice is withheld from {100 * decision.share:g}% of the tasks of project {project!r} "
        "that are asked for with a task_id"
    )


def decided_entry(connection: Connection, project: str, given: str) -> str:
    """Return the id of an entry that was handed out or decided about.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: nothing with that id, or that begins so, was ever handed out.
        AmbiguousId: several ids begin so.
    """
    from trackrecord.resources.access.project_rows import project_row
    from trackrecord.resources.access.short_ids import whole_id

    known = known_entries(connection, project_row(connection, project))
    return whole_id(
        given,
        entries_named(given, known),
        f"no entry {given!r} was handed to a task of project {project!r} that ended",
        hint="`trackrecord effect --by entry` lists those that were",
        near=lambda: {*known, *map(_without_kind, known)},
    )


def known_entries(connection: Connection, project_id: int) -> set[str]:
    """Return the entries of a project that were handed out or decided about."""
    from trackrecord.store.advice.effect import read_effect
    from trackrecord.store.advice.effect_decisions import effect_decisions_in_force
    from trackrecord.store.advice.hints import hint_entries

    known = set(effect_decisions_in_force(connection, project_id).entries)
    known.update(each.entry for each in read_effect(connection, project_id).entries)
    return known.union(hint_entries(connection, project_id))


def entries_named(given: str, known: Iterable[str]) -> list[str]:
    """Return the entry that has the given id, else those whose id begins with it.

    What stands before the id that other commands show, such as `lesson:`, may be left out. Fewer
    than four characters stand for themselves alone.
    """
    from trackrecord.resources.access.short_ids import matching

    known = sorted(known)
    if given in known:
        return [given]
    bare = {each: _without_kind(each) for each in known}
    if same := [each for each in known if bare[each] == given]:
        return same
    return [each for each in known if matching(given, (each, bare[each]))]


def _without_kind(entry: str) -> str:
    from trackrecord.learning.advice.entry_ids import PREFIXES

    # What the ids of entries of some kinds begin with in a prompt, unlike in the lists of their
    # kind.
    kind = next((each for each in (*PREFIXES, "skill-") if entry.startswith(each)), "")
    return entry[len(kind) :]
