"""Loops: the same call with the same arguments, again and again, and how such runs end."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from .chance import share_interval
from .fails import has_stopped
from .finding import Finding
from .history import History
from .lesson import LessonKind
from .rules import LessonRules
from .wording import counted, tool_text

# From so many equal calls in a row on, it is a loop.
_AGAIN: Final = 3


def find_loops(history: History, rules: LessonRules) -> Iterator[Finding]:
    """Yield the calls of the agent that several tasks' runs repeat without a change."""
    found: defaultdict[int, dict[int, int]] = defaultdict(dict)
    failing: defaultdict[int, int] = defaultdict(int)
    for position, run in enumerate(history.runs):
        calls = history.calls[position]
        if len(set(calls)) == len(calls):
            continue
        made = [(call, step.arguments) for call, step in zip(calls, run.steps, strict=True)]
        place = 0
        for (call, arguments), equal in groupby(made):
            length = len(list(equal))
            if length >= _AGAIN and arguments and history.is_agents(call):
                found[call][position] = found[call].get(position, 0) + length
                failing[call] += sum(s.failed for s in run.steps[place : place + length])
            place += length
    for call, runs in found.items():
        positions = list(runs)
        if len(history.tasks_of(positions)) >= rules.min_tasks:
            yield _finding(history, call, positions, sum(runs.values()), failing[call])


def _finding(
    history: History, call: int, positions: list[int], calls: int, failing: int
) -> Finding:
    who = history.callers[call]
    runs, tasks = len(positions), len(history.tasks_of(positions))
    won = sum(history.successes[position] for position in positions)
    others, others_won = len(history.runs) - runs, sum(history.successes) - won
    lost = {history.tasks[each] for each in positions if not history.successes[each]}
    interval = share_interval(len(lost), tasks)
    english, chinese = tool_text(who)
    return Finding(
        kind=LessonKind.LOOPS,
        subject=(who.tool, who.actor),
        tools=(who.tool,),
        actor=who.actor,
        positions=positions,
        calls=calls,
        failing_calls=failing,
        interval=interval,
        sure=interval[0],
        is_over=has_stopped(history, history.runs_with[call], positions),
        lines={
            "en": f"{english} was called {_AGAIN} or more times in a row with the same arguments "
            f"in {counted(runs, 'runs')}, in {counted(tasks, 'tasks')}; {won} of these runs "
            f"succeeded, and {others_won} of the {counted(others, 'other runs')}",
            "zh": f"{chinese} 在 {runs} 次运行中以相同参数连续调用 {_AGAIN} 次或更多,涉及 {tasks} "
            f"个任务;其中 {won} 次成功,其他 {others} 次运行中 {others_won} 次成功",
        },
    )
