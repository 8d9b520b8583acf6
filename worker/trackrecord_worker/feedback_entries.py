"""Count the feedback that arrives on the stream among outcomes."""

from collections.abc import Sequence
from itertools import groupby

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from trackrecord.errors import StoreUnavailable
from trackrecord.rules_bundle import Rules
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.feedback import take_in_feedback
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.outcomes.feedback import GivenFeedback
from trackrecord.store.outcomes.forgotten import forgotten_among, share_projects
from trackrecord.store.patterns.transitions import Transition

from .stream_entries import ArrivedFeedback


def count_arrived(
    engine: Engine, arrived: Sequence[ArrivedFeedback], rules: Rules, *, now: float
) -> tuple[set[str], list[Transition]]:
    """Count feedback, in one transaction per project.

    Feedback that comes again is recognised by its id and changes nothing.

    Returns:
        The projects that changed, and the changes of patterns' states.

    Raises:
        StoreUnavailable: the database is away, or refuses what nothing is wrong with; all of it
            stays pending, and what is counted already is recognised.
    """
    projects: set[str] = set()
    transitions: list[Transition] = []
    by_project = sorted(arrived, key=lambda each: each.project)
    for project, group in groupby(by_project, key=lambda each: each.project):
        given: list[GivenFeedback] = [each.given for each in group]
        try:
            with writing(engine) as connection:
                given = _not_forgotten(connection, project, given)
                if not given:
                    continue
                project_id = ensure_projects(connection, [project])[project]
                counted = take_in_feedback(connection, project_id, given, rules, now=now)
        except SQLAlchemyError as error:
            message = f"the database refuses feedback ({type(error).__name__})"
            raise StoreUnavailable(message) from error
        if counted.recorded:
            projects.add(project)
            transitions += counted.transitions
    return projects, transitions


def _not_forgotten(
    connection: Connection, project: str, given: Sequence[GivenFeedback]
) -> list[GivenFeedback]:
    """Leave out feedback that a person has forgotten."""
    share_projects(connection, [project])
    names = {(project, each.feedback_id) for each in given}
    forgotten = forgotten_among(connection, "feedback", names)
    return [each for each in given if (project, each.feedback_id) not in forgotten]
