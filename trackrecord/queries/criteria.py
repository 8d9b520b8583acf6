"""Criteria as a reader is shown them: their weights, and the feedback behind these."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.errors import UnknownId
from trackrecord.learning.criteria.evaluation import (
    NO_FEEDBACK,
    Weight,
    WeightedEvaluation,
    weight_of,
    weighted_evaluation,
)
from trackrecord.learning.criteria.weights import CriterionStanding
from trackrecord.resources.paging import cursor_of, place_of
from trackrecord.store.criteria.feedback import (
    CriterionFeedbackPlace,
    Feedback,
    feedback_of_criterion,
    feedback_of_task,
)
from trackrecord.store.criteria.read import read_criteria
from trackrecord.store.outcomes.decay_basis import read_bases
from trackrecord.times import iso

from .project_rows import project_row
from .short_ids import nearest_id
from .tasks import unknown_task


@dataclass(frozen=True)
class Criterion:
    """Where a criterion stands.

    Attributes:
        standing: its evidence, and the weight that follows from it.
        half_life_days: the half-life that its evidence was weighed with; a changed setting takes
            effect with a rebuild.
    """

    standing: CriterionStanding
    half_life_days: float

    @property
    def name(self) -> str:
        """The criterion's name."""
        return self.standing.criterion

    @property
    def note(self) -> str:
        """Why its weight may be doubted; "" when there is no reason to."""
        return weight_of(self.standing).note

    def to_document(self) -> dict[str, Any]:
        """Return the criterion as a JSON object."""
        standing, evidence = self.standing, self.standing.evidence
        return {
            "criterion": standing.criterion,
            "weight": standing.weight,
            "formula_weight": standing.formula_weight,
            "helpful_count": evidence.helpful,
            "neutral_count": evidence.neutral,
            "harmful_count": evidence.harmful,
            "evidence": evidence.decayed_total,
            "little_evidence": standing.has_little_evidence,
            "last_validated": iso(evidence.last_validated),
            "half_life_days": self.half_life_days,
            "deprecated": standing.deprecated,
        }


@dataclass(frozen=True)
class CriterionDetails:
    """A criterion with its newest feedback.

    Attributes:
        criterion: where it stands.
        feedback: newest first.
        cursor: what `after` takes for the feedback that follows; None if there is no more.
    """

    criterion: Criterion
    feedback: tuple[Feedback, ...]
    cursor: str | None = None

    def to_document(self) -> dict[str, Any]:
        """Return the criterion with its feedback as a JSON object."""
        return self.criterion.to_document() | {
            "feedback": [feedback_document(each) for each in self.feedback],
            "cursor": self.cursor,
        }


def feedback_document(feedback: Feedback) -> dict[str, Any]:
    """Return a piece of feedback as a JSON object."""
    moments = {"received_at": iso(feedback.received_at), "ended_at": iso(feedback.ended_at)}
    return asdict(feedback) | moments


def list_criteria(
    connection: Connection, settings: DaemonSettings, project: str, *, at: float | None = None
) -> list[Criterion]:
    """Return the criteria of a project, by name.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    return _read(connection, settings, project, at=at)


def find_criterion(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    name: str,
    *,
    at: float | None = None,
) -> Criterion:
    """Return where one criterion stands.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no feedback to such a criterion.
    """
    for criterion in _read(connection, settings, project, at=at, name=name):
        return criterion
    known = (each.standing.criterion for each in _read(connection, settings, project, at=at))
    message = f"project {project!r} has no criterion {name!r}"
    hint = "`trackrecord criteria list` shows its criteria"
    raise UnknownId(message, nearest=nearest_id(name, known), hint=hint)


def _read(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    *,
    at: float | None,
    name: str | None = None,
) -> list[Criterion]:
    project_id = project_row(connection, project)
    bases = read_bases(connection, project_id)
    half_lives = settings.rules.half_lives if bases is None else bases.half_lives
    found = read_criteria(
        connection, project_id, settings.criteria, now=time.time(), at=at, name=name
    )
    return [Criterion(standing, half_lives.criteria) for standing in found]


def show_criterion(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    name: str,
    *,
    at: float | None = None,
    limit: int | None = None,
    after: str | None = None,
) -> CriterionDetails:
    """Return one criterion with its feedback, newest first, a page at a time.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project: whose criterion.
        name: its name.
        at: a past moment to answer for.
        limit: the maximum number of pieces of feedback; the setting `criteria.feedback_shown` when
            not given.
        after: the cursor of the page before; from the newest one on when not given.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no feedback to such a criterion.
        InvalidCursor: `after` is not the cursor of a page.
    """
    place = None if after is None else place_of(after, CriterionFeedbackPlace)
    criterion = find_criterion(connection, settings, project, name, at=at)
    rules = settings.criteria
    shown = rules.feedback_shown if limit is None else limit
    found = feedback_of_criterion(
        connection,
        project_row(connection, project),
        name,
        rules.defaults,
        at=at,
        limit=shown + 1,
        after=place,
    )
    page = found[:shown]
    cursor = cursor_of(page[-1].place) if len(found) > shown else None
    return CriterionDetails(criterion, tuple(page), cursor)


def weigh_scores(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    scores: Mapping[str, float],
    *,
    at: float | None = None,
) -> WeightedEvaluation:
    """Weigh scores on criteria by how far a project can rely on each.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project: whose criteria.
        scores: the score of each criterion, see `checked_scores`.
        at: a past moment whose weights count.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    known = _read(connection, settings, project, at=at)
    return weighted_evaluation(
        scores,
        {each.standing.criterion: weight_of(each.standing) for each in known},
        otherwise=Weight(settings.criteria.weight_without_feedback, NO_FEEDBACK),
    )


def list_feedback(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    task_id: str,
    *,
    limit: int | None = None,
    at: float | None = None,
) -> list[Feedback]:
    """Return what the outcomes of one task said about criteria, newest first; all without a limit.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: no outcome of the task is on record.
    """
    project_id = project_row(connection, project)
    defaults = settings.criteria.defaults
    found = feedback_of_task(connection, project_id, task_id, defaults, at=at, limit=limit)
    if not found:
        raise unknown_task(connection, project, task_id)
    return found
