"""Crush: the database that it keeps in each project."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from trackrecord.wire.storable import decoded

from ...agent_run import SignalKind, run_outcome_id
from ..conversation import Conversation
from ..databases import Databases, read_sessions
from ..declaration import Action, CodingAgent, tools_of
from ..exit_statuses import last_line_status
from ..json_values import as_object, as_status, as_text, object_in, objects_in, value_in
from ..log_files import data_folder
from ..source import Log, ReadRun, Unreadable

_NAME: Final = "crush"
_FILE: Final = "crush.db"
_TABLES: Final = frozenset({"sessions", "messages"})
_LONGEST: Final = 16 * 1024 * 1024
_SHELL: Final = "bash"
_REFUSED: Final = "user denied permission"
TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="bash",
    edit="edit multiedit",
    write="write",
    read="view",
    search="grep glob ls sourcegraph",
    delegate="agent",
)
_SESSIONS: Final = """
    SELECT s.id, s.parent_session_id, max(m.updated_at) AS changed
    FROM sessions s JOIN messages m ON m.session_id = s.id
    GROUP BY s.id HAVING changed >= ? ORDER BY changed, s.id
"""
_MESSAGES: Final = """
    SELECT id, role, parts, model, created_at, updated_at FROM messages
    WHERE session_id = ? AND length(parts) <= ? ORDER BY created_at, rowid
"""


def _homes() -> Sequence[Path]:
    """Return the folders of the projects that it was used in."""
    known = object_in(data_folder("crush") / "projects.json")
    folders = (as_text(each.get("data_dir")) for each in objects_in(known.get("projects")))
    return tuple(Path(folder) for folder in dict.fromkeys(folders) if folder)


def _read(log: Log, resume_at: int) -> Iterator[ReadRun | Unreadable]:
    # The database lies in a folder of the project.
    folder = str(log.path.absolute().parent.parent)

    def conversation(connection: sqlite3.Connection, row: tuple[Any, ...]) -> Conversation:
        return _Session(str(row[0]), str(row[1] or ""), folder).read(connection)

    yield from read_sessions(log, _TABLES, _SESSIONS, resume_at, conversation)


class _Session:
    """Reads the messages of one session."""

    def __init__(self, session: str, parent: str, folder: str) -> None:
        self.chat = Conversation(_NAME, TOOLS)
        self.chat.session, self.chat.folder = session, folder
        if parent:
            self.chat.parent = run_outcome_id(_NAME, parent, "")

    def read(self, connection: sqlite3.Connection) -> Conversation:
        """Take all messages."""
        rows = connection.execute(_MESSAGES, (self.chat.session, _LONGEST))
        for number, role, parts, model, created, updated in rows:
            try:
                found = objects_in(decoded(parts))
            except (ValueError, RecursionError):
                continue
            told = [(part.get("type"), as_object(part.get("data"))) for part in found]
            self._take(str(number), str(role), told, float(created or 0), float(updated or 0))
            if model and role == "assistant":
                self.chat.count("", None, None, model=str(model))
        return self.chat

    def _take(
        self,
        number: str,
        role: str,
        parts: list[tuple[object, dict[str, Any]]],
        created: float,
        updated: float,
    ) -> None:
        if role == "user":
            texts = (as_text(data.get("text")) for kind, data in parts if kind == "text")
            hidden = any(data.get("hidden") is True for kind, data in parts if kind == "text")
            if not hidden:
                self.chat.ask("\n".join(texts), created, start=0, prompt=number)
            for kind, data in parts:
                if kind == "shell_command":
                    self._typed(number, data, created)
        for kind, data in parts:
            if kind == "tool_call":
                self._use(data, created)
            elif kind == "tool_result":
                self._result(data, created)
            elif kind == "finish" and role == "assistant":
                self._finish(data, updated)

    def _use(self, data: dict[str, Any], at: float) -> None:
        name, given = as_text(data.get("name")), value_in(as_text(data.get("input")), {})
        self.chat.use(as_text(data.get("id")), name, given, at)

    def _typed(self, number: str, data: dict[str, Any], at: float) -> None:
        """Take a command that the person ran."""
        given = {"command": as_text(data.get("command"))}
        self.chat.use(number, _SHELL, given, at, actor="user")
        code = as_status(data.get("exit_code"))
        output = as_text(data.get("output"))
        self.chat.result(number, output, ok=True, at=at, exit_code=code)

    def _result(self, data: dict[str, Any], at: float) -> None:
        call_id, text = as_text(data.get("tool_call_id")), as_text(data.get("content"))
        has_failed = data.get("is_error") is True
        if has_failed and _REFUSED in text[:200].lower():
            self.chat.refuse(call_id, text, at)
            return
        exit_code = None
        if self.chat.is_shell(call_id):
            text = text.partition("\n\n<cwd>")[0]
            text, exit_code = last_line_status(text)
            if exit_code is None and not has_failed:
                exit_code = 0
        self.chat.result(call_id, text, ok=not has_failed, at=at, exit_code=exit_code)

    def _finish(self, data: dict[str, Any], at: float) -> None:
        reason, says = data.get("reason"), as_text(data.get("message"))
        if reason == "canceled":
            self.chat.see(SignalKind.INTERRUPTED, "", at)
        elif reason in ("error", "content_filter"):
            self.chat.see(SignalKind.API_FAILED, says, at)
        else:
            self.chat.say(at, is_last=reason in ("end_turn", "max_tokens"))


AGENT: Final = CodingAgent(
    label="Crush",
    source=Databases(
        name=_NAME,
        pattern=".crush/crush.db",
        homes=_homes,
        paths_in=lambda place: (place / _FILE, place / ".crush" / _FILE),
        read_log=_read,
    ),
    tools=TOOLS,
)
