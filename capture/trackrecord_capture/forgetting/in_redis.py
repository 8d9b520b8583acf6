"""Data in Redis about a subject: unlearnt entries, dead letters, errors in flight, the cache.

Entries are looked through page by page, so that no more than a page of them is in memory.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, get_args

import redis
import structlog
from sqlalchemy import Engine

from trackrecord.inflight.reports import task_digest
from trackrecord.inflight.store import InFlightStore
from trackrecord.learning.text.project_names import DEFAULT_PROJECT
from trackrecord.prompt.reading.cache import ADVICE_REVISION, REVISION, write_advice, write_document
from trackrecord.redis.dead_letter_stream import ADDED, CUT
from trackrecord.redis.keys import Keys
from trackrecord.redis.shards import all_shards, servers_of
from trackrecord.redis.stream_removal import take_out
from trackrecord.resources.prompt_documents.advice import (
    count_advice,
    with_moments,
)
from trackrecord.resources.prompt_documents.prompt_document import rank_project
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.forgotten import Kind, digest_of_id
from trackrecord.store.outcomes.projects import clock_of
from trackrecord.wire.subject import Subject, told_by

from ..sources.register import own_tool_names

_KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_OUTCOME: Final = "outcome"


@dataclass(frozen=True)
class ForgetScope:
    """The scope of forgetting, as far as it shows in a body.

    Attributes:
        subject: the source, the task or the project.
        tasks: the tasks that nothing else tells of: what they were handed, and the errors that they
            met, go with them.
    """

    subject: Subject
    tasks: frozenset[str] = frozenset()

    def holds(self, kind: str, body: bytes) -> bool:
        """Return whether a body goes.

        Args:
            kind: the kind of report in it.
            body: the body, valid or not. One that cannot be read goes where the name stands in it.
        """
        told = told_by(body)
        if told is None:
            return self._may_be_in(body)
        if self.subject.concerns(told):
            return True
        is_neighbour = kind != _OUTCOME and told.project == self.subject.project
        return is_neighbour and not self.tasks.isdisjoint(told.tasks)

    def _may_be_in(self, body: bytes) -> bool:
        subject = self.subject
        if not subject.may_be_in(body):
            return False
        of_project = Subject("project", subject.project, subject.project)
        return subject.project == DEFAULT_PROJECT or of_project.may_be_in(body)

    def marks(self, kind: str, body: bytes, entry_id: str = "") -> Iterator[bytes]:
        """Yield the marks of a body's ids, so that it is recognised when it arrives again.

        Args:
            kind: the kind of report in it.
            body: the body.
            entry_id: that of its entry in the stream, which names what has no id of its own.
        """
        told = told_by(body)
        known = next((each for each in _KINDS if each == kind), None)
        if told is None or known is None:
            return
        given = told.body_id or (entry_id and f"stream:{entry_id}")
        if given:
            yield digest_of_id(known, self.subject.project, given)


_log = structlog.get_logger(__name__)

_PAGE: Final = 500
_DELETED_AT_ONCE: Final = 500
# What is computed from the store before it forgot is written to the cache by then.
_LATE_S: Final = 60
# The fields of an entry that hold no report.
_BESIDE: Final = frozenset({b"v", *ADDED})
_BODY: Final = b"body"

Fields = Mapping[bytes, bytes]


@dataclass
class InRedis:
    """Data in Redis about a subject.

    Attributes:
        entries: the ids of the entries that are not learnt yet, by shard.
        letters: the ids of the dead letters, by shard.
        tasks: the digests of the tasks in flight.
        marks: what stands for the ids of the entries.
    """

    entries: dict[Keys, list[bytes]] = field(default_factory=dict)
    letters: dict[Keys, list[bytes]] = field(default_factory=dict)
    tasks: list[bytes] = field(default_factory=list)
    marks: set[bytes] = field(default_factory=set)


class RedisPlace:
    """Find and forget a subject in Redis.

    Args:
        client: a patient Redis client.
        settings: the names of the keys, and the rules.
        goes: what is to be forgotten.
    """

    def __init__(self, client: redis.Redis, settings: DaemonSettings, goes: ForgetScope) -> None:
        self._client = client
        self._settings = settings
        self._keys = settings.keys
        self._goes = goes

    def find(self) -> InRedis:
        """Return the counts; changes nothing."""
        found = InRedis()
        for shard in all_shards(self._client, self._keys):
            entries = found.entries[shard] = []
            letters = found.letters[shard] = []
            for entry_id, fields in self._pages(shard.outcomes):
                if self._holds(fields):
                    entries.append(entry_id)
                    found.marks.update(self._marks(fields, shard.mark(entry_id.decode())))
            for entry_id, fields in self._pages(shard.dead):
                if self._holds(fields) or self._names(fields):
                    letters.append(entry_id)
                    learnt_as = fields.get(b"entry_id", b"").decode(errors="replace")
                    found.marks.update(self._marks(fields, learnt_as))
        found.tasks = list(self._tasks())
        return found

    def _pages(self, stream: str) -> Iterator[tuple[bytes, Fields]]:
        start = "-"
        while True:
            page: Any = self._client.xrange(stream, min=start, count=_PAGE)
            yield from page
            if len(page) < _PAGE:
                return
            start = "(" + page[-1][0].decode()

    def _holds(self, fields: Fields) -> bool:
        return any(self._goes.holds(kind, body) for kind, body in _reports(fields))

    def _names(self, fields: Fields) -> bool:
        """Return whether a letter that cannot be read whole any more names the subject."""
        name = self._goes.subject.name.encode()
        return CUT in fields and any(name in value for value in fields.values())

    def _marks(self, fields: Fields, entry_id: str) -> Iterator[bytes]:
        for kind, body in _reports(fields):
            yield from self._goes.marks(kind, body, entry_id)

    def _tasks(self) -> Iterator[bytes]:
        """Yield the digests of tasks in flight that are the subject's."""
        project = self._goes.subject.project
        digests: dict[bytes, None] = {}
        for shard in all_shards(self._client, self._keys):
            some: Any = self._client.zrange(shard.tasks_in_flight(project), 0, -1)
            digests |= dict.fromkeys(some)
        if self._goes.subject.what == "project":
            yield from digests
            return
        own = {task_digest(each).encode() for each in self._goes.tasks}
        yield from (each for each in digests if each in own)

    def forget_reports(self, found: InRedis) -> None:
        """Delete entries, dead letters and errors; a worker may have learnt some meanwhile."""
        for shard, entries in found.entries.items():
            for some in _some(entries):
                take_out(self._client, shard, some)
        for shard, letters in found.letters.items():
            for some in _some(letters):
                self._client.xdel(shard.dead, *some)
        project = self._goes.subject.project
        # An earlier version may have left some, which may mention what is forgotten.
        self._client.delete(self._keys.notifications)
        for shard in all_shards(self._client, self._keys):
            store = InFlightStore(self._client, shard, project, self._settings.errors)
            for task in found.tasks:
                store.forget(task.decode())
            if self._goes.subject.what == "project":
                for name in shard.indexes(project):
                    self._client.delete(name)

    def renew_cache(self, engine: Engine, now: float) -> None:
        """Replace cached results by results computed from the store as it is now."""
        project = self._goes.subject.project
        rankings, *others = self._keys.computed(project)
        self._client.unlink(*others)
        for shard in all_shards(self._client, self._keys):
            # The project's own before the number of shards was changed.
            if shard.rankings(project) != rankings:
                self._client.unlink(*shard.computed(project))
        if self._goes.subject.what != "project":
            self._write(engine, now)
            return
        with self._client.pipeline(transaction=True) as pipe:
            pipe.delete(rankings)
            # A worker that read the store before writes what it computed in vain.
            stamp = clock_of(now)
            pipe.hset(rankings, mapping={REVISION: stamp, ADVICE_REVISION: stamp})
            pipe.expire(rankings, _LATE_S)
            pipe.execute()

    def _write(self, engine: Engine, now: float) -> None:
        settings, project = self._settings, self._goes.subject.project
        with reading(engine) as connection:
            document, _ = rank_project(connection, project, settings.rules, now=now)
            advice, _ = count_advice(
                connection, project, settings.rules, now=now, tool_names=own_tool_names()
            )
            advice, moments = with_moments(connection, project, advice)
        write_document(self._client, settings, document, force=True)
        write_advice(self._client, settings, advice, cost_s=0.0, force=True, moments=moments)

    def rewrite_files(self) -> None:
        """Have Redis rewrite its files, if it keeps any; log it if our user may not."""
        for server in servers_of(self._client):
            _rewrite_files(server)


def _rewrite_files(server: redis.Redis) -> None:
    persistence: Mapping[str, Any] = {}
    with suppress(redis.ResponseError), _logged_refusal("BGREWRITEAOF"):
        persistence = server.info("persistence")
        if persistence.get("aof_enabled"):
            server.bgrewriteaof()
    has_snapshot = persistence.get("rdb_last_bgsave_time_sec", -1) != -1
    with suppress(redis.ResponseError):
        with suppress(redis.exceptions.NoPermissionError):
            saves: Any = server.config_get("save")
            has_snapshot = bool(saves.get("save"))
        if has_snapshot:
            with _logged_refusal("BGSAVE"):
                server.bgsave(schedule=True)


@contextmanager
def _logged_refusal(command: str) -> Iterator[None]:
    try:
        yield
    except redis.exceptions.NoPermissionError as error:
        _log.warning(
            "redis_files_not_rewritten",
            reason=str(error),
            effect=f"Redis's files keep what is forgotten: send {command} as an admin",
        )


def _reports(fields: Fields) -> Iterator[tuple[str, bytes]]:
    """Yield the reports in an entry, each with its kind."""
    for name, body in fields.items():
        if name == _BODY:
            yield "outcome", body
        elif name not in _BESIDE:
            yield name.decode(errors="replace"), body


def _some(ids: list[bytes]) -> Iterable[list[bytes]]:
    return (ids[start : start + _DELETED_AT_ONCE] for start in range(0, len(ids), _DELETED_AT_ONCE))
