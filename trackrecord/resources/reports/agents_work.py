"""The work of agents, by project: what fails, what runs, and how runs end."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.advice.lessons.lesson import LessonKind
from trackrecord.learning.advice.moments.commands import CommandState
from trackrecord.learning.advice.moments.facts import FEWEST_SESSIONS
from trackrecord.learning.advice.rules import MAX_RUNS
from trackrecord.resources.access.project_store import Transaction
from trackrecord.resources.declaration.resource import Answer
from trackrecord.resources.experience.commands import CommandAnswer, commands_in
from trackrecord.resources.experience.lessons import LessonAnswer, lessons_of
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.outcomes.projects import project_names
from trackrecord.wire.tried_calls import session_of

from .runs import read_reports

# Kinds of evidence that tell how a run ended, as the capture names them.
NO_CHECK: Final = "no check"
EARLY_CHECK: Final = "check before the last edit"
INTERRUPTED: Final = "interrupted"
_ENDS: Final = (NO_CHECK, EARLY_CHECK, INTERRUPTED)
_MOST_LESSONS: Final = 5
_MOST_FAILING: Final = 5
_FAILING: Final = (CommandState.NEVER_RAN, CommandState.FAILS, CommandState.NEEDS)
# What these lessons say of a failing tool is told beside its counts already.
_TOLD: Final = frozenset({LessonKind.FAILS})


class ProjectWork(Answer, frozen=True, kw_only=True):
    """The results of work in one project.

    Attributes:
        project: its name.
        runs: the number of its runs.
        sources: the number of runs by the agent that did them.
        successes: runs that reached their goal.
        failures: runs that did not.
        undecided: runs of which nobody knows.
        ends: the number of runs by kinds of evidence that tell how they ended: without a check,
            with one before the last edit only, interrupted.
        sessions: the sessions that its runs name.
        lessons: what else the calls teach, the strongest first.
        commands: the commands that fail and those by which checks run, see `_told_commands`.
    """

    project: str
    runs: int
    sources: dict[str, int]
    successes: int
    failures: int
    undecided: int
    ends: dict[str, int]
    sessions: int = 0
    lessons: tuple[LessonAnswer, ...] = ()
    commands: tuple[CommandAnswer, ...] = ()


def work_of_agents(
    connection: Connection, settings: DaemonSettings, project: str | None = None
) -> list[ProjectWork]:
    """Return how the work went in a project, or in all of them: those with most runs first.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    names = project_names(connection) if project is None else [project]
    found = [_work(connection, settings, name) for name in names]
    return sorted(
        (each for each in found if each.runs), key=lambda each: (-each.runs, each.project)
    )


def told_commands(
    connection: Connection, settings: DaemonSettings, project: str | None = None
) -> dict[str, tuple[CommandAnswer, ...]]:
    """Return what does not run and what does, of a project or of all of them, by project.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    names = project_names(connection) if project is None else [project]
    return {
        name: _told_commands(commands_in(Transaction(connection, settings, name))) for name in names
    }


def _work(connection: Connection, settings: DaemonSettings, project: str) -> ProjectWork:
    sources, verdicts, ends = Counter[str](), Counter[bool | None](), Counter[str]()
    sessions = set[str]()
    for report, said in read_reports(connection, project, limit=MAX_RUNS):
        sources[said.source or "unknown"] += 1
        verdicts[said.success] += 1
        ends.update({ground.kind for ground in said.grounds or ()})
        sessions.add(session_of(report.body))
    transaction = Transaction(connection, settings, project)
    commands = _told_commands(commands_in(transaction))
    lessons = [each for each in lessons_of(transaction) if each.kind not in _TOLD]
    return ProjectWork(
        project=project,
        runs=verdicts.total(),
        sources=dict(sources.most_common()),
        successes=verdicts[True],
        failures=verdicts[False],
        undecided=verdicts[None],
        ends={kind: ends[kind] for kind in _ENDS if ends[kind]},
        sessions=len(sessions - {""}),
        lessons=tuple(lessons[:_MOST_LESSONS]),
        commands=commands,
    )


def _told_commands(commands: Sequence[CommandAnswer]) -> tuple[CommandAnswer, ...]:
    """Return what a maintainer would say: what does not run, and one line for each kind that does.

    What failed in one or two sessions alone is not told.
    """
    repeated = [each for each in commands if each.sessions >= FEWEST_SESSIONS]
    failing = [each for each in repeated if each.state in _FAILING]
    failing.sort(key=lambda each: (not each.is_standing, -each.calls))
    often = [each for each in repeated if each.state is CommandState.OFTEN_FAILS]
    often.sort(key=lambda each: (-each.sessions, each.line))
    not_here = [each for each in repeated if each.state is CommandState.NOT_HERE]
    runs: dict[tuple[str, str], CommandAnswer] = {}
    for each in commands:
        key = each.repository, each.kind
        if each.state is CommandState.RUNS and (
            key not in runs or each.sessions > runs[key].sessions
        ):
            runs[key] = each
    running = [each for each in runs.values() if each.sessions >= FEWEST_SESSIONS]
    return (*failing[:_MOST_FAILING], *often[:_MOST_FAILING], *running, *not_here)
