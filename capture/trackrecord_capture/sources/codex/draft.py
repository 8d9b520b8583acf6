"""A call of a tool while its parts are still being found in a rollout."""

import re
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from ...agent_run import RunCall, SubAgent
from ..excerpts import LONGEST_COMMAND, LONGEST_RESULT, excerpt, excerpts_in
from ..patches import patched_files
from ..sub_agents import sub_agent_of
from .commands import command_of, folder_of
from .outputs import Output

_AGENT_ID: Final = re.compile(r'"agent_id"\s*:\s*"([0-9A-Za-z_-]{1,128})"')


@dataclass(slots=True)
class DraftCall:
    """A call as far as it is known; see `RunCall` for the attributes.

    Attributes:
        failed: what an event said outright of how it ended; None if none did.
        is_refused: whether the person did not allow it.
        is_aborted: whether the person stopped it.
        is_wrapping: whether it is a script, and the calls that it made stand beside it.
        is_open: whether nothing has been said yet of how it ended.
        session: the number under which a command that goes on is asked again; "" if none.
    """

    id: str
    tool: str
    started_at: float | None = None
    arguments: Any = None
    command: str = ""
    folder: str = ""
    edits: tuple[str, ...] = ()
    failed: bool | None = None
    exit_code: int | None = None
    result: str = ""
    error: str = ""
    duration_ms: float | None = None
    actor: str = "agent"
    is_refused: bool = False
    is_aborted: bool = False
    is_wrapping: bool = False
    is_open: bool = True
    session: str = ""
    sub_agent: SubAgent | None = None

    def set_command(self, arguments: Any) -> None:  # noqa: ANN401 - decoded JSON
        """Take the command from the arguments of a shell tool."""
        whole = command_of(arguments)
        self.edits = self.edits or patched_files(whole)
        self.command = excerpt(whole, LONGEST_COMMAND)
        self.folder = folder_of(arguments)

    def set_arguments(self, arguments: Any) -> None:  # noqa: ANN401 - decoded JSON
        """Keep the arguments, long texts shortened."""
        self.arguments = excerpts_in(arguments)
        self.sub_agent = sub_agent_of(self.tool, arguments)

    def name_sub_agent(self, thread: object) -> None:
        """Note which thread the sub-agent is that the call started."""
        if self.sub_agent is not None and self.sub_agent.starts and isinstance(thread, str):
            self.sub_agent = msgspec.structs.replace(self.sub_agent, id=thread)

    def answer(self, output: Output, at: float | None) -> None:
        """Take the tool's answer to the model; what an event reported explicitly stays."""
        self.is_open = False
        self.is_refused = self.is_refused or output.is_refused
        self.is_aborted = self.is_aborted or output.is_aborted
        self.result = self.result or excerpt(output.text, LONGEST_RESULT)
        if self.exit_code is None:
            self.exit_code = output.exit_code
        if self.duration_ms is None:
            self.duration_ms = output.duration_ms
        if self.sub_agent is not None:
            self._note_sub_agent(output.text, at)
        if self.failed is None:
            self.failed = output.is_error
        self.session = self.session or output.session

    def _note_sub_agent(self, text: str, at: float | None) -> None:
        """Take when the call ended, by which its sub-agent may have worked, and who that is."""
        named = _AGENT_ID.search(text)
        if named and self.sub_agent is not None and not self.sub_agent.id:
            self.name_sub_agent(named[1])
        if self.duration_ms is None and at is not None and self.started_at is not None:
            self.duration_ms = max(0.0, (at - self.started_at) * 1000)

    def finished(self) -> RunCall:
        """Return the call."""
        ok = self._ok()
        error = self.error or (self.result if ok is False else "")
        return RunCall(
            tool=self.tool,
            id=self.id,
            arguments=self.arguments,
            command=self.command,
            folder=self.folder,
            edits=self.edits,
            ok=ok,
            exit_code=self.exit_code,
            error=error,
            result=self.result,
            started_at=self.started_at,
            duration_ms=self.duration_ms,
            actor=self.actor,
            sub_agent=self.sub_agent,
        )

    def _ok(self) -> bool | None:
        if self.is_refused or self.is_aborted:
            return None
        if self.exit_code is not None:
            return self.exit_code == 0
        return None if self.failed is None else not self.failed
