"""Goose: the database of its sessions."""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from trackrecord.wire.storable import decoded

from ..conversation import Conversation
from ..databases import Databases, read_sessions
from ..declaration import Action, CodingAgent, tools_of
from ..json_values import as_count, as_object, as_status, as_text, objects_in, words_in
from ..log_files import data_folder
from ..moments import seconds_of, seconds_of_millis
from ..source import Log, ReadRun, Unreadable

_NAME: Final = "goose"
_TABLES: Final = frozenset({"sessions", "messages", "usage_ledger"})
_MILLIS_FROM: Final = 1e11
_LONGEST: Final = 16 * 1024 * 1024
_EXTENSION: Final = "developer__"
_TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="shell",
    edit="text_editor edit str_replace",
    write="write",
    read="read view",
    search="tree analyze",
    delegate="delegate subagent",
)
TOOLS: Final[Mapping[str, Action]] = {
    name: action for tool, action in _TOOLS.items() for name in (tool, _EXTENSION + tool)
}
_SESSIONS: Final = """
    SELECT s.id, s.working_dir, max(m.created_timestamp) AS changed
    FROM sessions s JOIN messages m ON m.session_id = s.id
    GROUP BY s.id HAVING changed >= ? ORDER BY changed, s.id
"""
_MESSAGES: Final = """
    SELECT id, role, content_json, created_timestamp FROM messages
    WHERE session_id = ? AND length(content_json) <= ? ORDER BY created_timestamp, id
"""
# Versions that do not keep these have no such column, or no such table.
_MODEL: Final = "SELECT model_config_json FROM sessions WHERE id = ?"
_USAGE: Final = """
    SELECT id, created_timestamp, model, input_tokens, output_tokens FROM usage_ledger
    WHERE session_id = ? ORDER BY created_timestamp, id
"""
_EXIT_NAMES: Final = ("exit_code", "exitCode", "exit_status")
_REFUSED: Final = "declined to run this tool"


def _folder() -> Path:
    """Return the folder of the database."""
    root = os.environ.get("GOOSE_PATH_ROOT")
    return (Path(root) / "data" if root else data_folder("goose")) / "sessions"


def _read(log: Log, resume_at: int) -> Iterator[ReadRun | Unreadable]:
    def conversation(connection: sqlite3.Connection, row: tuple[Any, ...]) -> Conversation:
        return _Session(str(row[0]), str(row[1] or "")).read(connection)

    yield from read_sessions(log, _TABLES, _SESSIONS, resume_at, conversation)


class _Session:
    """Reads the messages of one session."""

    def __init__(self, session: str, folder: str) -> None:
        self.chat = Conversation(_NAME, TOOLS)
        self.chat.session, self.chat.folder = session, folder

    def read(self, connection: sqlite3.Connection) -> Conversation:
        """Take all messages."""
        session = self.chat.session
        self.chat.model = _model(connection, session)
        usage = _rows(connection, _USAGE, session)
        rows = connection.execute(_MESSAGES, (session, _LONGEST))
        for number, role, content, created in rows:
            try:
                blocks = objects_in(decoded(content))
            except (ValueError, RecursionError):
                continue
            while usage and usage[0][1] < created:
                self._count(usage.pop(0))
            self._take(str(number), role, blocks, _moment(created))
        for row in usage:
            self._count(row)
        return self.chat

    def _count(self, row: tuple[Any, ...]) -> None:
        number, _, model, read, written = row
        self.chat.count(str(number), as_count(read), as_count(written), model=as_text(model))

    def _take(self, number: str, role: str, blocks: list[dict[str, Any]], at: float | None) -> None:
        responses = [block for block in blocks if block.get("type") == "toolResponse"]
        for block in responses:
            self._result(block, at)
        if role == "assistant":
            calls = [block for block in blocks if block.get("type") == "toolRequest"]
            self.chat.say(at, is_last=bool(words_in(blocks)) and not calls)
            for block in calls:
                self._use(block, at)
        elif not responses:
            words = words_in(blocks)
            if not words.lstrip().startswith(("<turn-context>", "<info-msg>")):
                # A copied session's messages have numbers of their own.
                self.chat.ask(words, at, start=0, prompt=number, record=words)

    def _use(self, block: dict[str, Any], at: float | None) -> None:
        call = _value(block.get("toolCall"))
        call_id, name = as_text(block.get("id")), as_text(call.get("name"))
        given = as_object(call.get("arguments"))
        is_looking = name.endswith("text_editor") and given.get("command") == "view"
        self.chat.use(call_id, "view" if is_looking else name, given, at)

    def _result(self, block: dict[str, Any], at: float | None) -> None:
        told = as_object(block.get("toolResult") or block.get("tool_result"))
        value, call_id = _value(told), as_text(block.get("id"))
        text = words_in(value.get("content")) or as_text(told.get("error"))
        if _REFUSED in text[:1000]:
            self.chat.refuse(call_id, text, at)
            return
        has_failed = told.get("status") == "error" or value.get("isError") is True
        structured = as_object(value.get("structuredContent"))
        codes = (as_status(structured.get(name)) for name in _EXIT_NAMES)
        code = next((code for code in codes if code is not None), None)
        self.chat.result(call_id, text, ok=not has_failed, at=at, exit_code=code)


def _rows(connection: sqlite3.Connection, query: str, session: str) -> list[tuple[Any, ...]]:
    """Return the rows of a session; none where this version has no such table or column."""
    try:
        return connection.execute(query, (session,)).fetchall()
    except sqlite3.OperationalError:
        return []


def _model(connection: sqlite3.Connection, session: str) -> str:
    rows = _rows(connection, _MODEL, session)
    try:
        config = as_object(msgspec.json.decode(rows[0][0] or "{}")) if rows else {}
    except (ValueError, RecursionError):
        return ""
    return as_text(config.get("model_name"))


def _value(told: object) -> dict[str, Any]:
    """Return what is wrapped as `{"status", "value"}`, or as `{"Ok"}` by older versions."""
    wrapped = as_object(told)
    return as_object(wrapped.get("value") or wrapped.get("Ok") or wrapped)


def _moment(created: object) -> float | None:
    """Return the seconds of a moment, which some versions write in milliseconds."""
    if isinstance(created, str):
        return seconds_of(created)
    count = as_count(created)
    if count is None:
        return None
    return seconds_of_millis(count if count > _MILLIS_FROM else count * 1000)


AGENT: Final = CodingAgent(
    label="Goose",
    source=Databases(
        name=_NAME,
        pattern="goose/sessions/sessions.db",
        homes=lambda: (_folder(),),
        paths_in=lambda place: (place / "sessions.db",),
        read_log=_read,
    ),
    tools=TOOLS,
)
