"""What never succeeds: procedures, and the last steps of runs, with no success at all."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from ...competences.episodes import signature_of
from .chance import discoveries, share_interval
from .finding import Finding
from .history import Caller, History
from .lesson import LessonKind
from .rules import LessonRules
from .wording import counted, joined

# Of what is said to never succeed, chance explains at most one in twenty.
_LEVEL: Final = 0.05
# How many runs of the project a task's other runs are weighed against.
_PRIOR_RUNS: Final = 2.0

_Subject = tuple[str, tuple[int, ...]]


def find_failing_ways(history: History, rules: LessonRules) -> Iterator[Finding]:
    """Yield procedures and endings that never succeeded, though such tasks do otherwise."""
    tested, hopeless = 0, []
    for subject, positions in _ways(history).items():
        tasks = history.tasks_of(positions)
        if len(tasks) < rules.min_tasks:
            continue
        tested += 1
        if not any(history.successes[position] for position in positions):
            hopeless.append((_by_chance(history, positions), subject, positions))
    found = discoveries([each[0] for each in hopeless], level=_LEVEL, tests=max(1, tested))
    for place in found:
        yield _finding(history, *hopeless[place][1:])


def _ways(history: History) -> dict[_Subject, list[int]]:
    """Return the runs of each set of tools, of each last step, and of each last two."""
    found: defaultdict[_Subject, list[int]] = defaultdict(list)
    is_agents = [caller.is_agent for caller in history.callers]
    for position, calls in enumerate(history.calls):
        if not calls:
            continue
        found["alone", tuple(sorted({call for call in calls if is_agents[call]}))].append(position)
        last = calls[-1]
        found["ends", (last,)].append(position)
        before = next((call for call in reversed(calls) if call != last), None)
        if before is not None:
            found["ends", (before, last)].append(position)
    return found


def _by_chance(history: History, positions: list[int]) -> float:
    """Return how probable it is that none succeeds, if these runs go as such tasks do otherwise.

    A task counts once, however many of its runs there are: they are alike.
    """
    tried: defaultdict[int, int] = defaultdict(int)
    for position in positions:
        tried[history.tasks[position]] += 1
    rate, none = history.success_rate, 1.0
    for task, runs in sorted(tried.items()):
        others = history.task_runs[task] - runs
        won = history.task_successes[task]
        none *= 1 - (won + _PRIOR_RUNS * rate) / (others + _PRIOR_RUNS)
    return none


def _finding(history: History, subject: _Subject, positions: list[int]) -> Finding:
    kind, callers = subject
    who = (
        sorted(history.callers[caller] for caller in callers)
        if kind == "alone"
        else [history.callers[caller] for caller in callers]
    )
    runs, tasks = len(positions), len(history.tasks_of(positions))
    interval = share_interval(0, tasks)
    tools = [caller.tool for caller in who]
    english, chinese = (_tools if kind == "alone" else _ending)(who)
    return Finding(
        kind=LessonKind.NEVER_SUCCEEDS,
        subject=(kind, *([signature_of(tuple(tools))] if kind == "alone" else map("\0".join, who))),
        tools=tuple(reversed(tools)) if kind == "ends" else tuple(tools),
        actor=who[-1].actor,
        positions=positions,
        interval=interval,
        sure=1 - interval[1],
        lines={
            "en": f"{english}: 0 of {counted(runs, 'runs')} succeeded, in "
            f"{counted(tasks, 'tasks')}",
            "zh": f"{chinese}: {runs} 次运行中 0 次成功,涉及 {tasks} 个任务",
        },
    )


def _tools(who: list[Caller]) -> tuple[str, str]:
    names = joined([caller.tool for caller in who])
    return f"runs with {names} and no other tool", f"只使用 {names} 的运行"


def _ending(who: list[Caller]) -> tuple[str, str]:
    names = joined([caller.tool for caller in who], " → ")
    return f"runs that end in {names}", f"以 {names} 结束的运行"
