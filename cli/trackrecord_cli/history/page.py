"""The closing page of an import of sessions: facts about a person's own agents.

Each fact has its counts, and below it the command that shows the runs behind it.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from trackrecord.learning.advice.moments.commands import CommandState
from trackrecord.learning.text.inert import one_line

from ..output.screen import console, on_terminal

if TYPE_CHECKING:
    from trackrecord.resources.experience.commands import CommandAnswer
    from trackrecord.resources.reports.agents_work import FailingTool, Procedure, ProjectWork

_MOST_FACTS: Final = 5
_MOST_ENDS: Final = 8
_MOST_COMMANDS: Final = 8
_MOST_LESSONS: Final = 4
_NAME_CHARS: Final = 60
_ID_CHARS: Final = 14
_ENDED: Final = {
    "no check": "changed files and ended without a check",
    "check before the last edit": "ended with a check that came before the last edit",
    "interrupted": "had to be interrupted",
}


class PageFact(NamedTuple):
    """One line of the page.

    Attributes:
        says: the fact with its counts.
        command: what shows the runs behind it.
        weight: the more, the earlier it stands.
    """

    says: str
    command: str
    weight: float


def print_page(works: Sequence[ProjectWork]) -> None:
    """Print the facts about the agents' work; nothing without any."""
    if not works:
        return
    out = console()
    out.print(_title(works), style="bold", markup=False)
    print_commands({work.project: work.commands for work in works})
    for heading, facts, most in (
        ("What fails most, and what then worked", _failing(works), _MOST_FACTS),
        ("What else the calls teach", _lessons(works), _MOST_LESSONS),
        ("Procedures that succeed", _procedures(works), _MOST_FACTS),
        ("How the work ends", _ends(works), _MOST_ENDS),
    ):
        shown = sorted(facts, key=lambda fact: -fact.weight)[:most]
        if shown:
            _print_section(heading, shown)
    out.print()
    out.print("`trackrecord lessons` shows this again.", markup=False)


def print_commands(told: Mapping[str, Sequence[CommandAnswer]]) -> None:
    """Print which commands never run and which do, by project; nothing if none is known."""
    if facts := list(_commands(told)):
        _print_section("Which commands run, and which do not", facts)


def _print_section(heading: str, facts: Iterable[PageFact]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    out = console()
    out.print()
    out.print(heading, style="bold cyan", markup=False)
    for fact in facts:
        if on_terminal():  # a fact that needs two lines is indented on both
            out.print(Padding(Text(fact.says), (0, 0, 0, 2), expand=False))
        else:
            out.print(f"  {fact.says}", markup=False)
        # One line, however narrow the terminal is: it is there to be copied.
        out.print(f"    {fact.command}", style="dim", markup=False, soft_wrap=True)


def _title(works: Sequence[ProjectWork]) -> str:
    sources: Counter[str] = Counter()
    for work in works:
        sources.update(work.sources)
    agents = ", ".join(f"{_name(source)} {count}" for source, count in sources.most_common(6))
    runs, projects = sum(work.runs for work in works), len(works)
    return f"{_counted(runs, 'run')} in {_counted(projects, 'project')} ({agents})"


def _commands(told: Mapping[str, Sequence[CommandAnswer]]) -> Iterator[PageFact]:
    """Yield what never runs, of all projects, before what runs."""
    every = [(project, command) for project, some in told.items() for command in some]
    every.sort(key=lambda each: (each[1].state is CommandState.RUNS, not each[1].is_standing))
    for project, command in every[:_MOST_COMMANDS]:
        show = _command(f"commands show {command.id[:_ID_CHARS]}", project)
        yield PageFact(f"{_name(project)}: {command.text}", show, command.sessions)


def _failing(works: Sequence[ProjectWork]) -> Iterator[PageFact]:
    for work in works:
        for tool in work.failing:
            says = (
                f"{_name(work.project)}: {_name(tool.tool)} failed in {tool.failures} of "
                f"{_counted(tool.calls, 'call')}, in {_counted(tool.runs, 'run')}{_mended(tool)}"
            )
            command = _command("runs list", work.project, "--tool", tool.tool, "--failed")
            yield PageFact(says, command, tool.failures)


def _mended(tool: FailingTool) -> str:
    if not tool.recovered:
        return ""
    later = f"; it worked later in {tool.recovered} of them"
    if not tool.worked_after:
        return later
    after = ", ".join(f"{_name(name)} ({count})" for name, count in tool.worked_after.items())
    return f"{later}, after {after}"


def _lessons(works: Sequence[ProjectWork]) -> Iterator[PageFact]:
    for work in works:
        for lesson in work.lessons:
            says = f"{_name(work.project)}: {lesson.text}"
            command = _command(f"lessons show {lesson.id[:_ID_CHARS]}", work.project)
            yield PageFact(says, command, lesson.strength)


def _procedures(works: Sequence[ProjectWork]) -> Iterator[PageFact]:
    for work in works:
        for procedure in work.procedures:
            of_all = f"{procedure.successes} of {_counted(procedure.runs, 'run')}"
            says = f"{_name(work.project)}: {_tools(procedure)} succeeded in {of_all}"
            command = _command(f"competences show {procedure.id[:_ID_CHARS]}", work.project)
            yield PageFact(says, command, procedure.successes)


def _tools(procedure: Procedure) -> str:
    return " > ".join(_name(tool) for tool in procedure.tools)


def _ends(works: Sequence[ProjectWork]) -> Iterator[PageFact]:
    for work in works:
        name = _name(work.project)
        says = (
            f"{name}: of {_counted(work.runs, 'run')}, {work.successes} succeeded, "
            f"{work.failures} failed, {work.undecided} ended without a verdict"
        )
        yield PageFact(says, _command("runs list", work.project), work.runs)
        for place, (kind, count) in enumerate(work.ends.items(), start=1):
            says = f"{name}: {_share(count, work.runs)} {_ENDED[kind]}"
            yield PageFact(
                says, _command("runs list", work.project, "--ground", kind), work.runs - place / 10
            )


def _share(part: int, whole: int) -> str:
    return f"{part} of {_counted(whole, 'run')} ({part / whole:.0%})"


def _command(command: str, project: str, *more: str) -> str:
    """Return a command to be copied; a name that would steer the terminal loses what would."""
    words = ["trackrecord", *command.split(), "--project", project, *more]
    return shlex.join(word if word.isprintable() else one_line(word) for word in words)


def _name(text: str) -> str:
    return one_line(text, _NAME_CHARS)


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
