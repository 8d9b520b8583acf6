"""The tool calls of a transcript: their arguments and their results."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from ...agent_run import RunCall, is_cancelled
from ..excerpts import LONGEST_COMMAND, excerpt, excerpts_in, tool_name
from ..open_calls import OpenCall
from ..raw_json import object_of, value_of
from ..sub_agents import sub_agent_of
from .records import Block, result_text

_SHELLS: Final = frozenset({"Bash", "PowerShell"})
_EDITORS: Final = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit", "Update"})
_EDITING: Final = re.compile(
    r"(?:write|edit|create|append|patch|move|delete)_(?:file|files|text_file)\Z|str_replace"
)
_PATHS: Final = ("file_path", "notebook_path", "path")
_EXIT: Final = re.compile(r"(?:Error: )?Exit code (-?\d{1,9})\b[^\n]*\n?")
_TOOL_ERROR: Final = re.compile(r"\A\s*<tool_use_error>(.*?)(?:</tool_use_error>\s*)?\Z", re.DOTALL)
_TIMED_OUT: Final = re.compile(r"\b(?:Command )?timed out after\b")
_TIMED_OUT_CODE: Final = 124
# 128 and the signal: a hangup, an interrupt, a kill, a request to end.
_KILLED: Final = frozenset({129, 130, 137, 143})
_AGENT_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_LONGEST_NAME: Final = 256
_INTERRUPTED: Final = "[Request interrupted by user"


@dataclass(slots=True)
class TranscriptCall(OpenCall):
    """A call of which the result may not have come yet.

    Attributes:
        is_lost: whether its result may have stood where nothing can be read.
    """

    is_lost: bool = False

    def refuse(self, at: float | None) -> None:
        """Note that the call did not run, or was stopped, by a person's decision."""
        self.ends(at)
        self.ok, self.edits = None, ()

    def ends(self, at: float | None) -> None:
        """Note when it ended."""
        self.is_open = False
        if self.started_at is not None and at is not None:
            self.duration_ms = max(0.0, round((at - self.started_at) * 1000, 1))

    @property
    def was_killed(self) -> bool:
        """Return whether its command was ended by a signal, as when the terminal is closed."""
        return self.exit_code in _KILLED

    def lose(self) -> None:
        """Note that the agent's process ended during the call, so that its result is unknown."""
        self.is_open, self.ok, self.exit_code, self.error = False, None, None, ""

    def end(self, block: Block, outcome: msgspec.Raw, at: float | None) -> None:
        """Take the result.

        Args:
            block: the result, as the model sees it.
            outcome: the result as Claude Code keeps it for itself; of any form, or absent.
            at: when it came.
        """
        self.ends(at)
        text = result_text(block.content)
        if block.is_error:
            self._fail(text)
            return
        self.ok, self.result = True, excerpt(text)
        if self.sub_agent is not None:
            self._note_sub_agent(outcome)
        if not self.command:
            return
        self.exit_code = 0
        kept = object_of(outcome) if len(outcome) <= _LONGEST_KEPT else {}
        if kept.get("interrupted") or kept.get("backgroundTaskId"):
            # Nobody knows how it ended.
            self.ok = self.exit_code = None
        elif kept.get("returnCodeInterpretation"):
            self.exit_code = None

    def _note_sub_agent(self, outcome: msgspec.Raw) -> None:
        kept = object_of(outcome) if len(outcome) <= _LONGEST_KEPT else {}
        name = kept.get("agentId")
        if self.sub_agent is not None and isinstance(name, str) and _AGENT_ID.fullmatch(name):
            self.sub_agent = msgspec.structs.replace(self.sub_agent, id=name)
        if kept.get("isAsync") is True or kept.get("status") == "async_launched":
            self.sub_agent_ends(math.inf)

    def _fail(self, text: str) -> None:
        self.ok, self.edits = False, ()
        if text.startswith(_INTERRUPTED):
            self.ok = None
            return
        if refused := _TOOL_ERROR.match(text):
            # It did not even run: a missing argument, a file that was not read before.
            self.error = excerpt(refused[1].strip())
        else:
            self.error = excerpt(text)
        if is_cancelled(self.error):
            self.ok = None
            return
        if refused or not self.command:
            return
        if code := _EXIT.match(text):
            self.exit_code = int(code[1])
            self.result = excerpt(text[code.end() :])
        elif _TIMED_OUT.search(text[:_LONGEST_NAME]):
            self.exit_code, self.result = _TIMED_OUT_CODE, self.error

    def sub_agent_ends(self, at: float) -> None:
        """Note when the sub-agent that works in the background ended."""
        if self.sub_agent is not None:
            self.sub_agent = msgspec.structs.replace(self.sub_agent, ended_at=at)


def opened(block: Block, started_at: float | None, folder: str = "") -> TranscriptCall:
    """Return a call as it is made.

    Args:
        block: the call, as the model makes it.
        started_at: when.
        folder: the folder that the shell is in.
    """
    tool, given = tool_name(block.name or ""), value_of(block.input)
    named = given if isinstance(given, dict) else {}
    command = named.get("command") if tool in _SHELLS else None
    command = excerpt(command, LONGEST_COMMAND) if isinstance(command, str) else ""
    is_editor = tool in _EDITORS or _EDITING.search(tool) is not None
    paths = (named.get(name) for name in _PATHS if is_editor)
    return TranscriptCall(
        tool=tool,
        id=(block.id or "")[:_LONGEST_NAME],
        action="edit" if is_editor else "",
        arguments=None if command else excerpts_in(given),
        command=command,
        # The shell stays in the folder that an earlier command changed to.
        folder=folder if command else "",
        edits=tuple(path for path in paths if isinstance(path, str))[:1],
        sub_agent=sub_agent_of(tool, given),
        started_at=started_at,
    )


def failed_call(
    name: str, tool: str, arguments: Mapping[str, Any], error: str, folder: str
) -> RunCall:
    """Return a call that a hook says has failed, as the transcript will have it.

    Args:
        name: the id of the call.
        tool: the tool.
        arguments: its arguments.
        error: the text of its error, as the model reads it.
        folder: the folder that the shell is in.
    """
    given = msgspec.Raw(msgspec.json.encode(arguments))
    call = opened(Block(id=name, name=tool, input=given), None, folder)
    said = msgspec.Raw(msgspec.json.encode(error))
    call.end(Block(content=said, is_error=True), msgspec.Raw(), None)
    return call.finished()


_LONGEST_KEPT: Final = 256 * 1024
