"""The rankings of a project as of a moment, computed from the store."""

import time

from sqlalchemy import Connection

from trackrecord.prompt.answers.rankings_answer import Rankings, answer_from
from trackrecord.prompt.choosing.inputs import PromptRules
from trackrecord.prompt.documents.rankings_document import ProjectDocuments, RankingsDocument
from trackrecord.prompt.question.question import PromptQuestion
from trackrecord.resources.access.project_rows import project_row
from trackrecord.resources.prompt_documents.advice import build_advice
from trackrecord.resources.prompt_documents.prompt_document import build_document
from trackrecord.settings.daemon_settings import DaemonSettings


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
        now=time.time(),
        at=at,
    )


def answer_at(
    connection: Connection, settings: DaemonSettings, question: PromptQuestion, at: float
) -> Rankings:
    """Return a prompt's answer as of a moment.

    Args:
        connection: a reading transaction.
        settings: the rules.
        question: what it would have asked for.
        at: the moment.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    document = rankings_at(connection, settings, question.project, at)
    now = time.time()
    advice = build_advice(connection, question.project, settings.rules, now=now, at=at)
    return answer_from(
        question,
        ProjectDocuments(document, advice),
        PromptRules(settings.context, settings.memories),
        now=now,
    )
