"""The effect of advice: whether it helps, measured, and the decision about its holdout."""

from __future__ import annotations

import time
from math import isfinite
from typing import TYPE_CHECKING, ClassVar, Final, Self

from trackrecord.errors import InvalidRequest
from trackrecord.resources.access.project_store import project_row, read_project
from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, Resource

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from trackrecord.learning.advice.effect.comparison import Comparison, EffectReport
    from trackrecord.learning.advice.hint_effect import HintEffect
    from trackrecord.settings.daemon_settings import DaemonSettings
    from trackrecord.store.advice.effect import HoldoutDecision

_HIGHEST_HOLDOUT: Final = 0.9


class CountedAnswer(Answer, frozen=True):
    """The tasks of one arm of a comparison.

    Attributes:
        tasks: how many there are.
        mean: the mean of their values; 0 without tasks.
    """

    tasks: int
    mean: float


class HintMeasureAnswer(Answer, frozen=True, kw_only=True):
    """Failures that were answered with a hint beside failures that were not.

    Attributes:
        measure: what was compared: whether work resumed within five calls, or whether the same call
            failed again.
        given: the failures with a hint, and their mean.
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
    def of(cls, found: Comparison, **more: object) -> Self:
        """Return a comparison as an answer.

        Args:
            found: the comparison.
            more: a subclass's fields.
        """
        low, high = found.interval.low, found.interval.high
        return cls.taken(
            found,
            measure=found.measure.name,
            given=CountedAnswer.taken(found.given),
            withheld=CountedAnswer.taken(found.withheld),
            low=low if isfinite(low) else None,
            high=high if isfinite(high) else None,
            **more,
        )


class ComparisonAnswer(HintMeasureAnswer, frozen=True, kw_only=True):
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

    verdict: str
    _comparison: Comparison

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


class BothArmsAnswer(Answer, frozen=True):
    """Numbers of tasks.

    Attributes:
        given: those with advice.
        withheld: those without.
    """

    given: int
    withheld: int


class HintEffectAnswer(Answer, frozen=True, kw_only=True):
    """Whether hints at failures help.

    Attributes:
        points: the hints that were left to chance.
        waiting: those of which the session is not on record yet.
        more_points_needed: how many more show a difference of 35 points in four of five projects.
        measures: each measure over all of them.
    """

    points: int
    waiting: int
    more_points_needed: int
    measures: tuple[HintMeasureAnswer, ...]
    _effect: HintEffect

    @classmethod
    def of(cls, found: HintEffect) -> Self:
        """Return what was measured as an answer."""
        return cls(
            points=found.points,
            waiting=found.waiting,
            more_points_needed=found.needed,
            measures=tuple(map(HintMeasureAnswer.of, found.overall)),
            _effect=found,
        )

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
    hints: HintEffectAnswer
    _report: EffectReport

    @classmethod
    def of(
        cls,
        project: str,
        report: EffectReport,
        hints: HintEffect,
        *,
        holdout: float,
    ) -> Self:
        """Return what was measured as an answer.

        Args:
            project: whose advice.
            report: what was measured.
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
            measures=tuple(ComparisonAnswer.of(each, _comparison=each) for each in report.overall),
            kinds=tuple(
                KindEffectAnswer.of(each, _comparison=each, kind=kind)
                for kind, each in (report.kinds or {}).items()
            ),
            hints=HintEffectAnswer.of(hints),
            _report=report,
        )

    @property
    def report(self) -> EffectReport:
        """What was measured, as the rules see it."""
        return self._report


EFFECT_KINDS: Final = sorting_of(
    "kinds of task", "kind", name="kind", tasks="tasks", rate="rate", difference="difference"
)
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
    from trackrecord.store.advice.effect import MOST_TASKS, decided_holdout, read_effect
    from trackrecord.store.advice.hints import read_hint_effect

    project_id = project_row(connection, project)
    decided = decided_holdout(connection, project_id)
    holdout = setting if decided is None else decided
    report = read_effect(connection, project_id)
    hints = read_hint_effect(connection, project_id, limit=MOST_TASKS)
    return EffectAnswer.of(project, report, hints, holdout=holdout)


def hold_out(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    share: float,
    *,
    by: str,
    reason: str | None = None,
) -> HoldoutDecision:
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
    from trackrecord.resources.prompt_documents.changing import changing
    from trackrecord.store.advice.effect import HoldoutDecision, decide_holdout

    with changing(engine, settings, project) as connection:
        decision = HoldoutDecision(share, by, reason or "", time.time())
        decide_holdout(connection, project_row(connection, project), decision)
    return decision


def said_of(project: str, decision: HoldoutDecision) -> str:
    """Return what a decision did, in a sentence without its full stop."""
    if not decision.share:
        return f"no task of project {project!r} is withheld advice any more"
    return (
        f"advice is withheld from {100 * decision.share:g}% of the tasks of project {project!r} "
        "that are asked for with a task_id"
    )
