"""Keep the past tasks that agents find at prompt time up to date with the store.

New ones are added in the order of their rows. What that misses is put right when all that is cached
is compared with the store, every half minute while a project changes: rows that were committed
late, records that were amended or erased, and whatever a flushed or restored server has lost.
"""

import time
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import msgspec
import redis
import structlog
from sqlalchemy import Connection, Engine

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.queries.past_tasks import record_of_task
from trackrecord.store.advice.indexed_tasks import (
    NotedTask,
    first_of_newest,
    outcome_of,
    replaced_rows,
    scored_by,
    standing_rows,
    tasks_after,
    tasks_of,
)
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_revisions, revision_of

from .past_task_writer import Known, PastTaskWriter, State, known_states

# One call works for so long at most, and goes on where it was the next time.
_SLICE_S: Final = 2.0
_READ_AT_ONCE: Final = 500
_COMPARE_EVERY_S: Final = 30.0
# When it is full, room is made for this share of it at once.
_ROOM: Final = 50
# Room for rows that are committed after later ones; numbers have 32 bits.
_BEFORE_FIRST: Final = 1_000_000
_NUMBERS: Final = 2**32
# When so much is to be removed, all is made anew.
_MUCH: Final = 10

_log = structlog.get_logger(__name__)


class PastTaskIndexer:
    """Bring the cached past tasks of all projects up to date.

    Args:
        engine: the store.
        client: a patient Redis client.
        settings: how many past tasks are cached.
    """

    def __init__(self, engine: Engine, client: redis.Redis, settings: DaemonSettings) -> None:
        self._engine = engine
        self._client = client
        self._settings = settings
        self._most = settings.memories.max_found_tasks

    def update_due(self) -> int:
        """Update the projects that changed, within a slice of time; return how many there were."""
        deadline = time.monotonic() + _SLICE_S
        with reading(self._engine) as connection:
            revisions = project_revisions(connection)
        known = known_states(self._client, self._settings, list(revisions))
        due = [name for name, revision in revisions.items() if self._is_due(known[name], revision)]
        updated = 0
        for project in due:
            if time.monotonic() > deadline:
                break
            updated += self.update(project, deadline=deadline)
        return updated

    def _is_due(self, known: Known, revision: int) -> bool:
        if not self._most:
            return known.revision is not None
        if known.state is None or known.revision != revision:
            return True
        return self._must_compare(known.state, revision)

    def update(self, project: str, *, deadline: float | None = None) -> bool:
        """Update one project; return whether another worker was not at it already.

        Args:
            project: its name.
            deadline: when to stop and leave the rest for the next time, on the monotonic clock.
        """
        writer = PastTaskWriter(self._client, self._settings, project)
        with writer.alone() as is_alone:
            if not is_alone:
                return False
            try:
                if self._most:
                    self._update(writer, project, deadline)
                else:
                    writer.forget()
            except msgspec.DecodeError:  # written by another version
                writer.forget()
        return True

    def _update(self, writer: PastTaskWriter, project: str, deadline: float | None) -> None:
        started = time.perf_counter()
        with reading(self._engine) as connection:
            found = revision_of(connection, project)
            if found is None:
                writer.forget()
                return
            project_id, revision = found
            state = self._valid(connection, project_id, writer.read().state)
            if state is None:
                writer.forget()
                state = self._begun(connection, project_id, revision)
        before = state.through
        state, is_complete = self._add_new(writer, project_id, state, deadline)
        if is_complete and self._must_compare(state, revision):
            state = self._compare(writer, project_id, state, revision)
        self._make_room(writer)
        # An agent looks at the newest past tasks of its rankings, too, while this is behind them.
        writer.note(state, revision if is_complete else 0)
        _log.debug(
            "past_tasks_cached",
            project=project,
            rows=state.through - before,
            complete=is_complete,
            milliseconds=round((time.perf_counter() - started) * 1000, 1),
        )

    def _valid(self, connection: Connection, project_id: int, state: State | None) -> State | None:
        """Return the state unless the store is another one than it was made from."""
        if state is None or state.scored_by != _digest(scored_by(connection, project_id)):
            return None
        if state.through_id != outcome_of(connection, project_id, state.through):
            return None
        return state if state.through - state.base < _NUMBERS - _BEFORE_FIRST else None

    def _begun(self, connection: Connection, project_id: int, revision: int) -> State:
        first = first_of_newest(connection, project_id, self._most)
        return State(
            base=max(0, first - _BEFORE_FIRST),
            through=first - 1,
            through_id=outcome_of(connection, project_id, first - 1),
            scored_by=_digest(scored_by(connection, project_id)),
            compared_at=time.time(),
            compared_revision=revision,
        )

    def _add_new(
        self, writer: PastTaskWriter, project_id: int, state: State, deadline: float | None
    ) -> tuple[State, bool]:
        """Add past tasks in the order of their rows; return whether there are no more."""
        while True:
            with reading(self._engine) as connection:
                tasks = tasks_after(
                    connection, project_id, after=state.through, limit=_READ_AT_ONCE
                )
                names = [task.outcome_id for task in tasks]
                gone = replaced_rows(connection, project_id, names) if tasks else []
            if not tasks:
                return state, True
            self._add(writer, state, tasks)
            writer.remove(_numbers(state, gone))
            last = tasks[-1]
            state = msgspec.structs.replace(state, through=last.row, through_id=last.outcome_id)
            if len(tasks) < _READ_AT_ONCE:
                return state, True
            # Whoever is killed goes on from here.
            writer.note(state, 0)
            self._make_room(writer)
            if deadline is not None and time.monotonic() > deadline:
                return state, False

    def _add(self, writer: PastTaskWriter, state: State, tasks: Sequence[NotedTask]) -> None:
        writer.add(
            [
                (task.row - state.base, record_of_task(task))
                for task in tasks
                if task.row >= state.base
            ]
        )

    def _must_compare(self, state: State, revision: int) -> bool:
        age_s = time.time() - state.compared_at
        if state.compared_revision != revision and age_s > _COMPARE_EVERY_S:
            return True
        return age_s > min(self._settings.rankings_max_age_s, self._settings.rankings_ttl_s / 2)

    def _compare(
        self, writer: PastTaskWriter, project_id: int, state: State, revision: int
    ) -> State:
        """Add what is missing of the newest past tasks, and remove what no longer stands."""
        cached = {number + state.base for number in writer.order()}
        first = min(cached, default=state.through)
        with reading(self._engine) as connection:
            rows = standing_rows(connection, project_id, first=first, last=state.through)
            standing = set(rows)
            gone = cached - standing
            if len(gone) > len(cached) // _MUCH:
                writer.forget()
                return msgspec.structs.replace(state, through=-1, through_id=None, form=0)
            missing = tasks_of(connection, project_id, sorted(standing - cached))
        writer.remove(_numbers(state, sorted(gone)))
        self._add(writer, state, missing)
        writer.set_order(row - state.base for row in rows)
        return msgspec.structs.replace(state, compared_at=time.time(), compared_revision=revision)

    def _make_room(self, writer: PastTaskWriter) -> None:
        """Remove the oldest past tasks when there are too many."""
        if writer.length() <= self._most:
            return
        order = writer.order()
        excess = len(order) - self._most + self._most // _ROOM
        writer.remove(order[:excess].tolist())
        writer.set_order(order[excess:])


def _numbers(state: State, rows: Sequence[int]) -> list[int]:
    return [row - state.base for row in rows if row >= state.base]


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()
