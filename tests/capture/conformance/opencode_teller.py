"""Stories as opencode records them: sessions, messages and parts in its database."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.capture.conformance.conformance_stories import (
    FOLDER,
    ApiFails,
    Crash,
    Delegate,
    Edit,
    Interrupt,
    Killed,
    LimitReached,
    Refused,
    Shell,
    Step,
    Story,
    Traits,
)
from trackrecord_capture.sources.opencode import AGENT

SESSION = "ses_1"
_CHILD = "ses_2"
_START_MS = 1_795_319_900_000
TABLES = """
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL,
        revert text, time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
"""
_REFUSED = "The user rejected permission to use this specific tool call."
_STOPPED = "\n\n<bash_metadata>\nUser aborted the command\n</bash_metadata>"


class OpenCodeTeller:
    """Writes the database of a session and of its sub-agents."""

    name = "opencode"
    source = AGENT.source
    traits = Traits(edit_tool="write", delegate_tool="task", grows=False)

    def tell(self, story: Story, home: Path) -> Sequence[Path]:
        """Write the story; return the folder of the database."""
        with closing(sqlite3.connect(home / "opencode.db")) as connection:
            connection.executescript(TABLES)
            session = Session(connection, SESSION)
            for turn in story.turns:
                session.prompt(turn.prompt)
                for step in turn.steps:
                    session.step(step)
            connection.commit()
        return (home,)


class Session:
    """One session while it is being written."""

    def __init__(self, connection: sqlite3.Connection, name: str, parent: str = "") -> None:
        self._connection = connection
        self._name = name
        self._count = 0 if not parent else 100
        row = (name, parent or None, FOLDER, None, _START_MS, _START_MS)
        connection.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", row)

    def _tick(self) -> int:
        self._count += 1
        return _START_MS + 1000 * self._count

    def _message(self, data: dict[str, Any], *parts: dict[str, Any]) -> str:
        at = self._tick()
        name = f"msg_{self._name}_{self._count:04}"
        data = {"time": {"created": at, "completed": at + 500}} | data
        row = (name, self._name, at, at, json.dumps(data))
        self._connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
        for number, part in enumerate(parts):
            part_row = (f"{name}/{number}", name, self._name, at, at, json.dumps(part))
            self._connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", part_row)
        return name

    def prompt(self, text: str) -> None:
        """Return a person's prompt; `opencode run` puts quotes around it."""
        self._message({"role": "user"}, {"type": "text", "text": f'"{text}"'})

    def _answer(self, *parts: dict[str, Any], **fields: Any) -> None:
        path = {"cwd": FOLDER, "root": FOLDER}
        told = {"role": "assistant", "finish": "tool-calls", "modelID": "m", "path": path} | fields
        self._message(told, *parts)

    def _fails(self, name: str, message: str) -> None:
        self._answer(finish=None, error={"name": name, "data": {"message": message}})

    def step(self, step: Step) -> None:
        """One thing that happens."""
        if isinstance(step, Shell):
            self._shell(step)
        elif isinstance(step, Edit):
            given = {"filePath": step.file, "content": step.content}
            self._use("write", given, output="Wrote file successfully.")
        elif isinstance(step, Refused):
            given = {"filePath": step.file, "content": "x"}
            self._use("write", given, status="error", error=_REFUSED)
        elif isinstance(step, Delegate):
            self._delegate(step)
        elif isinstance(step, Killed):
            at = _START_MS + 1000 * (self._count + 1)
            given = {"status": "running", "input": {"command": step.command}, "time": {"start": at}}
            call = {"type": "tool", "tool": "bash", "callID": f"call_{self._count}", "state": given}
            self._answer(call, finish=None, time={"created": at})
        elif isinstance(step, Interrupt):
            self._fails("MessageAbortedError", "The operation was aborted.")
        elif isinstance(step, ApiFails):
            self._fails("APIError", step.message)
        elif isinstance(step, Crash):
            self._fails("UnknownError", step.message)
        elif isinstance(step, LimitReached):
            self._fails("MessageOutputLengthError", "")
        else:
            self._answer({"type": "text", "text": step.text}, finish="stop")

    def _use(
        self, tool: str, given: dict[str, Any], status: str = "completed", **state: Any
    ) -> None:
        at = _START_MS + 1000 * (self._count + 1)
        inner = {"status": status, "input": given, "time": {"start": at, "end": at + 250}} | state
        call = f"call_{self._count}"
        self._answer({"type": "tool", "tool": tool, "callID": call, "state": inner})

    def _shell(self, step: Shell) -> None:
        stopped = step.exit_code is None
        output = step.output + (_STOPPED if stopped else "")
        metadata = {"exit": step.exit_code, "output": output}
        self._use("bash", {"command": step.command}, output=output, metadata=metadata)

    def _delegate(self, step: Delegate) -> None:
        start = self._tick()
        child = Session(self._connection, _CHILD, self._name)
        child._count = self._count
        child.prompt(step.errand)
        for part in step.steps:
            child.step(part)
        child._answer({"type": "text", "text": "I have looked."}, finish="stop")
        kind = "explore" if step.only_looks else "general"
        given = {"prompt": step.errand, "subagent_type": kind, "description": "Look"}
        metadata = {"parentSessionId": self._name, "sessionId": _CHILD}
        self._count = child._count
        time = {"start": start, "end": self._tick()}
        self._use("task", given, output="I have looked.", metadata=metadata, time=time)
