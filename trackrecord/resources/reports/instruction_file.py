"""Compare a file of instructions for agents with what their sessions show."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.advice.moments.commands import MOST_RUNS, CommandState
from trackrecord.learning.advice.moments.facts import FEWEST_SESSIONS
from trackrecord.resources.access.project_store import Transaction
from trackrecord.resources.declaration.resource import Answer
from trackrecord.resources.experience.commands import CommandAnswer, commands_in
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.advice.runs import read_tried_runs

_OFTEN: Final = 5


class InstructionCheck(Answer, frozen=True):
    """What a file of instructions says that does not work, and what it lacks.

    Attributes:
        failing: the commands in it that do not run.
        missing: by path in it, the sessions that looked there in vain; nobody ever found it.
        lacks: the commands that ran in five sessions or more and that it does not name.
    """

    failing: tuple[CommandAnswer, ...]
    missing: dict[str, int]
    lacks: tuple[CommandAnswer, ...]


def check_instructions(
    connection: Connection, settings: DaemonSettings, project: str, text: str
) -> InstructionCheck:
    """Compare the text of a file with the sessions of a project.

    Args:
        connection: a reading transaction.
        settings: whose store it is.
        project: whose sessions.
        text: the text of the file.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    it = Transaction(connection, settings, project)
    runs = read_tried_runs(connection, it.project_id, limit=MOST_RUNS)
    calls = ((run.session, call) for run in runs for call in run.calls)
    opened = [(call.file, session, call.ok) for session, call in calls if call.file]
    return compared(text, commands_in(it), opened)


def compared(
    text: str, commands: Sequence[CommandAnswer], opened: Iterable[tuple[str, str, bool | None]]
) -> InstructionCheck:
    """Return what a text says that does not work, and what it lacks.

    Args:
        text: the text of a file.
        commands: what runs in the repository, and what does not.
        opened: the files that were opened or not found: path, session, whether it succeeded.
    """
    failed: dict[str, set[str]] = {}
    found = set[str]()
    for path, session, ok in opened:
        if ok:
            found.add(path)
        elif ok is False:
            failed.setdefault(path, set()).add(session)
    missing = {
        path: len(sessions)
        for path, sessions in sorted(failed.items())
        if len(sessions) >= FEWEST_SESSIONS and path not in found and _names(text, path)
    }
    broken = [
        each
        for each in commands
        if each.state in (CommandState.NEVER_RAN, CommandState.FAILS)
        and each.sessions >= FEWEST_SESSIONS
        and _names(text, each.line)
    ]
    # A line that runs may be the end of one that does not.
    rest = text
    for each in broken:
        rest = rest.replace(each.line, "")
    lacks = [
        each
        for each in commands
        if each.state is CommandState.RUNS
        and each.sessions >= _OFTEN
        and not _names(rest, each.line)
    ]
    return InstructionCheck(tuple(broken), missing, tuple(lacks))


def _names(text: str, words: str) -> bool:
    """Return whether a text holds a line or a path, and not only as the part of a longer one."""
    return re.search(rf"(?<![\w/.-]){re.escape(words)}(?![\w/-]|[:.]\w)", text) is not None
