"""Hook answers at the start of a session and with its first prompt, once each."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any, Final

import msgspec

from trackrecord.learning.advice.moments.wording import usual_text
from trackrecord.learning.text.inert import identifier
from trackrecord.learning.text.redaction import redacted
from trackrecord.process.machines import this_machine
from trackrecord.prompt.answers.rankings_answer import Rankings
from trackrecord.prompt.documents.advice_document import AdviceDocument
from trackrecord.prompt.question.wording import Wording
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.daemon_settings import DaemonSettings, HookSettings
from trackrecord.settings.projects.repositories import repository_of
from trackrecord.wire.exposure import ExposureBody
from trackrecord.wire.storable import decoded

from ..agent_run import AgentRun, RunCall, run_outcome_id
from ..outcome import task_id_of
from .session_marks import Kind, SessionMark, SessionMarks

_FILES: Final = (
    "AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md",
    "GEMINI.md", "QWEN.md", ".cursorrules", ".windsurfrules", ".clinerules",
    ".github/copilot-instructions.md",
)  # fmt: skip
_LONGEST_FILE: Final = 64 * 1024


def instructions_in(folder: str) -> str:
    """Return the texts of the instruction files of a folder and of its repository.

    Args:
        folder: where an agent works.

    Returns:
        The first 64 KB of each as one text; "" without any. A file that cannot be read is none.
    """
    repository = repository_of(folder)
    folders = dict.fromkeys((folder, folder if repository is None else repository.folder))
    return "\n".join(_text(Path(each) / name) for each in folders for name in _FILES)


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_LONGEST_FILE)
    except OSError:
        return ""


_CHARACTERS_A_TOKEN: Final = 4
_LONGEST_USUAL: Final = 320
_NO_ADVICE: Final = AdviceDocument(project="", revision=0, computed_at=0.0)
# Beyond 10,000 characters Claude Code hands on a preview only.
_LONGEST: Final = 9000
_ABOUT: Final = (
    "Records of earlier runs of coding agents in the project {project}, kept by trackrecord:"
)


def attributed(records: str, project: str) -> str:
    """Return records with a line in front that names their origin; "" for none.

    Args:
        records: what is known, as text for a prompt.
        project: the project's name.
    """
    if not records:
        return ""
    text = f"{_ABOUT.format(project=identifier(project))}\n\n{records}"
    # Nothing in it may pass for the end of what an agent wraps it in.
    text = text.replace("</", "< /")
    return text if len(text) <= _LONGEST else text[:_LONGEST].rpartition("\n")[0]


def _beginning(advice: AdviceDocument, standing: str, folder: str) -> Sequence[str]:
    """Return the lines of a session's start: what does not start, what runs, what is not here.

    Nothing that runs is told that the agent's instructions name, which it reads by itself.
    """
    read = standing + (instructions_in(folder) if advice.usual else "")
    usual = [each for each in advice.usual if each.line not in read]
    return standing, usual_text(usual, _LONGEST_USUAL), advice.never


ProjectOf = Callable[[str], str]
"""Returns the project of a folder; "" of one that is left out of capture."""

KINDS: Final[dict[str, Kind]] = {"SessionStart": "session", "UserPromptSubmit": "prompt"}
_LONGEST_PROMPT: Final = 32_768


class HookPost(msgspec.Struct, frozen=True):
    """A hook's message to the front door, by the names that agents give its parts.

    What it does not say is empty; an output or an error that is None is not told of.

    Attributes:
        ran: command lines that have succeeded in the session since the last failure, where the
            agent's hook says so.
        remind: whether the agent ends its turn, and may be reminded of what it has not checked.
    """

    hook_event_name: str = ""
    session_id: str = ""
    cwd: str = ""
    prompt: str = ""
    prompt_id: str = ""
    turn_id: str = ""
    transcript_path: str = ""
    agent_transcript_path: str = ""
    agent_id: str = ""
    tool_name: str = ""
    tool_use_id: str = ""
    tool_input: dict[str, Any] = {}
    command: str = ""
    output: str | None = None
    error: str | None = None
    exit_code: int | None = None
    ran: tuple[str, ...] = ()
    remind: bool = False

    @property
    def asked_id(self) -> str:
        """The id of the prompt, which some agents call a turn."""
        return self.prompt_id or self.turn_id

    def run_of(
        self,
        agent: str,
        *,
        instruction: str = "",
        folder: str = "",
        calls: tuple[RunCall, ...] = (),
    ) -> AgentRun:
        """Return the run that the hook was called in, as far as it is known."""
        return AgentRun(
            agent=agent,
            session=self.session_id,
            prompt=self.asked_id,
            captured_from="hooks",
            started_at=0.0,
            ended_at=0.0,
            instruction=instruction,
            folder=folder,
            calls=calls,
        )


def post_in(body: bytes) -> HookPost:
    """Decode a hook's message.

    Raises:
        msgspec.DecodeError: it is none.
    """
    given = decoded(body)
    if isinstance(given, dict):
        given = {name: value for name, value in given.items() if value is not None}
    return msgspec.convert(given, HookPost)


class HookAnswers:
    """Answers hooks.

    Args:
        settings: where rankings are read from.
        rules: budgets.
        project_of: names the project of a folder.
        publish: reports what was handed to which run.
    """

    def __init__(
        self,
        settings: DaemonSettings,
        rules: HookSettings,
        project_of: ProjectOf,
        publish: Callable[[ExposureBody], object],
    ) -> None:
        self._rules = rules
        self._project_of = project_of
        self._publish = publish
        self._told = SessionMarks(settings.home)
        self._reader = RankingsReader(settings)
        self._lock = threading.Lock()

    def forget_old(self) -> None:
        """Forget sessions that are long over."""
        self._told.forget_old()

    def answer(self, agent: str, asked: HookPost) -> str:
        """Return the text for the agent; "" for none.

        Raises:
            OSError: it cannot be remembered that the session was told.
        """
        kind = KINDS.get(asked.hook_event_name)
        if kind is None or not self._rules.inject or not asked.cwd or not self._budget(kind):
            return ""
        if not self._told.begin(agent, asked.session_id, kind):
            return ""
        if not (project := self._project_of(asked.cwd)):
            return ""
        before = self._told.of(agent, asked.session_id, "session")
        advice = self._reader.cached(project).advice or _NO_ADVICE
        standing = advice.standing.get(this_machine()) or advice.standing.get("", "")
        is_told = bool(standing) and (kind == "session" or standing in before.text)
        begins = _beginning(advice, standing, asked.cwd) if kind == "session" else ()
        lines = "".join(f"- {line}\n" for line in begins if line)
        budget = self._budget(kind) - ceil(len(lines) / _CHARACTERS_A_TOKEN)
        found = self._ask(
            agent, asked, kind, project, before, advice.standing_lessons if is_told else (), budget
        )
        said = found.prompt if found.arm == "withheld" else f"{lines}\n{found.prompt}".strip()
        text = redacted(attributed(said, project))
        entries = () if found.exposure is None else found.exposure.entries
        told = SessionMark(text, tuple(dict.fromkeys((*before.entries, *entries))))
        self._told.keep(agent, asked.session_id, kind, told)
        if kind == "prompt" and found.exposure is not None:
            self._report(agent, asked, found.exposure, told)
        return text

    def _ask(
        self,
        agent: str,
        asked: HookPost,
        kind: Kind,
        project: str,
        before: SessionMark,
        told_lessons: Sequence[str],
        budget: int,
    ) -> Rankings:
        """Ask for the session: all its entries belong to one arm, drawn for the session."""
        question = replace(
            self._reader.usual,
            project=project,
            task=asked.prompt[:_LONGEST_PROMPT] or None if kind == "prompt" else None,
            budget=max(0, budget),
            limit=1 if kind == "session" else None,
            task_id=run_outcome_id(agent, asked.session_id, ""),
            source=agent,
            wording=Wording(
                is_record=True,
                # What every session is told quotes an error only where two agents reported it.
                quotes_one_agent=kind == "prompt",
                said=frozenset(before.text.splitlines()),
                told_lessons=frozenset(told_lessons),
            ),
        )
        with self._lock:
            return self._reader.answer(question)

    def _report(
        self, agent: str, asked: HookPost, exposure: ExposureBody, told: SessionMark
    ) -> None:
        """Report the exposure of the session's first run, under the id that its task will have."""
        task_id = task_id_of(asked.run_of(agent, instruction=asked.prompt), exposure.project)
        self._publish(msgspec.structs.replace(exposure, task_id=task_id, entries=told.entries))

    def _budget(self, kind: Kind) -> int:
        return self._rules.session_tokens if kind == "session" else self._rules.prompt_tokens
