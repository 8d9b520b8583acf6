"""The closing page of an import of sessions: facts about a person's own agents.

A heading for each repository, and below it one line for each fact, the costliest first, with the id
by which it is looked at and dismissed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from trackrecord.learning.advice.moments.commands import CommandState
from trackrecord.learning.advice.moments.wording import KINDS
from trackrecord.learning.text.inert import one_line

from ..output.screen import console, on_terminal

if TYPE_CHECKING:
    from trackrecord.resources.experience.commands import CommandAnswer
    from trackrecord.resources.reports.agents_work import ProjectWork
    from trackrecord.resources.reports.instruction_file import InstructionCheck

_MOST_PROJECTS: Final = 8
_MOST_FACTS: Final = 5
_MOST_ENDS: Final = 2
_NAME_CHARS: Final = 60
_ID_CHARS: Final = 8
_ERROR_CHARS: Final = 60
_HALF: Final = 0.5
_COSTLY: Final = (
    CommandState.NEVER_RAN, CommandState.FAILS, CommandState.NEEDS, CommandState.OFTEN_FAILS,
)  # fmt: skip
_ENDED: Final = {
    "no check": "changed files and ended without a check",
    "check before the last edit": "were checked before the last edit only",
    "interrupted": "had to be interrupted",
}


class PageFact(NamedTuple):
    """One line of the page.

    Attributes:
        says: the fact with its counts.
        id: by which it is looked at and dismissed; "" for none.
        cost: the sessions that it cost.
    """

    says: str
    id: str = ""
    cost: int = 0


def print_page(works: Sequence[ProjectWork], *, is_installed: bool) -> None:
    """Print the facts about the agents' work; nothing without any.

    Args:
        works: by project, those with most runs first.
        is_installed: whether agents report by themselves already, and are told.
    """
    if not works:
        return
    out = console()
    out.print(_title(works), style="bold", markup=False)
    costliest: tuple[PageFact, str] | None = None
    for work in works[:_MOST_PROJECTS]:
        costs = sorted(_costs(work), key=lambda fact: -fact.cost)[:_MOST_FACTS]
        if costs and (costliest is None or costs[0].cost > costliest[0].cost):
            costliest = costs[0], work.project
        # What runs, by kind, and which files are not here.
        others = [
            PageFact(each.text, each.id) for each in work.commands if each.state not in _COSTLY
        ]
        sessions = f", {_counted(work.sessions, 'session')}" if work.sessions else ""
        _print_facts(
            f"{_name(work.project)} ({_counted(work.runs, 'run')}{sessions})",
            [*costs, *others, *_ends(work)],
        )
    out.print()
    if len(works) > _MOST_PROJECTS:
        more = len(works) - _MOST_PROJECTS
        out.print(f"And {_counted(more, 'project')} more: `trackrecord projects`.", markup=False)
    if costliest is not None:
        fact, project = costliest
        _print_line(f"Costliest: {_name(project)}: {fact.says}")
    for line in _next_steps(works, is_installed=is_installed):
        _print_line(line)


def print_commands(told: Mapping[str, Sequence[CommandAnswer]]) -> None:
    """Print which commands never run and which do, by project; nothing if none is known."""
    for project, commands in told.items():
        if commands:
            facts = [PageFact(each.text, each.id) for each in commands]
            _print_facts(_name(project), facts)


def print_check(name: str, project: str, check: InstructionCheck) -> None:
    """Print what a file of instructions says that does not work, and a block that it lacks.

    Args:
        name: the file's name.
        project: with whose sessions it was compared.
        check: what was found.
    """
    facts = [PageFact(_failing_command(each), each.id) for each in check.failing]
    facts += [
        PageFact(f"`{path}` was not found in {_counted(sessions, 'session')}")
        for path, sessions in check.missing.items()
    ]
    if facts:
        _print_facts(f"{_name(name)} names, and it does not work", facts)
    if check.lacks:
        out = console()
        out.print()
        out.print(f"{_name(name)} lacks; to paste:", style="bold cyan", markup=False)
        out.print()
        for each in check.lacks:
            kind = KINDS.get(each.kind, each.kind)
            out.print(f"- {kind}: `{each.line}`", markup=False, soft_wrap=True)
    if not facts and not check.lacks:
        _print_line(f"{_name(name)} agrees with the sessions of {_name(project)}")


def _next_steps(works: Sequence[ProjectWork], *, is_installed: bool) -> Iterator[str]:
    if any(work.commands for work in works):
        yield "`trackrecord commands show ID` shows the runs, `… dismiss ID` ends a wrong one."
    if is_installed:
        yield "`trackrecord lessons` shows this again."
    else:
        yield "Next: `trackrecord install all` tells your agents, and learns from each session."


def _print_facts(heading: str, facts: Sequence[PageFact]) -> None:
    out = console()
    out.print()
    out.print(heading, style="bold cyan", markup=False)
    for fact in facts:
        _print_line(f"  {fact.id[:_ID_CHARS]:{_ID_CHARS}}  {fact.says}")
    if not facts:
        _print_line("  nothing has repeated so far: facts need three sessions")


def _print_line(text: str) -> None:
    """Print one line of the terminal, cut where it is too narrow; all of it in a pipe."""
    out = console()
    if on_terminal():
        out.print(text, markup=False, no_wrap=True, overflow="ellipsis", soft_wrap=False)
    else:
        out.print(text, markup=False, soft_wrap=True)


def _title(works: Sequence[ProjectWork]) -> str:
    sources: Counter[str] = Counter()
    for work in works:
        sources.update(work.sources)
    agents = ", ".join(f"{_name(source)} {count}" for source, count in sources.most_common(6))
    runs, projects = sum(work.runs for work in works), len(works)
    return f"{_counted(runs, 'run')} in {_counted(projects, 'project')} ({agents})"


def _costs(work: ProjectWork) -> Iterator[PageFact]:
    """Yield what fails, with the sessions that it cost, and what else the calls teach."""
    for command in work.commands:
        if command.state in _COSTLY:
            yield PageFact(_failing_command(command), command.id, command.sessions)
    for lesson in work.lessons:
        yield PageFact(lesson.text, lesson.id, 0)


def _failing_command(command: CommandAnswer) -> str:
    if command.state in (CommandState.NEEDS, CommandState.OFTEN_FAILS):
        return command.text
    state = "never ran" if command.state is CommandState.NEVER_RAN else "no longer runs"
    said = f"`{command.line}` {state}, in {_counted(command.sessions, 'session')}"
    if command.instead:
        return f"{said}; `{command.instead}` then did in {command.instead_sessions}"
    return f"{said}: {one_line(command.error, _ERROR_CHARS)}" if command.error else said


def _ends(work: ProjectWork) -> Iterator[PageFact]:
    known = work.successes + work.failures
    if known and known >= _HALF * work.runs:
        yield PageFact(f"{work.successes:,} of {_counted(known, 'run')} with a verdict succeeded")
    for kind, count in sorted(work.ends.items(), key=lambda item: -item[1])[:_MOST_ENDS]:
        yield PageFact(f"{count:,} of {_counted(work.runs, 'run')} {_ENDED[kind]}")


def _name(text: str) -> str:
    return one_line(text, _NAME_CHARS)


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
