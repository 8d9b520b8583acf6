"""The work of agents: by project, frequent failures, endings of runs, procedures that succeed."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.advice.lessons.lesson import LessonKind
from trackrecord.learning.advice.moments.commands import CommandState
from trackrecord.learning.advice.rules import MAX_RUNS
from trackrecord.learning.advice.runs.failures import names_its_remedy
from trackrecord.learning.competences.episodes.checks import is_check
from trackrecord.resources.access.project_store import Transaction
from trackrecord.resources.declaration.resource import Answer
from trackrecord.resources.experience.commands import CommandAnswer, commands_in
from trackrecord.resources.experience.lessons import LessonAnswer, lessons_of
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.competences.read import read_competences
from trackrecord.store.outcomes.projects import project_id_of, project_names
from trackrecord.wire.outcome import Outcome

from .runs import read_reports

# Kinds of evidence that tell how a run ended, as the capture names them.
NO_CHECK: Final = "no check"
EARLY_CHECK: Final = "check before the last edit"
INTERRUPTED: Final = "interrupted"
_ENDS: Final = (NO_CHECK, EARLY_CHECK, INTERRUPTED)
_MOST_TOOLS: Final = 5
_FEWEST_FAILURES: Final = 2
_MOST_PROCEDURES: Final = 5
_MOST_LESSONS: Final = 5
_MOST_FAILING: Final = 5
_FEWEST_SESSIONS: Final = 3
# What these lessons say of a failing tool is told beside its counts already.
_TOLD: Final = frozenset({LessonKind.FAILS})


class FailingTool(Answer, frozen=True):
    """A tool or a command that fails.

    Attributes:
        tool: its name.
        failures: how many of its calls failed.
        calls: how many there were.
        runs: in how many runs it failed.
        recovered: in how many of these runs it succeeded later.
        worked_after: the calls that came directly before that success, the most frequent first,
            each with its runs; nothing for a check, which an edit mends.
    """

    tool: str
    failures: int
    calls: int
    runs: int
    recovered: int
    worked_after: dict[str, int]


class Procedure(Answer, frozen=True):
    """A procedure that succeeds.

    Attributes:
        id: of its competence record.
        tools: its tools in the order of use.
        successes: the runs with it that reached their goal.
        runs: all runs with it.
    """

    id: str
    tools: tuple[str, ...]
    successes: int
    runs: int


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
        failing: the tools that fail most, the most frequent first.
        procedures: the procedures that succeed, the best first.
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
    failing: tuple[FailingTool, ...] = ()
    procedures: tuple[Procedure, ...] = ()
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
    tally = _Tally()
    transaction = Transaction(connection, settings, project)
    lessons = lessons_of(transaction)
    for _, said in read_reports(connection, project, limit=MAX_RUNS):
        tally.add(said)
    return ProjectWork(
        project=project,
        runs=tally.verdicts.total(),
        sources=dict(tally.sources.most_common()),
        successes=tally.verdicts[True],
        failures=tally.verdicts[False],
        undecided=tally.verdicts[None],
        ends={kind: tally.ends[kind] for kind in _ENDS if tally.ends[kind]},
        failing=tally.failing(),
        procedures=_procedures(connection, project),
        lessons=tuple(each for each in lessons if each.kind not in _TOLD)[:_MOST_LESSONS],
        commands=_told_commands(commands_in(transaction)),
    )


def _told_commands(commands: Sequence[CommandAnswer]) -> tuple[CommandAnswer, ...]:
    """Return what a maintainer would say: what does not run, and one line for each kind that does.

    What failed in one or two sessions alone is not told.
    """
    failing = [
        each
        for each in commands
        if each.state is not CommandState.RUNS and each.sessions >= _FEWEST_SESSIONS
    ]
    failing.sort(key=lambda each: (not each.is_standing, -each.calls))
    runs: dict[tuple[str, str], CommandAnswer] = {}
    for each in commands:
        key = each.repository, each.kind
        if each.state is CommandState.RUNS and (
            key not in runs or each.sessions > runs[key].sessions
        ):
            runs[key] = each
    running = [each for each in runs.values() if each.sessions >= _FEWEST_SESSIONS]
    return (*failing[:_MOST_FAILING], *running)


@dataclass
class _Tally:
    sources: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[bool | None] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    _calls: Counter[str] = field(default_factory=Counter)
    _failures: Counter[str] = field(default_factory=Counter)
    _runs: Counter[str] = field(default_factory=Counter)
    _recovered: Counter[str] = field(default_factory=Counter)
    _after: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, outcome: Outcome) -> None:
        """Count one run."""
        self.sources[outcome.source or "unknown"] += 1
        self.verdicts[outcome.success] += 1
        self.ends.update({ground.kind for ground in outcome.grounds or ()})
        self._add_calls(outcome)

    def _add_calls(self, outcome: Outcome) -> None:
        broken: set[str] = set()
        mended: dict[str, str] = {}
        before = ""
        for call in outcome.tool_graph or ():
            tool = call.tool or "unknown"
            self._calls[tool] += 1
            if call.failed and names_its_remedy(bytes(call.error).decode()):
                # Nobody needs to be told what the agent's own tool says.
                self._calls[tool] -= 1
            elif call.failed:
                self._failures[tool] += 1
                broken.add(tool)
                mended.pop(tool, None)
            elif call.ok and tool in broken:
                mended.setdefault(tool, before)
            before = tool
        self._runs.update(broken)
        self._recovered.update(mended.keys())
        for tool, mender in mended.items():
            if mender != tool and not is_check(tool):
                self._after[tool][mender] += 1

    def failing(self) -> tuple[FailingTool, ...]:
        """Return the tools that fail most often."""
        most = self._failures.most_common()
        return tuple(
            FailingTool(
                tool,
                failures,
                self._calls[tool],
                self._runs[tool],
                self._recovered[tool],
                dict(self._after[tool].most_common(2)),
            )
            for tool, failures in most[:_MOST_TOOLS]
            if failures >= _FEWEST_FAILURES
        )


def _procedures(connection: Connection, project: str) -> tuple[Procedure, ...]:
    project_id = project_id_of(connection, project)
    if project_id is None:
        return ()
    found = [
        Procedure(
            record.id,
            tuple(step.tool for step in record.recipe),
            record.performance.success_count,
            record.performance.success_count + record.performance.failure_count,
        )
        for record in read_competences(connection, project_id)
    ]
    best = sorted(found, key=lambda each: (-each.successes, each.runs, each.tools))
    return tuple(each for each in best if each.successes)[:_MOST_PROCEDURES]
