"""The memories and past tasks that rankings carry: few, and those that count most."""

from sqlalchemy import Connection

from trackrecord.learning.memories.rules import MemoryRules, effective_confidence
from trackrecord.learning.memories.texts import memory_line, past_task_line
from trackrecord.prompt.document import RankedMemory, RankedTask
from trackrecord.prompt.presentation import LANGUAGES
from trackrecord.store.memories.past_tasks import PastTask, newest_past_tasks
from trackrecord.store.memories.read import Memory, as_of, complete
from trackrecord.store.memories.tables import memories
from trackrecord.store.memories.write import count_memories, list_memories


def ranked_memories(
    connection: Connection, project_id: int, rules: MemoryRules, *, now: float, at: float | None
) -> tuple[tuple[RankedMemory, ...], int]:
    """The memories with the highest effective confidence, and how many there are beyond them.

    What another memory has superseded is no longer handed on.
    """
    moment = now if at is None else at
    if at is None:
        query = as_of(None).where(
            memories.c.project_id == project_id, memories.c.superseded_by.is_(None)
        )
        query = query.order_by(memories.c.standing.desc(), memories.c.id).limit(rules.max_ranked)
        found = complete(connection, connection.execute(query).all())
    else:
        found = list_memories(connection, project_id, at=at)
        found = [each for each in found if each.superseded_by is None]
    ranked = sorted(
        (_presented(rules, each, moment) for each in found), key=lambda each: (-each.score, each.id)
    )[: rules.max_ranked]
    # Few projects have more than fit, and only those need counting.
    beyond = 0
    if len(ranked) == rules.max_ranked:
        beyond = max(0, count_memories(connection, project_id, at=at) - len(ranked))
    return tuple(ranked), beyond


def _presented(rules: MemoryRules, memory: Memory, moment: float) -> RankedMemory:
    state = memory.state
    effective = effective_confidence(rules, state, moment)
    return RankedMemory(
        id=memory.id,
        text=memory.text,
        type=state.type.value,
        source=memory.sources[0] if memory.sources else None,
        confidence=state.confidence,
        effective_confidence=effective,
        score=effective,
        lines={
            language: memory_line(
                memory.text, state.type, confidence=state.confidence, language=language
            )
            for language in LANGUAGES
        },
    )


def ranked_past_tasks(
    connection: Connection, project_id: int, rules: MemoryRules, *, at: float | None
) -> tuple[RankedTask, ...]:
    """The newest past tasks whose text is known, each once."""
    tasks = newest_past_tasks(connection, project_id, limit=rules.max_past_tasks, at=at)
    return tuple(map(_presented_task, tasks))


def _presented_task(task: PastTask) -> RankedTask:
    return RankedTask(
        id=task.outcome_id,
        task_id=task.task_id,
        text=task.instruction,
        success=task.success,
        verdict=task.verdict,
        ended_at=task.ended_at,
        score=0.0,
        lines={
            language: past_task_line(task.instruction, success=task.success, language=language)
            for language in LANGUAGES
        },
    )
