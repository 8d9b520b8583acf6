"""Criteria: how far each can be relied on, and the feedback behind its weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self

from trackrecord.errors import UnknownId
from trackrecord.learning.criteria.evaluation import (
    NO_FEEDBACK,
    Weight,
    WeightedPart,
    checked_scores,
    weight_of,
    weighted_evaluation,
)
from trackrecord.learning.criteria.weights import WEIGHT_WITHOUT_FEEDBACK, CriterionStanding
from trackrecord.resources.access.project_store import Transaction, read_project
from trackrecord.resources.declaration.checks import IdOf, Limit, Text
from trackrecord.resources.declaration.paging import cursor_of, place_of, sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant, Resource

if TYPE_CHECKING:
    from trackrecord.prompt.reading.weighing import Weighing


class Criterion(Answer, frozen=True, kw_only=True):
    """A criterion, and how far it can be relied on at a moment.

    Attributes:
        criterion: its name.
        weight: what its scores count.
        formula_weight: its weight before it is held within bounds.
        helpful_count: the verdicts that found it helpful.
        neutral_count: the neutral verdicts.
        harmful_count: the verdicts that found it harmful.
        evidence: the verdicts, each weighed by its age.
        little_evidence: whether that is too little to rely on the weight.
        last_validated: when the newest verdict was received; null without one.
        half_life_days: the half-life that its evidence was weighed with; a changed setting takes
            effect with a rebuild.
        deprecated: whether it has no say any more.
    """

    criterion: str
    weight: float
    formula_weight: float
    helpful_count: int
    neutral_count: int
    harmful_count: int
    evidence: float
    little_evidence: bool
    last_validated: Instant | None
    half_life_days: float
    deprecated: bool
    _standing: CriterionStanding

    @classmethod
    def of(cls, standing: CriterionStanding, half_life_days: float, **more: Any) -> Self:  # noqa: ANN401 - a subclass's fields
        """Return a criterion on record as an answer."""
        evidence = standing.evidence
        return cls.taken(
            standing,
            evidence,
            helpful_count=evidence.helpful,
            neutral_count=evidence.neutral,
            harmful_count=evidence.harmful,
            evidence=evidence.decayed_total,
            little_evidence=standing.has_little_evidence,
            half_life_days=half_life_days,
            _standing=standing,
            **more,
        )

    @property
    def name(self) -> str:
        """The criterion's name."""
        return self.criterion

    @property
    def standing(self) -> CriterionStanding:
        """Where the criterion stands, as the rules see it."""
        return self._standing

    @property
    def verdicts(self) -> int:
        """How many verdicts there are."""
        return self.helpful_count + self.neutral_count + self.harmful_count

    @property
    def note(self) -> str:
        """Why its weight may be doubted; "" when there is no reason to."""
        return weight_of(self._standing).note


class CriterionFeedbackAnswer(Answer, frozen=True, kw_only=True):
    """What one outcome, or feedback on it alone, said about one criterion.

    Attributes:
        criterion: its name.
        outcome_id: the outcome that says so; null where it is feedback on the criterion alone.
        task_id: the task, if known.
        received_at: when it was received.
        ended_at: when the task ended, or when the feedback was given.
        verdict: helpful, neutral or harmful.
        value: the raw value; that of neutral feedback is 0.
        feedback_id: the id of feedback on the criterion alone; null where an outcome says so.
    """

    criterion: str
    outcome_id: str | None
    task_id: str | None
    received_at: Instant
    ended_at: Instant
    verdict: str
    value: float
    feedback_id: str | None

    @property
    def said_by(self) -> str | None:
        """The id of the outcome or of the feedback that says so."""
        return self.outcome_id or self.feedback_id


class CriterionDetails(Criterion, frozen=True, kw_only=True):
    """A criterion with its newest feedback.

    Attributes:
        feedback: newest first.
        cursor: what `after` takes for the feedback that follows; null if there is no more.
    """

    feedback: tuple[CriterionFeedbackAnswer, ...]
    cursor: str | None


class WeighingAnswer(Answer, frozen=True, kw_only=True):
    """A weighted evaluation.

    Attributes:
        project: whose criteria weigh.
        score: the weighted mean of the scores, 0..1; null where no criterion has a weight.
        plain_score: the mean of the scores without weights; null without scores.
        total_weight: the sum of the weights.
        parts: the criteria in the order given.
        note: why there is no weighted score; "" where there is one.
    """

    project: str
    score: float | None
    plain_score: float | None
    total_weight: float
    parts: tuple[WeightedPart, ...]
    note: str


def criteria_of(it: Transaction, name: str | None = None) -> list[Criterion]:
    """Return the criteria of a project by name, or the one of a name.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    from trackrecord.store.criteria.sums import read_criteria
    from trackrecord.store.outcomes.recorded_rules import read_bases

    bases = read_bases(it.connection, it.project_id)
    half_lives = it.settings.rules.half_lives if bases is None else bases.half_lives
    found = read_criteria(
        it.connection, it.project_id, it.settings.criteria, now=it.moment, name=name
    )
    return [Criterion.of(standing, half_lives.criteria) for standing in found]


def find_criterion(it: Transaction, name: str) -> Criterion:
    """Return where one criterion stands.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no feedback to such a criterion.
    """
    for criterion in criteria_of(it, name):
        return criterion
    from trackrecord.resources.access.short_ids import nearest_id

    message = f"project {it.project!r} has no criterion {name!r}"
    hint = "`trackrecord criteria list` shows its criteria"
    known = (each.name for each in criteria_of(it))
    raise UnknownId(message, nearest=nearest_id(name, known), hint=hint)


def details_of(
    it: Transaction, name: str, *, limit: int | None = None, after: str | None = None
) -> CriterionDetails:
    """Return a criterion with its feedback, in a transaction that is open; see `show_criterion`.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no feedback to such a criterion.
        InvalidCursor: `after` is not the cursor of a page.
    """
    from trackrecord.store.criteria.feedback import (
        FEEDBACK_SHOWN,
        CriterionFeedbackPlace,
        feedback_of_criterion,
    )

    place = None if after is None else place_of(after, CriterionFeedbackPlace)
    criterion, rules = find_criterion(it, name), it.settings.criteria
    shown = FEEDBACK_SHOWN if limit is None else limit
    found = feedback_of_criterion(
        it.connection, it.project_id, name, rules.defaults, limit=shown + 1, after=place
    )
    page = found[:shown]
    return CriterionDetails.of(
        criterion.standing,
        criterion.half_life_days,
        feedback=tuple(map(CriterionFeedbackAnswer.taken, page)),
        cursor=cursor_of(page[-1].place) if len(found) > shown else None,
    )


CRITERIA = Resource("criteria", "Show how far single criteria can be relied on.")


@CRITERIA.offers(
    "GET /criteria",
    command="list",
    sorting=sorting_of(
        "criteria", "criterion", name="criterion", weight="weight", evidence="evidence",
        helpful="helpful_count", neutral="neutral_count", harmful="harmful_count",
        last_seen="last_validated",
    ),
    rank=lambda criterion: criterion.criterion,
    in_pages=True,
    columns=(
        "criterion", "weight", "helpful", "neutral", "harmful", "evidence", "note",
    ),

    about="criterion",
    secondary=("neutral", "evidence", "note", "harmful", "helpful"),
    cells={
        "helpful": lambda criterion: criterion.helpful_count,
        "neutral": lambda criterion: criterion.neutral_count,
        "harmful": lambda criterion: criterion.harmful_count,
        "note": lambda criterion: criterion.note,
    },
    nothing="no criteria in project {project!r}",
)  # fmt: skip
def list_criteria(*, limit: Limit | None = None, project: str | None = None) -> list[Criterion]:
    """List the criteria with their weights, by name.

    Args:
        limit: the maximum number of criteria to return; all when not given.
        project: the criteria's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        return criteria_of(it)[:limit]


@CRITERIA.offers(
    "GET /criteria/{name:path}",
    command="show",
    rests_on=("outcomes",),
    option_help={
        "limit": "Show at most this many pieces of feedback.  [default: 10]",
        "after": "Show the feedback that follows a page: give the cursor that it ended with.",
    },
)
def show_criterion(
    name: Annotated[str, IdOf("criterion")],
    *,
    limit: Limit | None = None,
    after: Text | None = None,
    project: str | None = None,
) -> CriterionDetails:
    """Show one criterion: its numbers, and its feedback, newest first, a page at a time.

    Args:
        name: the criterion's name.
        limit: the maximum number of pieces of feedback; ten when not given.
        after: the cursor of the page before.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        return details_of(it, name, limit=limit, after=after)


@CRITERIA.offers("POST /criteria/weigh")
def weigh_scores(*, scores: Mapping[str, float], project: str | None = None) -> WeighingAnswer:
    """Weigh an evaluation: scores on criteria, each by how far the criterion can be relied on.

    Args:
        scores: by criterion, a number from 0 to 1.
        project: whose criteria.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    checked = checked_scores(scores)
    with read_project(project) as it:
        weights = {each.name: weight_of(each.standing) for each in criteria_of(it)}
        otherwise = Weight(WEIGHT_WITHOUT_FEEDBACK, NO_FEEDBACK)
        weighed = weighted_evaluation(checked, weights, otherwise=otherwise)
        return WeighingAnswer(project=it.project, **vars(weighed))


def weigh(scores: Mapping[str, float], *, project: str | None = None) -> Weighing:
    """Weigh an evaluation: scores on criteria, each by how far the criterion can be relied on.

    Reads what `rankings()` reads, and no store. A deprecated criterion has no say. One without
    feedback has the weight 1, and its part says so. Never raises for
    Redis: see `Weighing.problem`.

    Args:
        scores: by criterion, a number from 0 to 1; True and False stand for 1 and 0.
        project: whose criteria; the settings' project when not given.

    Raises:
        InvalidScores: a score is not one; the message names the criterion.
    """
    from trackrecord.prompt.reading import weighing

    return weighing.weigh(scores, project=project)
