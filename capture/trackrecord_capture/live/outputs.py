"""Oversized outputs of tools that an agent's hook may replace: stored, and summarised."""

import os
import re
import shlex
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from trackrecord.agent_settings import AgentSettings, default_home
from trackrecord.artifacts.client import open_artifacts, store_output
from trackrecord.artifacts.contents import as_bytes
from trackrecord.artifacts.kinds import OutputKind
from trackrecord.artifacts.summaries import BEGINNING, READING, kind_of_output, reading
from trackrecord.python_command import python_command

from ..agent_run import AgentRun, RunCall
from ..call_fields import kept_name
from ..outcome import task_id_of

# A shell that reads an artifact back, perhaps together with something else.
_RETRIEVING: Final = re.compile(r"\bartifacts\s+get\b")
# Commands that show files as they are.
_SHOWING: Final = frozenset(
    f"shell:{name}" for name in ("bat", "cat", "head", "less", "more", "nl", "sed", "tail")
)
_MOST_PROMPTS: Final = 500
_LONGEST_PROMPT: Final = 32_768


class ToolOutput(msgspec.Struct, frozen=True):
    """A hook's message when a tool has ended.

    Attributes:
        agent: the agent's name.
        session: the session's id.
        folder: the folder that the agent works in.
        tool: the tool's name.
        text: its output.
        command: the command that a shell ran; "" for other tools.
        prompt: what the person asked for; "" if the hook does not say.
        prompt_id: the id of that prompt.
    """

    agent: str
    session: str
    folder: str
    tool: str
    text: str
    command: str = ""
    prompt: str = ""
    prompt_id: str = ""


class Outputs:
    """Replaces outputs.

    Args:
        settings: where they are stored, and from which size on.
        project_of: names the project of a folder.
    """

    def __init__(self, settings: AgentSettings, project_of: Callable[[str], str]) -> None:
        self._settings = settings
        self._project_of = project_of
        self._program = _program(settings.home)
        # What was asked for, where the hook of the output does not say it again.
        self._prompts: OrderedDict[tuple[str, str, str], str] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, agent: str, session: str, prompt_id: str, prompt: str) -> None:
        """Remember what a person asked for, as long as there is room."""
        if not (prompt_id and prompt):
            return
        with self._lock:
            self._prompts[agent, session, prompt_id] = prompt[:_LONGEST_PROMPT]
            while len(self._prompts) > _MOST_PROMPTS:
                self._prompts.popitem(last=False)

    def summary_of(self, output: ToolOutput) -> str | None:
        """Store an output and return a summary to replace it; None to leave it.

        What was read back is left, and so is what could not be read back. A source file that a
        command shows is left, too: an agent reads it word by word.

        Raises:
            OSError: it cannot be stored.
        """
        if not self._is_replaced(output):
            return None
        project = self._project_of(output.folder)
        command = reading(project, self._program)
        data, tool = as_bytes(output.text), _name_of(output)
        if tool in _SHOWING and kind_of_output(data) is OutputKind.CODE:
            return None
        if command is None or open_artifacts(self._settings, project).take_retrieved(data):
            return None
        stored = store_output(
            self._settings,
            project,
            data,
            task_id=self._task_of(output, project),
            tool=tool,
            command=command,
        )
        return stored.summary if len(stored.summary) < len(output.text) else None

    def _is_replaced(self, output: ToolOutput) -> bool:
        return (
            len(output.text) > self._settings.artifacts.threshold_chars
            and bool(output.folder)
            and not output.text.startswith(BEGINNING)
            and _RETRIEVING.search(output.command) is None
        )

    def _task_of(self, output: ToolOutput, project: str) -> str | None:
        """Return the id that the task's outcome will have; None if the prompt is unknown."""
        asked = (output.agent, output.session, output.prompt_id)
        prompt = output.prompt or self._prompts.get(asked, "")
        if not prompt:
            return None
        run = AgentRun(
            agent=output.agent,
            session=output.session,
            prompt=output.prompt_id,
            captured_from="hooks",
            started_at=0.0,
            ended_at=0.0,
            instruction=prompt,
        )
        return task_id_of(run, project)


def _name_of(output: ToolOutput) -> str:
    return kept_name(RunCall(tool=output.tool, command=output.command))


def _program(home: Path) -> str:
    """Return the command that an agent's shell reads artifacts with, wherever it is started."""
    command = READING
    if shutil.which("trackrecord") is None:
        command = shlex.join(python_command("trackrecord_cli", "artifacts", "get"))
    if os.path.realpath(home) != os.path.realpath(default_home()):
        command = f"TRACKRECORD_HOME={shlex.quote(str(home))} {command}"
    return command
