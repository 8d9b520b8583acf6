"""opencode's database, read without ever writing to it or touching its credentials.

The same file holds the keys and the accounts of the person. SQLite itself is told which tables may
be read, so that no mistake here can reach the others.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from ...agent_run import AgentRun, RunCall, run_outcome_id
from ..databases import open_read_only
from ..json_values import object_from
from ..source import Log, ReadRun, RecordedPrompt, Unreadable
from ..sub_agents import with_calls_of_sub_agent
from .records import Record, Session, StoredMessage, whole_message_in
from .runs import NAME, exchanges, runs_of

_READABLE: Final = frozenset(
    {"session", "message", "part", "session_v2", "session_message", "project", "sqlite_master"}
)
# How the tables of a later version are named.
_VERSIONED: Final = re.compile(r"(?:session|message|part|session_message)_v\d+")
# A part with a longer text than this (a file that was attached) holds no call.
_LONGEST_PART: Final = 16 * 1024 * 1024


class _Queries(NamedTuple):
    """The questions that are put to the tables of one version.

    Attributes:
        tables: those that it needs.
        sessions: the sessions that changed at a moment or later.
        messages: the messages of a session, in order.
        prompt: the last prompt of a session up to a moment.
        parents: the message of a session whose call started another session.
        project: the working tree of the project that a session belongs to.
    """

    tables: frozenset[str]
    sessions: str
    messages: str
    prompt: str
    parents: str
    project: str


_CHANGED: Final = """
    SELECT s.id, coalesce(s.parent_id, ''), coalesce(s.directory, ''),
           coalesce(json_extract(s.revert, '$.messageID'), ''),
           CASE WHEN s.revert IS NULL THEN 0 ELSE s.time_updated END AS reverted_at,
           max(m.time_updated) AS changed_at, s.time_created
    FROM {session} s JOIN {message} m ON m.session_id = s.id
    GROUP BY s.id
    HAVING max(reverted_at, changed_at) >= ?
    ORDER BY max(reverted_at, changed_at), s.id
"""
_ASKED: Final = """
    SELECT m.id, s.directory FROM {message} m JOIN {session} s ON s.id = m.session_id
    WHERE m.session_id = ? AND m.time_created <= ? AND {role} = 'user'
    ORDER BY m.time_created DESC, m.id DESC LIMIT 1
"""
_PROJECT: Final = """
    SELECT worktree FROM project WHERE id = (SELECT project_id FROM {session} WHERE id = ?)
"""
_PARTS: Final = """
    SELECT data FROM part WHERE message_id = ? AND length(data) <= ? ORDER BY time_created, id
"""
_FIRST: Final = _Queries(
    tables=frozenset({"session", "message"}),
    sessions=_CHANGED.format(session="session", message="message"),
    messages="""
        SELECT id, time_updated, data, '' FROM message
        WHERE session_id = ? ORDER BY time_created, id
    """,
    prompt=_ASKED.format(
        session="session", message="message", role="json_extract(m.data, '$.role')"
    ),
    parents="""
        SELECT message_id FROM part
        WHERE session_id = ? AND json_extract(data, '$.state.metadata.sessionId') = ? LIMIT 1
    """,
    project=_PROJECT.format(session="session"),
)
_SECOND: Final = _Queries(
    tables=frozenset({"session_v2", "session_message"}),
    sessions=_CHANGED.format(session="session_v2", message="session_message"),
    messages="""
        SELECT id, time_updated, data, type FROM session_message
        WHERE session_id = ? ORDER BY seq, id
    """,
    prompt=_ASKED.format(session="session_v2", message="session_message", role="m.type"),
    parents="""
        SELECT id FROM session_message WHERE session_id = ? AND instr(data, ?) LIMIT 1
    """,
    project=_PROJECT.format(session="session_v2"),
)


def open_sessions(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    """Open the database for reading sessions, messages and parts, and for nothing else.

    Raises:
        sqlite3.Error: it cannot be opened.
    """
    return open_read_only(path, _READABLE)


def prompt_at(path: Path, session: str, at: float) -> RecordedPrompt | None:
    """Return the last prompt of a session up to a moment; None if there is none.

    Raises:
        sqlite3.Error: the database cannot be read.
    """
    with open_sessions(path) as database:
        asked = (
            database.execute(queries.prompt, (session, int(at * 1000))).fetchone()
            for queries in _queries_for(_tables(database))
        )
        found = next(filter(None, asked), None)
    return None if found is None else RecordedPrompt(str(found[0]), str(found[1] or ""))


def read_database(log: Log, resume_at: int) -> Iterator[ReadRun | Unreadable]:
    """Yield the runs that changed at a moment or later, and what could not be read.

    Args:
        log: the database.
        resume_at: the moment, in milliseconds since the epoch.
    """
    try:
        with open_sessions(log.path) as connection:
            tables = _tables(connection)
            known = _queries_for(tables)
            later = sorted(filter(_VERSIONED.fullmatch, tables - _READABLE))
            if later or not known:
                reason = f"its tables are not known: {', '.join(later or sorted(tables)[:8])}"
                yield Unreadable(place="the database", reason=reason)
            for queries in known:
                yield from _Reader(connection, queries).read(log, resume_at)
    except sqlite3.Error as error:
        yield Unreadable(place="the database", reason=str(error))


def _tables(connection: sqlite3.Connection) -> frozenset[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return frozenset(name for (name,) in rows)


def _queries_for(tables: frozenset[str]) -> list[_Queries]:
    return [queries for queries in (_FIRST, _SECOND) if queries.tables <= tables]


class _Reader:
    def __init__(self, connection: sqlite3.Connection, queries: _Queries) -> None:
        self._connection = connection
        self._queries = queries
        self._bad: list[Unreadable] = []
        self._parts_of: dict[str, list[Record]] = {}

    def read(self, log: Log, resume_at: int) -> Iterator[ReadRun | Unreadable]:
        rows = self._connection.execute(self._queries.sessions, (resume_at,)).fetchall()
        for number, (name, parent, folder, reverted, reverted_at, _, begun) in enumerate(rows, 1):
            session = Session(
                id=name,
                folder=folder,
                repository=self._repository(name),
                parent=parent,
                reverted=reverted,
                reverted_at=reverted_at,
                begun_at=begun or 0,
            )
            self._parts_of.clear()
            for found in runs_of(
                session,
                list(self._messages(name)),
                self._parts,
                parent=self._parent_run(session),
                since=resume_at,
                position=log.size * number // len(rows),
            ):
                yield msgspec.structs.replace(found, run=self._with_sub_agents(found.run))
            yield from self._bad
            self._bad.clear()

    def _repository(self, session: str) -> str:
        """Return the main working tree of a session's project; "" in versions that name none."""
        try:
            found = self._connection.execute(self._queries.project, (session,)).fetchone()
        except sqlite3.OperationalError:
            return ""
        return "" if found is None else str(found[0] or "")

    def _with_sub_agents(self, run: AgentRun) -> AgentRun:
        """Return a run with what its sub-agents did."""
        if not any(call.sub_agent and call.sub_agent.id for call in run.calls):
            return run
        return msgspec.structs.replace(run, calls=tuple(map(self._with_sub_agent, run.calls)))

    def _with_sub_agent(self, call: RunCall) -> RunCall:
        if call.sub_agent is None or not call.sub_agent.id:
            return call
        session = Session(id=call.sub_agent.id)
        runs = runs_of(session, list(self._messages(session.id)), self._parts)
        inner = [each for found in runs for each in found.run.calls]
        return with_calls_of_sub_agent(call, inner) if inner else call

    def _messages(self, session_id: str) -> Iterator[StoredMessage]:
        rows = self._connection.execute(self._queries.messages, (session_id,))
        for message_id, touched, data, kind in rows:
            try:
                if kind:
                    message, self._parts_of[message_id] = whole_message_in(data, kind)
                else:
                    message = object_from(data)
            except (ValueError, RecursionError) as error:
                self._bad.append(Unreadable(place=f"message {message_id}", reason=str(error)))
            else:
                yield StoredMessage(message_id, touched, message)

    def _parts(self, message_id: str) -> list[Record]:
        if self._queries is _SECOND:
            return self._parts_of.get(message_id, [])
        parts = []
        for (data,) in self._connection.execute(_PARTS, (message_id, _LONGEST_PART)):
            try:
                parts.append(object_from(data))
            except (ValueError, RecursionError) as error:
                place = f"a part of message {message_id}"
                self._bad.append(Unreadable(place=place, reason=str(error)))
        return parts

    def _parent_run(self, session: Session) -> str:
        """Return the outcome_id of the run whose call started this session; "" if none is found."""
        asked = session.parent, session.id
        found = self._connection.execute(self._queries.parents, asked).fetchone()
        if found is None:
            return ""
        owner = Session(id=session.parent)
        messages = list(self._messages(session.parent))
        for exchange in exchanges(owner, messages, self._parts):
            if any(stored.id == found[0] for stored in exchange.messages):
                return run_outcome_id(NAME, session.parent, exchange.messages[0].id)
        return ""
