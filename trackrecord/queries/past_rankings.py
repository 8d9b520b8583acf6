"""The rankings of a project as of a moment, computed from the store."""

import time

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.text.language import Language
from trackrecord.prompt.document import RankingsDocument
from trackrecord.prompt.hints import Hints
from trackrecord.prompt.rankings_answer import Rankings, answer_from
from trackrecord.prompt.wanted import WantedSections

from .advice import build_advice
from .project_rows import project_row
from .prompt_document import build_document


def rankings_at(
    connection: Connection, settings: DaemonSettings, project: str, at: float
) -> RankingsDocument:
    """Return a project's rankings as of a moment.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_row(connection, project)
    return build_document(
        connection,
        project,
        settings.rules,
        most=settings.rankings_max,
        now=time.time(),
        at=at,
    )


def answer_at(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    at: float,
    *,
    task: str | None = None,
    budget: int | None,
    limit: int | None = None,
    language: Language = "en",
    conditions: object = None,
    wanted: WantedSections,
) -> Rankings:
    """Return what an agent would have got at a moment.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project: whose experience.
        at: the moment.
        task: the text of the task at hand.
        budget: in tokens; None for no limit.
        limit: of each kind; None for no limit.
        language: of the text.
        conditions: the conditions under which the task appeared.
        wanted: the sections that are asked for.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    document = rankings_at(connection, settings, project, at)
    now = time.time()
    return answer_from(
        document,
        project=project,
        problem=None,
        task=task,
        budget=budget,
        limit=limit,
        language=language,
        now=now,
        rules=settings.context,
        memory_rules=settings.memories,
        advice=build_advice(connection, project, settings.rules, now=now, at=at),
        wanted=wanted,
        hints=Hints(conditions),
    )
