"""`trackrecord criteria`: how far each criterion can be relied on."""

import time
from dataclasses import asdict
from typing import Any

import click
from sqlalchemy import Connection

from trackrecord.errors import UnknownId
from trackrecord.learning.criteria.weights import CriterionStanding
from trackrecord.settings import Settings
from trackrecord.store.criteria.feedback import Feedback, feedback_of_criterion, feedback_of_task
from trackrecord.store.criteria.read import read_criteria
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.decay_basis import read_basis
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.times import iso

from ..access import open_store, settings_for
from ..options import at_option, json_option, project_option
from ..screen import console, print_json, print_table


@click.group("criteria")
def command() -> None:
    """Criteria: what outcomes say about single aspects, such as readable."""


@command.command("list")
@project_option
@at_option
@json_option
def list_criteria(project: str | None, at: float | None, *, as_json: bool) -> None:
    """All criteria with their weights, by name."""
    settings, project = settings_for(project)
    with open_store(settings) as engine, reading(engine) as connection:
        project_id = project_id_of(connection, project)
        found = (
            []
            if project_id is None
            else read_criteria(connection, project_id, settings.criteria, now=time.time(), at=at)
        )
        half_life_days = half_life_of(connection, settings, project)
    if as_json:
        print_json([as_document(each, half_life_days) for each in found])
        return
    if not found:
        click.echo(f"no criteria on record for project {project!r}")
        return
    print_table(
        ("criterion", "weight", "helpful", "neutral", "harmful", "evidence", "note"),
        (
            (
                each.criterion,
                each.weight,
                each.evidence.helpful,
                each.evidence.neutral,
                each.evidence.harmful,
                each.evidence.decayed_total,
                _note(each),
            )
            for each in found
        ),
    )


@command.command("show")
@click.argument("criterion", metavar="NAME")
@project_option
@at_option
@json_option
def show_criterion(criterion: str, project: str | None, at: float | None, *, as_json: bool) -> None:
    """One criterion: its numbers, and the newest feedback."""
    settings, project = settings_for(project)
    with open_store(settings) as engine, reading(engine) as connection:
        standing = find_criterion(connection, settings, project, criterion, at)
        project_id = project_id_of(connection, project)
        assert project_id is not None  # noqa: S101 - the standing was found in it
        newest = feedback_of_criterion(
            connection,
            project_id,
            criterion,
            settings.criteria.defaults,
            at=at,
            limit=settings.criteria.feedback_shown,
        )
        half_life_days = half_life_of(connection, settings, project)
    document = as_document(standing, half_life_days) | {
        "feedback": [_feedback_document(each) for each in newest],
    }
    if as_json:
        print_json(document)
        return
    del document["feedback"]
    print_table(("field", "value"), document.items())
    console().print("newest feedback")
    print_table(
        ("task", "verdict", "value", "ended"),
        ((each.task_id, each.verdict, each.value, iso(each.ended_at)) for each in newest),
    )


@command.command("feedback")
@click.argument("task_id", metavar="TASK_ID")
@project_option
@at_option
@json_option
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True)
def show_feedback(
    task_id: str, project: str | None, at: float | None, limit: int, *, as_json: bool
) -> None:
    """What the outcomes of one task said about criteria, newest first."""
    settings, project = settings_for(project)
    with open_store(settings) as engine, reading(engine) as connection:
        project_id = project_id_of(connection, project)
        found = (
            []
            if project_id is None
            else feedback_of_task(
                connection, project_id, task_id, settings.criteria.defaults, at=at, limit=limit
            )
        )
    if not found:
        message = f"no outcome of task {task_id!r} is on record in project {project!r}"
        raise UnknownId(message)
    if as_json:
        print_json([_feedback_document(each) for each in found])
        return
    print_table(
        ("criterion", "verdict", "value", "outcome", "ended"),
        (
            (each.criterion, each.verdict, each.value, each.outcome_id, iso(each.ended_at))
            for each in found
        ),
    )


def _feedback_document(feedback: Feedback) -> dict[str, Any]:
    moments = {
        "received_at": iso(feedback.received_at),
        "ended_at": iso(feedback.ended_at),
    }
    return asdict(feedback) | moments


def find_criterion(
    connection: Connection, settings: Settings, project: str, criterion: str, at: float | None
) -> CriterionStanding:
    """Where one criterion stands.

    Raises:
        UnknownId: the project has no feedback to such a criterion.
    """
    project_id = project_id_of(connection, project)
    if project_id is not None:
        rules = settings.criteria
        for each in read_criteria(
            connection, project_id, rules, now=time.time(), at=at, name=criterion
        ):
            return each
    message = f"no criterion {criterion!r} in project {project!r}; `criteria list` shows all"
    raise UnknownId(message)


def half_life_of(connection: Connection, settings: Settings, project: str) -> float:
    """The half-life of the stored sums: a changed setting takes effect with a rebuild."""
    project_id = project_id_of(connection, project)
    basis = None if project_id is None else read_basis(connection, project_id)
    return settings.decay.half_life_days if basis is None else basis.half_life_days


def as_document(standing: CriterionStanding, half_life_days: float) -> dict[str, Any]:
    """A criterion as JSON shows it."""
    evidence = standing.evidence
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
        "half_life_days": half_life_days,
        "deprecated": standing.deprecated,
    }


def _note(standing: CriterionStanding) -> str:
    if standing.deprecated:
        return "deprecated"
    return "little evidence" if standing.has_little_evidence else ""
