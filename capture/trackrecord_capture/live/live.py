"""Everything that is live, as one object: started with the front door and stopped with it."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Final

import msgspec
import structlog

from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.wire.storable import decoded
from trackrecord_producers.prompting.rankings_call import publish_exposure, publish_hint

from ..agents.door_address import DoorAddress, remove_door, write_door
from ..agents.hook_state import note_error
from ..agents.installed import read_installed
from ..agents.known import AGENTS
from ..agents.runtime import write_runtime
from ..sources.source import Source
from .failure_answers import FailureAnswers, HookFailure
from .hook_answers import KINDS, HookAnswers, HookQuestion, ProjectOf
from .notes import EndNote, TooManyNotes, write_note
from .outputs import Outputs, ToolOutput
from .watching import LiveReader, Watching

_log = structlog.get_logger(__name__)


class _Posted(msgspec.Struct, frozen=True):
    hook_event_name: str = ""
    session_id: str = ""
    transcript_path: str | None = None
    agent_transcript_path: str | None = None
    cwd: str | None = None
    prompt: str | None = None
    prompt_id: str | None = None
    turn_id: str | None = None
    tool_name: str | None = None
    output: str | None = None
    command: str | None = None
    error: str | None = None
    exit_code: int | None = None
    agent_id: str | None = None
    tool_use_id: str | None = None
    tool_input: dict[str, Any] | None = None
    ran: tuple[str, ...] = ()


_posted: Final = msgspec.json.Decoder(_Posted)


class Live:
    """Reads sessions after hooks fired, and answers the hooks' questions.

    Args:
        settings: the daemon's settings.
        sources: the adapters of recorded sessions, by the agent's name.
        reading: opens what reads a log, in the thread that will use it.
        project_of: names the project of a folder.
    """

    def __init__(
        self,
        settings: DaemonSettings,
        sources: Mapping[str, Source],
        reading: Callable[[], AbstractContextManager[LiveReader]],
        project_of: ProjectOf,
    ) -> None:
        self._home = settings.home
        self._most_characters = settings.artifacts.threshold_chars
        self._outputs = Outputs(settings, project_of)
        self._hook_answers = HookAnswers(settings, settings.hooks, project_of, publish_exposure)
        self._failure_answers = FailureAnswers(settings, project_of, sources, publish_hint)
        self._watching = Watching(settings.home, settings.hooks, sources, reading)
        self._address: DoorAddress | None = None

    def start(self, address: DoorAddress | None = None) -> None:
        """Start; with an address, the hooks learn where the front door is.

        Raises:
            OSError: they cannot be told.
        """
        if read_installed(self._home):
            # Of this version, and with this interpreter: the old one may be gone.
            write_runtime(self._home)
        if address is not None:
            write_door(self._home, address, self._most_characters)
            self._address = address
        self._hook_answers.forget_old()
        self._watching.start()

    def stop(self) -> None:
        """Finish pending work, and stop; hooks learn that the door is closed."""
        if self._address is not None:
            remove_door(self._home, self._address)
        self._watching.stop()

    @property
    def hooks(self) -> Mapping[str, Callable[[bytes], bytes | None]]:
        """The receiver of the hooks that each agent posts."""
        return {name: partial(self.hook, name) for name in AGENTS}

    def hook(self, agent: str, body: bytes) -> bytes | None:
        """Take a hook's body; return the answer for the agent, None for none.

        Raises:
            TooManyNotes: what ended cannot be noted now.
        """
        try:
            posted = decoded(body, _posted)
            if posted.hook_event_name in KINDS:
                return self._answer(agent, posted)
            if posted.error is not None:
                return self._told(agent, posted, posted.error)
            if posted.output is not None:
                return self._summarised(agent, posted, posted.output)
            if posted.session_id:
                self._note(agent, posted)
        except TooManyNotes:
            raise
        except msgspec.DecodeError:
            _log.info("a hook posted what is not an event", agent=agent)
        except Exception as error:  # noqa: BLE001 - the agent goes on
            note_error(self._home, agent, f"a hook was not answered ({type(error).__name__})")
            _log.warning("a hook cannot be answered", agent=agent, error=type(error).__name__)
        return None

    def _answer(self, agent: str, posted: _Posted) -> bytes | None:
        if posted.hook_event_name == "SessionStart":
            self._watching.catch_up()
            self._failure_answers.prepare(posted.cwd or "")
        prompt_id = posted.prompt_id or posted.turn_id or ""
        self._outputs.remember(agent, posted.session_id, prompt_id, posted.prompt or "")
        asked = HookQuestion(
            hook_event_name=posted.hook_event_name,
            session_id=posted.session_id,
            cwd=posted.cwd,
            prompt=posted.prompt,
            prompt_id=posted.prompt_id or posted.turn_id,
        )
        text = self._hook_answers.answer(agent, asked)
        if not text:
            return None
        said: dict[str, Any] = {
            "hookEventName": posted.hook_event_name,
            "additionalContext": text,
        }
        return msgspec.json.encode({"hookSpecificOutput": said})

    def _told(self, agent: str, posted: _Posted, error: str) -> bytes | None:
        """Return what is known of a call that has failed."""
        failure = HookFailure(
            session=posted.session_id,
            agent_id=posted.agent_id or "",
            folder=posted.cwd or "",
            transcript=posted.transcript_path or "",
            call=posted.tool_use_id or "",
            tool=posted.tool_name or "",
            arguments=posted.tool_input or {},
            error=error,
            exit_code=posted.exit_code,
            ran=posted.ran,
        )
        text = self._failure_answers.answer(agent, failure)
        if not text:
            return None
        said = {"hookEventName": posted.hook_event_name, "additionalContext": text}
        return msgspec.json.encode({"hookSpecificOutput": said})

    def _summarised(self, agent: str, posted: _Posted, text: str) -> bytes | None:
        """Store an output that is too large for a prompt; return what takes its place."""
        output = ToolOutput(
            agent=agent,
            session=posted.session_id,
            folder=posted.cwd or "",
            tool=posted.tool_name or "",
            text=text,
            command=posted.command or "",
            prompt=posted.prompt or "",
            prompt_id=posted.prompt_id or posted.turn_id or "",
        )
        summary = self._outputs.summary_of(output)
        if summary is None:
            return None
        said = {"hookEventName": posted.hook_event_name, "updatedToolOutput": summary}
        return msgspec.json.encode({"hookSpecificOutput": said})

    def _note(self, agent: str, posted: _Posted) -> None:
        """Leave the same note as the hook's own program."""
        note = EndNote(
            agent=agent,
            event=posted.hook_event_name,
            session=posted.session_id,
            transcript=posted.agent_transcript_path or posted.transcript_path or "",
            folder=posted.cwd or "",
        )
        if not write_note(self._home, note):
            raise TooManyNotes
