"""Everything that is live, put together from the settings."""

import os
import re
import shlex
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import structlog

from trackrecord.artifacts.client import open_artifacts, store_output
from trackrecord.artifacts.contents import as_bytes
from trackrecord.artifacts.summary.kinds import OutputKind
from trackrecord.artifacts.summary.summaries import BEGINNING, READING, kind_of_output, reading
from trackrecord.process.python_command import python_command
from trackrecord.settings.agent_settings import AgentSettings, default_home
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord_producers.prompting.rankings_call import publish_exposure, publish_hint
from trackrecord_producers.publishing.publisher import Publisher

from ..agent_run import RunCall
from ..agents.door_address import DoorAddress, remove_door, write_door
from ..agents.hook_state import note_error
from ..agents.installed import read_installed
from ..agents.known import AGENTS
from ..agents.runtime import write_runtime
from ..call_fields import kept_name
from ..history.counts import CountedSinks, ReadingCounts
from ..history.parallel import outcome_maker
from ..history.reading import LogReading, read_and_publish
from ..history.repository_news import read_repositories
from ..history.sink import SpoolingSink
from ..history.state import CaptureState
from ..outcome import task_id_of
from ..projects import RunProjects, run_projects
from ..sources.register import known_sources
from ..sources.source import Log, Source
from .failure_answers import FailureAnswers
from .hook_answers import KINDS, HookAnswers, HookPost, ProjectOf, post_in
from .notes import EndNote, TooManyNotes, write_note
from .watching import LiveReader, Watching

# A shell that reads an artifact back, perhaps together with something else.
_RETRIEVING: Final = re.compile(r"\bartifacts\s+get\b")
# Commands that show files as they are.
_SHOWING: Final = frozenset(
    f"shell:{name}" for name in ("bat", "cat", "head", "less", "more", "nl", "sed", "tail")
)
_MOST_PROMPTS: Final = 500
_LONGEST_PROMPT: Final = 32_768


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

    def summary_of(self, agent: str, posted: HookPost, text: str) -> str | None:
        """Store an output and return a summary to replace it; None to leave it.

        What was read back is left, and so is what could not be read back. A source file that a
        command shows is left, too: an agent reads it word by word.

        Raises:
            OSError: it cannot be stored.
        """
        if not self._is_replaced(posted, text):
            return None
        if not (project := self._project_of(posted.cwd)):
            return None
        command = reading(project, self._program)
        data = as_bytes(text)
        tool = kept_name(RunCall(tool=posted.tool_name, command=posted.command))
        if tool in _SHOWING and kind_of_output(data) is OutputKind.CODE:
            return None
        if command is None or open_artifacts(self._settings, project).take_retrieved(data):
            return None
        task_id = self._task_of(agent, posted, project)
        stored = store_output(
            self._settings, project, data, task_id=task_id, tool=tool, command=command
        )
        return stored.summary if len(stored.summary) < len(text) else None

    def _is_replaced(self, posted: HookPost, text: str) -> bool:
        return (
            len(text) > self._settings.artifacts.threshold_chars
            and bool(posted.cwd)
            and not text.startswith(BEGINNING)
            and _RETRIEVING.search(posted.command) is None
        )

    def _task_of(self, agent: str, posted: HookPost, project: str) -> str | None:
        """Return the id that the task's outcome will have; None if the prompt is unknown."""
        asked = agent, posted.session_id, posted.asked_id
        prompt = posted.prompt or self._prompts.get(asked, "")
        return task_id_of(posted.run_of(agent, instruction=prompt), project) if prompt else None


def _program(home: Path) -> str:
    """Return the command that an agent's shell reads artifacts with, wherever it is started."""
    command = READING
    if shutil.which("trackrecord") is None:
        command = shlex.join(python_command("trackrecord_cli", "artifacts", "get"))
    if os.path.realpath(home) != os.path.realpath(default_home()):
        command = f"TRACKRECORD_HOME={shlex.quote(str(home))} {command}"
    return command


_log = structlog.get_logger(__name__)


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
            posted = post_in(body)
            if posted.hook_event_name in KINDS:
                return self._answer(agent, posted)
            if posted.remind:
                return self._reminded(agent, posted)
            if posted.error is not None:
                return self._told(agent, posted)
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

    def _answer(self, agent: str, posted: HookPost) -> bytes | None:
        if posted.hook_event_name == "SessionStart":
            self._watching.catch_up()
            self._failure_answers.prepare(posted.cwd)
        self._outputs.remember(agent, posted.session_id, posted.asked_id, posted.prompt)
        return _said(posted, "additionalContext", self._hook_answers.answer(agent, posted))

    def _told(self, agent: str, posted: HookPost) -> bytes | None:
        """Return what is known of a call that has failed."""
        return _said(posted, "additionalContext", self._failure_answers.answer(agent, posted))

    def _reminded(self, agent: str, posted: HookPost) -> bytes | None:
        """Return what keeps an agent from ending its turn: an edit that nothing has checked."""
        text = self._failure_answers.remind(agent, posted)
        return msgspec.json.encode({"decision": "block", "reason": text}) if text else None

    def _summarised(self, agent: str, posted: HookPost, text: str) -> bytes | None:
        """Store an output that is too large for a prompt; return what takes its place."""
        return _said(posted, "updatedToolOutput", self._outputs.summary_of(agent, posted, text))

    def _note(self, agent: str, posted: HookPost) -> None:
        """Leave the same note as the hook's own program."""
        note = EndNote(
            agent=agent,
            event=posted.hook_event_name,
            session=posted.session_id,
            transcript=posted.agent_transcript_path or posted.transcript_path,
            folder=posted.cwd,
        )
        if not write_note(self._home, note):
            raise TooManyNotes


def _said(posted: HookPost, name: str, text: str | None) -> bytes | None:
    """Return the answer to a hook, in the form that agents take; None without a text."""
    if not text:
        return None
    said = {"hookEventName": posted.hook_event_name, name: text}
    return msgspec.json.encode({"hookSpecificOutput": said})


def live_of(settings: DaemonSettings, captured: CountedSinks | None = None) -> Live:
    """Build the live capture, ready to be started.

    Args:
        settings: the daemon's settings.
        captured: counts what is published.
    """
    projects = run_projects(settings.capture, settings.home)
    return Live(
        settings,
        known_sources(),
        partial(_reading, settings, projects, captured),
        projects.of,
    )


@contextmanager
def _reading(
    settings: DaemonSettings, projects: RunProjects, captured: CountedSinks | None
) -> Iterator[LiveReader]:
    """Open the reader of logs that publishes their new parts; the thread that opens it uses it."""
    publisher = Publisher(lambda: settings)
    reading = LogReading(
        outcome_of=outcome_maker(settings.capture, projects),
        with_automated=settings.capture.programs,
    )
    with CaptureState(settings.home) as state:
        sink = SpoolingSink(publisher, captured)

        def read(source: Source, log: Log) -> str | None:
            return _problem(read_and_publish(source, log, state, sink, reading))

        try:
            yield LiveReader(read, partial(read_repositories, state, sink))
        finally:
            publisher.close()


def _problem(counts: ReadingCounts) -> str | None:
    """Return in one line what could not be read or published."""
    if counts.named:
        path, bad = counts.named[0]
        return f"{path.name}, {bad.place}: {bad.reason}"
    return counts.reasons[0] if counts.reasons else None
