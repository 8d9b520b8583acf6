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
from trackrecord.prompt.past_task_cache import alone_with_tasks
from trackrecord.queries.past_tasks import record_of_task
from trackrecord.store.advice.indexed_tasks import (
    NotedTask,
    first_of_all,
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
from trackrecord.times import believed_age

from .past_task_writer import CachedTasks, PastTaskWriter, State, known_states

# One call works for so long at most, and goes on where it was the next time.
_SLICE_S: Final = 2.0
_READ_AT_ONCE: Final = 2000
_COMPARE_EVERY_S: Final = 30.0
# When it is full, room is made for this share of it at once.
_ROOM: Final = 50
# Room for rows that are committed after later ones; numbers have 32 bits.
_BEFORE_FIRST: Final = 1_000_000
_NUMBERS: Final = 2**32
# When more than so much is to be changed, all is made anew.
_FEW: Final = 1000
_MUCH: Final = 10
_TO_BE_MADE_ANEW: Final = 0

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

    def _is_due(self, known: CachedTasks, revision: int) -> bool:
        if not self._most:
            return known.revision is not None
        if known.state is None or known.revision != revision:
            return True
        return self._must_compare(known.state, revision)

    def update(self, project: str, *, deadline: float | None = None, compare: bool = False) -> bool:
        """Update one project; return whether another worker was not at it already.

        Args:
            project: its name.
            deadline: when to stop and leave the rest for the next time, on the monotonic clock.
            compare: compare all with the store, however recently that was done.
        """
        writer = PastTaskWriter(self._client, self._settings, project)
        with alone_with_tasks(self._client, self._settings.keys, project) as is_alone:
            if not is_alone:
                return False
            try:
                if self._most:
                    self._update(writer, project, deadline, compare=compare)
                else:
                    writer.forget()
            except msgspec.DecodeError:  # written by another version
                writer.forget()
        return True

    def _update(
        self, writer: PastTaskWriter, project: str, deadline: float | None, *, compare: bool
    ) -> None:
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
        if is_complete and (compare or self._must_compare(state, revision)):
            state = self._compare(writer, project_id, state, revision)
        state = self._with_room(writer, state)
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
        if state is None or state.made_for != self._made_for(connection, project_id):
            return None
        if state.through_id != outcome_of(connection, project_id, state.through):
            return None
        return state if state.through - state.base < _NUMBERS - _BEFORE_FIRST else None

    def _made_for(self, connection: Connection, project_id: int) -> str:
        """Return what stands for the rules that verdicts follow, and for how many are cached."""
        rules = f"{self._most} {scored_by(connection, project_id)}"
        return blake2b(rules.encode(), digest_size=8).hexdigest()

    def _begun(self, connection: Connection, project_id: int, revision: int) -> State:
        first = first_of_newest(connection, project_id, self._most)
        oldest = first or first_of_all(connection, project_id) or 1
        return State(
            base=max(0, oldest - _BEFORE_FIRST),
            first=first or 0,
            through=oldest - 1,
            through_id=outcome_of(connection, project_id, oldest - 1),
            made_for=self._made_for(connection, project_id),
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
            state = self._with_room(writer, state)
            writer.note(state, 0)
            if deadline is not None and time.monotonic() > deadline:
                return state, False

    def _add(self, writer: PastTaskWriter, state: State, tasks: Sequence[NotedTask]) -> None:
        numbered = [
            (task.row - state.base, record_of_task(task))
            for task in tasks
            if task.row >= state.base
        ]
        if numbered:
            writer.add(numbered)

    def _must_compare(self, state: State, revision: int) -> bool:
        age_s = believed_age(time.time() - state.compared_at)
        if state.compared_revision != revision and age_s > _COMPARE_EVERY_S:
            return True
        return age_s > min(self._settings.rankings_max_age_s, self._settings.rankings_ttl_s / 2)

    def _compare(
        self, writer: PastTaskWriter, project_id: int, state: State, revision: int
    ) -> State:
        """Add what is missing of the newest past tasks, and remove what no longer stands."""
        cached = {number + state.base for number in writer.order()}
        with reading(self._engine) as connection:
            first = max(state.first, state.base)
            rows = standing_rows(connection, project_id, first=first, last=state.through)
            standing = set(rows)
            gone, missing = cached - standing, standing - cached
            if len(gone) + len(missing) > _FEW + len(standing) // _MUCH:
                writer.forget()
                return msgspec.structs.replace(state, form=_TO_BE_MADE_ANEW)
            tasks = tasks_of(connection, project_id, sorted(missing))
        writer.remove(_numbers(state, sorted(gone)))
        self._add(writer, state, sorted(tasks, key=lambda task: task.row))
        writer.set_order(row - state.base for row in rows)
        return msgspec.structs.replace(state, compared_at=time.time(), compared_revision=revision)

    def _with_room(self, writer: PastTaskWriter, state: State) -> State:
        """Remove the oldest past tasks when there are too many."""
        if writer.length() <= self._most:
            return state
        order = writer.order()
        excess = len(order) - self._most + self._most // _ROOM
        writer.remove(order[:excess].tolist())
        writer.set_order(order[excess:])
        return msgspec.structs.replace(state, first=state.base + order[excess])


def _numbers(state: State, rows: Sequence[int]) -> list[int]:
    return [row - state.base for row in rows if row >= state.base]
