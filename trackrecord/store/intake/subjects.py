"""Finding the records of a subject: outcomes, tasks that only these mention, memories.

An outcome that several entries tell of belongs to the subject as soon as one of them does: what was
joined cannot be told apart again. A memory belongs to the source that said it first, in its words.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from trackrecord.learning.numbers.speaker_names import speaker_named
from trackrecord.wire.subject import Subject, told_by
from trackrecord.wire.tried_calls import session_of, tried_run

from ..advice.tables import exposures, hints, tried_calls
from ..database.parts import in_parts
from ..ledger.read import number_of
from ..ledger.receipts import of_removed, read_receipts
from ..ledger.subjects import PATTERN, SPEAKER_ITEM, subject_of
from ..memories.tables import memories, memory_sources
from ..outcomes.tables import feedback, outcome_entries, outcomes

_CHUNK = 2000


@dataclass(frozen=True)
class OnRecord:
    """The records of a source or of a task in its project.

    Attributes:
        outcomes: the ids of its outcomes.
        rows: the rows of all their records, in order.
        tasks: the tasks that no other outcome tells of.
        exposures: the ids of what these tasks were handed.
        hints: the ids of the hints in its sessions.
        memories: the ids of the memories that are the source's, in order.
        seconded: the rows of memories that others said first, and the source said again.
        feedback: the ids of the feedback that it gave, in order.
        observations: how many observations of its removed outcomes patterns have.
    """

    outcomes: frozenset[str] = frozenset()
    rows: tuple[int, ...] = ()
    tasks: frozenset[str] = frozenset()
    exposures: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    seconded: tuple[int, ...] = field(default=())
    feedback: tuple[str, ...] = ()
    observations: int = 0


def find_on_record(
    connection: Connection, project_id: int, subject: Subject, *, alone: Collection[str] = ()
) -> OnRecord:
    """Return the records of a source or of a task, or of some outcomes alone.

    Args:
        connection: a transaction.
        project_id: the row of the subject's project.
        subject: a source, or a task.
        alone: the ids of outcomes; where there are any, the subject names only their project.
    """
    ids = frozenset(alone or _outcome_ids(connection, project_id, subject))
    rows, tasks, others = [], set(), set()
    query = select(outcomes.c.id, outcomes.c.outcome_id, outcomes.c.task_id)
    own = query.where(outcomes.c.project_id == project_id).execution_options(yield_per=_CHUNK)
    for row in connection.execute(own):
        if row.outcome_id in ids:
            rows.append(row.id)
            tasks.add(row.task_id)
        else:
            others.add(row.task_id)
    if subject.what == "task" and not alone:
        tasks, others = {subject.name}, set()
    only = frozenset(tasks - others)
    said, seconded = _memories(connection, project_id, subject)
    return OnRecord(
        outcomes=ids,
        rows=tuple(sorted(rows)),
        tasks=only,
        exposures=tuple(_exposures(connection, project_id, only)),
        hints=tuple(_hints(connection, project_id, subject, sorted(rows))),
        memories=said,
        seconded=seconded,
        feedback=tuple(_feedback(connection, project_id, subject)),
        observations=(
            _count_removed(connection, project_id, speaker_named(subject.name))
            if subject.what == "source"
            else 0
        ),
    )


def _count_removed(connection: Connection, project_id: int, speaker: str) -> int:
    number = number_of(connection, project_id, SPEAKER_ITEM, speaker)
    if number is None:
        return 0
    removed = read_receipts(connection, project_id, of_removed(number))
    return sum(
        n for receipt in removed for _, cell, n, *_ in receipt.rows if subject_of(cell) == PATTERN
    )


def _outcome_ids(connection: Connection, project_id: int, subject: Subject) -> Iterator[str]:
    """Yield the ids of the outcomes of the subject's records and entries."""
    if subject.what == "task":
        own = outcomes.c.project_id == project_id
        query = select(outcomes.c.outcome_id).where(own, outcomes.c.task_id == subject.name)
        yield from connection.execute(query).scalars()
    for table in (outcome_entries,) if subject.what == "task" else (outcomes, outcome_entries):
        bodies = select(table.c.outcome_id, table.c.body).where(table.c.project_id == project_id)
        for row in connection.execute(bodies.execution_options(yield_per=_CHUNK)):
            if _concerns(subject, row.body):
                yield row.outcome_id


def _concerns(subject: Subject, body: bytes) -> bool:
    # Most bodies do not hold the name at all, and looking for it is cheap.
    if not subject.may_be_in(body):
        return False
    told = told_by(body)
    # Which project it is on record for is known, whatever it says.
    names = () if told is None else told.tasks if subject.what == "task" else told.sources
    return subject.name in names


def _exposures(connection: Connection, project_id: int, tasks: frozenset[str]) -> Iterator[str]:
    for some in in_parts(sorted(tasks)):
        query = select(exposures.c.exposure_id).where(
            exposures.c.project_id == project_id, exposures.c.task_id.in_(some)
        )
        yield from connection.execute(query).scalars()


def _hints(
    connection: Connection, project_id: int, subject: Subject, rows: Sequence[int]
) -> Iterator[str]:
    """Yield the hints that a source was given, and those in the sessions of some outcomes."""
    own = select(hints.c.hint_id).where(hints.c.project_id == project_id)
    found: set[str] = set()
    if subject.what == "source":
        found.update(connection.execute(own.where(hints.c.source == subject.name)).scalars())
    sessions: set[str] = set()
    for some in in_parts(rows):
        query = select(tried_calls.c.outcome, tried_calls.c.ended_at, tried_calls.c.digest)
        query = query.where(tried_calls.c.project_id == project_id, tried_calls.c.outcome.in_(some))
        for row in connection.execute(query):
            run = tried_run(row.digest, outcome=row.outcome, ended_at=row.ended_at)
            sessions.add(run.session)
        # An outcome without calls has no row there.
        bodies = select(outcomes.c.body).where(outcomes.c.id.in_(some))
        sessions.update(map(session_of, connection.execute(bodies).scalars()))
    for part in in_parts(sorted(filter(None, sessions))):
        of_sessions = own.where(hints.c.session.in_(part))
        found.update(connection.execute(of_sessions).scalars())
    yield from sorted(found)


def _feedback(connection: Connection, project_id: int, subject: Subject) -> Iterator[str]:
    given = feedback.c
    column = given.task_id if subject.what == "task" else given.source
    query = select(given.feedback_id).where(given.project_id == project_id, column == subject.name)
    yield from connection.execute(query.order_by(given.feedback_id)).scalars()


def _memories(
    connection: Connection, project_id: int, subject: Subject
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the memories that a source stored first, and the rows of those that it repeated."""
    if subject.what != "source":
        return (), ()
    said = memory_sources.c
    query = (
        select(memories.c.id, memories.c.memory_id, memories.c.created_at, said.at)
        .join(memory_sources, said.memory == memories.c.id)
        .where(memories.c.project_id == project_id, said.source == subject.name)
        .order_by(memories.c.id)
    )
    first, after = [], []
    for row in connection.execute(query):
        if row.at <= row.created_at:
            first.append(row.memory_id)
        else:
            after.append(row.id)
    return tuple(first), tuple(after)
