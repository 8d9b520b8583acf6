"""Hook answers after a call that failed, or a turn that ends unchecked: one line, or nothing."""

import re
import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from trackrecord.learning.advice.assignment import assign
from trackrecord.learning.advice.moments.calls import TriedCall
from trackrecord.learning.advice.moments.facts import CachedMoments
from trackrecord.process.machines import this_machine
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.prompt.reading.failure_hints import FailedCall, FailureHints, probability_in
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.projects.repositories import repository_of
from trackrecord.wire.hint import HintBody

from ..agent_run import AgentRun, RunCall, run_outcome_id
from ..agents.installed import read_installed
from ..outcome import tried_calls_of, unchecked_edit_of
from ..sources.claude_code.calls import failed_call
from ..sources.register import tool_words
from ..sources.source import Log, ReadRun, Source
from .hook_answers import HookPost, ProjectOf
from .session_marks import SessionMarks

CLAUDE_CODE: Final = "claude-code"
CODEX: Final = "codex"
_MOST_FOLDERS: Final = 256
_MOST_RAN: Final = 50
# A command that first changes to a folder below the one that the shell is in.
_CHANGES: Final = re.compile(r"\s{0,9}cd ([\w.@+-][\w.@+/-]{0,199})/?\s{0,9}(?:&&|;|\Z)")
# A longer log takes too long while an agent waits.
_LARGEST_LOG: Final = 16 * 1024 * 1024
_LONGEST_NAME: Final = 200


class FailureAnswers:
    """Answers hooks after failures.

    Args:
        settings: where facts are read from, and what is told.
        project_of: names the project of a folder.
        sources: the adapters of the agents' logs, by the agent's name.
        publish: reports what was told, or was not.
    """

    def __init__(
        self,
        settings: DaemonSettings,
        project_of: ProjectOf,
        sources: Mapping[str, Source],
        publish: Callable[[HintBody], object],
    ) -> None:
        self._publish = publish
        self._settings = settings
        self._sources = sources
        self._reader = RankingsReader(settings)
        self._hints = FailureHints()
        self._told = SessionMarks(settings.home)
        self._lock = threading.Lock()
        self._words = tool_words()
        self._project_of = project_of
        self._top_of = lru_cache(_MOST_FOLDERS)(_top_of)

    def prepare(self, folder: str) -> None:
        """Read what is known of a folder's project, so that its first failure need not wait."""
        if self._settings.hooks.moment == "false" or not folder:
            return
        if project := self._project_of(folder):
            with self._lock:
                self._reader.moments(project)

    def answer(self, agent: str, failure: HookPost) -> str:
        """Return the line for the agent; "" for none."""
        project, document = self._known(failure)
        if not document.repositories:
            return ""
        session = failure.session_id[:_LONGEST_NAME]
        if failure.ran:
            ran = [_ran(each) for each in failure.ran[:_MOST_RAN]]
            self._hints.add(project, session, self._tried(agent, failure, ran).values())
        call = self._tried(agent, failure, [_failed(agent, failure)]).get(failure.tool_use_id)
        if call is None:
            return ""
        failed = FailedCall(
            call=call,
            error=failure.error or "",
            session=session,
            agent=failure.agent_id[:_LONGEST_NAME],
            machine=this_machine(),
            has_status=agent != CODEX,
            strayed=_strayed(failure, self._top_of(failure.cwd)),
        )
        decided = self._hints.decide(
            project, document, failed, self._probability, lambda: self._earlier(agent, failure)
        )
        if decided is None or self._is_held_out(project, agent, failure.session_id):
            return ""
        self._publish(decided.report(project, failed, agent))
        return decided.text

    def remind(self, agent: str, stopped: HookPost) -> str:
        """Return the line for an agent that ends its turn with an unchecked edit; "" for none.

        Once a session.

        Raises:
            OSError: it cannot be remembered that the session was told.
        """
        project, document = self._known(stopped)
        if not (document.repositories and stopped.transcript_path):
            return ""
        top = self._top_of(stopped.cwd)
        runs = [run for run in self._runs(agent, stopped) or () if not run.parent]
        if not (file := unchecked_edit_of(runs, self._settings.capture, top)):
            return ""
        edit = FailedCall(
            call=TriedCall("edit", ok=True, file=file),
            error="",
            session=stopped.session_id[:_LONGEST_NAME],
            machine=this_machine(),
        )
        decided = self._hints.remind(project, document, edit, self._probability)
        if decided is None or self._is_held_out(project, agent, stopped.session_id):
            return ""
        if not self._told.begin(agent, stopped.session_id, "stop"):
            return ""
        self._publish(decided.report(project, edit, agent))
        return decided.text

    def _known(self, asked: HookPost) -> tuple[str, CachedMoments]:
        """Return the project and what is known there; "" and nothing where nothing is told."""
        nothing = "", CachedMoments()
        if self._settings.hooks.moment == "false" or not (asked.session_id and asked.cwd):
            return nothing
        if not (project := self._project_of(asked.cwd)):
            return nothing
        with self._lock:
            return project, self._reader.moments(project)

    def _probability(self, points: int) -> float:
        """Return the probability of a hint; none is given where they are only recorded."""
        if self._settings.hooks.moment == "record":
            return 0.0
        return probability_in(self._settings.home, points)

    def _is_held_out(self, project: str, agent: str, session: str) -> bool:
        """Return whether the session belongs to the holdout of runs, and gets nothing."""
        with self._lock:
            document = self._reader.cached(project).document
        if document is None:
            return False
        share = self._settings.holdout if document.holdout is None else document.holdout
        task_id = run_outcome_id(agent, session, "")
        drawn = assign(
            project, task_id=task_id, task=None, revision=0, holdout=share, explore="off"
        )
        return drawn.is_withheld

    def _tried(self, agent: str, failure: HookPost, calls: list[RunCall]) -> dict[str, TriedCall]:
        run = failure.run_of(agent, folder=self._top_of(failure.cwd), calls=tuple(calls))
        return dict(tried_calls_of(run, self._settings.capture, self._words))

    def _earlier(self, agent: str, failure: HookPost) -> list[TriedCall] | None:
        """Return what a session's log says of its calls before; None if it says nothing."""
        runs = self._runs(agent, failure)
        if runs is None:
            return None
        return [
            call
            for run in runs
            for name, call in tried_calls_of(run, self._settings.capture, self._words)
            if not failure.tool_use_id or name != failure.tool_use_id
        ]

    def _runs(self, agent: str, failure: HookPost) -> list[AgentRun] | None:
        """Return the runs in a session's log; None if it cannot be read."""
        source = self._sources.get(agent)
        if source is None or not failure.transcript_path:
            return None
        path = Path(failure.transcript_path)
        installed = read_installed(self._settings.home).get(agent)
        homes = [*source.homes(), *([Path(installed.folder)] if installed else [])]
        try:
            path = path.resolve()
            if not any(path.is_relative_to(home.resolve()) for home in homes):
                return None
            size = path.stat().st_size
            if size > _LARGEST_LOG or not path.is_file():
                return None
            return [
                each.run
                for each in source.read(Log(path=path, size=size, version=size))
                if isinstance(each, ReadRun)
            ]
        except (OSError, ValueError):
            return None


def _failed(agent: str, failure: HookPost) -> RunCall:
    name, tool, given = failure.tool_use_id, failure.tool_name, failure.tool_input
    error, command = failure.error or "", given.get("command")
    if agent == CLAUDE_CODE:
        return failed_call(name, tool, given, error, failure.cwd)
    return RunCall(
        tool=tool,
        id=name,
        command=command if isinstance(command, str) else "",
        arguments=given,
        folder=failure.cwd,
        ok=False,
        exit_code=failure.exit_code,
        error=error,
        result=error,
    )


def _strayed(failure: HookPost, top: str) -> tuple[str, str] | None:
    """Return where the shell is, and the path that it changes to, if that lies at the top alone."""
    command = failure.tool_input.get("command")
    found = _CHANGES.match(command) if isinstance(command, str) else None
    if found is None or failure.cwd.rstrip("/") == top.rstrip("/"):
        return None
    path, here = found[1], Path(failure.cwd)
    try:
        is_strayed = not (here / path).exists() and (Path(top) / path).is_dir()
        return (str(here.relative_to(top)), path) if is_strayed else None
    except (OSError, ValueError):
        return None


def _ran(command: str) -> RunCall:
    return RunCall(tool="bash", id=command, command=command, ok=True, exit_code=0)


def _top_of(folder: str) -> str:
    """Return the top of the repository that a folder lies in, or the folder itself.

    A session changes its folder; the lines of its checks start from where it began.
    """
    found = repository_of(folder)
    top = "" if found is None else found.folder.rstrip("/")
    return top if top and f"{folder}/".startswith(f"{top}/") else folder
