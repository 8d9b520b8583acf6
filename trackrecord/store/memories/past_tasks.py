"""Past tasks: found again by the text of their instruction, with how they ended.

The intake only notes which outcomes have an instruction. Their words are indexed afterwards, in
transactions of their own: by a worker, or at the end of an import.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, Engine, Select, select, update

from trackrecord.learning.text.words import asked_words, indexed_words, lexemes
from trackrecord.wire.outcome_scorer import ScoredOutcome

from ..database.engine import reading, writing
from ..database.full_text import TASK_WORDS
from ..database.leases import for_update
from ..database.parts import delete_named, in_parts
from ..database.upsert import insert_rows
from ..outcomes.entries import OUTCOME_IS_CURRENT
from ..outcomes.tables import outcomes
from .tables import past_tasks

_INDEX_AT_ONCE = 1000
DEFAULT_LIMIT = 5


@dataclass(frozen=True)
class StoredTask:
    """A task of the past, and how it ended.

    Attributes:
        outcome_id: the outcome that says so.
        task_id: the task.
        instruction: the beginning of its text.
        success: whether it reached its goal.
        verdict: what its score stands for.
        raw_score: 0..1.
        ended_at: when it ended, seconds since the epoch.
        relevance: how well it fits what was asked for, 0..1; 1 when nothing was.
    """

    outcome_id: str
    task_id: str
    instruction: str
    success: bool
    verdict: str
    raw_score: float
    ended_at: float
    relevance: float


_COLUMNS = tuple(past_tasks.c)


def note_past_tasks(
    connection: Connection,
    project_ids: Mapping[str, int],
    recorded: Iterable[tuple[int, ScoredOutcome]],
) -> None:
    """Note the outcomes, by their rows, that have their task's text and a verdict."""
    rows = [
        (row, project_ids[each.project], each.instruction, False)
        for row, each in recorded
        if each.instruction and each.success is not None
    ]
    insert_rows(connection, past_tasks, _COLUMNS, rows)


def index_past_tasks(engine: Engine) -> int:
    """Let all past tasks that were noted be found; answers how many there were."""
    total = 0
    while _is_any_waiting(engine):
        with writing(engine) as connection:
            count = _index_some(connection)
        if not count:  # another process is at it
            break
        total += count
    return total


def _is_any_waiting(engine: Engine) -> bool:
    with reading(engine) as connection:
        return connection.execute(_waiting().limit(1)).first() is not None


def _waiting() -> Select[tuple[int, int, str]]:
    # Spelt as in the partial index, so that it is used.
    columns = select(past_tasks.c.outcome, past_tasks.c.project_id, past_tasks.c.instruction)
    return columns.where(~past_tasks.c.is_indexed)


def _index_some(connection: Connection) -> int:
    query = _waiting().order_by(past_tasks.c.outcome).limit(_INDEX_AT_ONCE)
    rows = connection.execute(for_update(connection, query, past_tasks, skip_held=True)).all()
    TASK_WORDS.add(
        connection,
        [(row.outcome, lexemes(row.project_id, indexed_words(row.instruction))) for row in rows],
    )
    for some in in_parts(row.outcome for row in rows):
        is_done = update(past_tasks).where(past_tasks.c.outcome.in_(some))
        connection.execute(is_done.values(is_indexed=True))
    return len(rows)


def similar_tasks(
    connection: Connection,
    project_id: int,
    text: str,
    *,
    most: int,
    limit: int = DEFAULT_LIMIT,
) -> list[StoredTask]:
    """The past tasks whose instruction fits a text best, the best first; each task once.

    Of several outcomes of one task the one that ended last says how it ended.

    Args:
        connection: a reading transaction.
        project_id: whose tasks.
        text: the text of the task at hand.
        most: how many are looked at.
        limit: how many are answered.
    """
    words = lexemes(project_id, asked_words(text))
    relevance = {hit.row: hit.relevance for hit in TASK_WORDS.search(connection, words, most)}
    found: list[Any] = []
    for some in in_parts(relevance):
        query = _WITH_OUTCOMES.where(
            past_tasks.c.project_id == project_id, past_tasks.c.outcome.in_(some)
        )
        found += connection.execute(query).all()
    last: dict[str, StoredTask] = {}
    for row in found:
        told: list[Any] = [*row[1:], relevance[row.outcome]]
        task = StoredTask(*told)
        known = last.get(task.task_id)
        if known is None or _ended(known) < _ended(task):
            last[task.task_id] = task
    best = max((each.relevance for each in last.values()), default=1.0)
    ranked = sorted(last.values(), key=lambda each: (-each.relevance, -each.ended_at, each.task_id))
    return [replace(each, relevance=each.relevance / best) for each in ranked[:limit]]


def _ended(task: StoredTask) -> tuple[float, str]:
    return task.ended_at, task.outcome_id


_WITH_OUTCOMES: Final[Select[Any]] = (
    select(
        past_tasks.c.outcome, outcomes.c.outcome_id, outcomes.c.task_id, past_tasks.c.instruction,
        outcomes.c.success, outcomes.c.verdict, outcomes.c.raw_score, outcomes.c.ended_at,
    )
    .join(outcomes, outcomes.c.id == past_tasks.c.outcome)
    .where(OUTCOME_IS_CURRENT)
)  # fmt: skip


def drop_past_tasks(connection: Connection, project_id: int, rows: Sequence[int]) -> None:
    """Delete the texts of outcomes, by their rows, and take their words out of the index."""
    for some in in_parts(rows):
        query = select(past_tasks).where(
            past_tasks.c.project_id == project_id, past_tasks.c.outcome.in_(some)
        )
        # Held: another process may be at indexing them.
        for row in connection.execute(for_update(connection, query, past_tasks)).all():
            if row.is_indexed:
                words = lexemes(row.project_id, indexed_words(row.instruction))
                TASK_WORDS.remove(connection, row.outcome, words)
        delete_named(connection, project_id, past_tasks.c.outcome, some)
