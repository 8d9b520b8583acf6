"""Past tasks as they are found at prompt time: their records, and what was found at a moment."""

from array import array
from collections.abc import Sequence

from sqlalchemy import Connection

from trackrecord.learning.advice.past_tasks import ending_of
from trackrecord.learning.advice.runs import Run
from trackrecord.learning.advice.task_finding import (
    LEAST_SIMILAR,
    MOST_ASKED,
    MOST_HOLDERS,
    Holders,
    Question,
    asked_terms,
    with_others,
)
from trackrecord.learning.text.search_words import lexeme
from trackrecord.prompt.document import RankedTask
from trackrecord.prompt.task_record import (
    FoundTask,
    TaskRecord,
    best_of,
    record_of,
    records_of_ranked,
)
from trackrecord.store.advice.indexed_tasks import NotedTask, holders_until, known_then, tasks_of

from .project_rows import project_row


def record_of_task(task: NotedTask) -> TaskRecord:
    """Return the record of a past task: with its tools if it succeeded, else with its ending."""
    run = task.run
    return record_of(
        id=task.outcome_id,
        task_id=task.task_id,
        instruction=task.instruction,
        success=task.success,
        verdict=task.verdict,
        ended_at=task.ended_at,
        steps=run.order if run is not None and task.success else (),
        ending=ending_of(run) if isinstance(run, Run) and not task.success else "",
    )


def find_tasks_at(
    connection: Connection,
    project: str,
    text: str,
    *,
    newest: Sequence[RankedTask] = (),
    at: float,
) -> tuple[FoundTask, ...]:
    """Return the past tasks that an agent would have found at a moment, best first.

    Nothing that was received later counts, not even for how rare a word is.

    Args:
        connection: a reading transaction.
        project: whose past tasks.
        text: the text of the task at hand.
        newest: the newest ones of that moment: their words may not be indexed yet.
        at: the moment.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_id = project_row(connection, project)
    size, last = known_then(connection, project_id, at)
    words = {lexeme(project_id, word): term for word, term in asked_terms(text, MOST_ASKED)}
    held = holders_until(connection, words, last=last, most=MOST_HOLDERS)
    others = records_of_ranked(newest)
    holders = with_others(
        {words[name]: Holders(*found) for name, found in held.items()},
        words.values(),
        [array("I", each.terms) for each in others],
    )
    if not holders:
        return ()
    question = Question.of(holders, size)
    tasks = tasks_of(connection, project_id, question.candidates(holders), at=at)
    records = [*map(record_of_task, tasks), *others]
    return best_of(records, question, least=LEAST_SIMILAR)
