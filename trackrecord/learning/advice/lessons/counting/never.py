"""Last steps of runs that never succeed."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from ..chance import discoveries, share_interval
from ..finding import Finding
from ..history import History, ToolCaller
from ..lesson import LessonKind
from ..rules import LessonRules
from ..wording import counted, joined, tool_text

# Of what is said to never succeed, chance explains at most one in twenty.
_LEVEL: Final = 0.05
# How many runs of the project a task's other runs are weighed against.
_PRIOR_RUNS: Final = 2.0

# A call that ends at least this share of the successful runs is how runs are finished here.
_CLOSING_SHARE: Final = 0.95
_MIN_CLOSED: Final = 10
_ALIKE_SHARE: Final = 0.5

# "ends": the last steps of the run; "unfinished": how it did not end.
_Subject = tuple[str, tuple[int, ...]]


def find_failing_ways(history: History, rules: LessonRules) -> Iterator[Finding]:
    """Yield endings that never succeeded, though such tasks do otherwise."""
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
    """Return the runs of each last step, and of each last two."""
    found: defaultdict[_Subject, list[int]] = defaultdict(list)
    closing = _closing_call(history)
    for position, calls in enumerate(history.calls):
        if not calls:
            continue
        if closing is not None and calls[-1] != closing:
            # They were cut short, wherever that was: one fact, not one for each last step.
            found["unfinished", (closing,)].append(position)
            continue
        if history.runs[position].steps[-1].failed:
            continue  # The failure is the fact.
        last = calls[-1]
        found["ends", (last,)].append(position)
        before = next((call for call in reversed(calls) if call != last), None)
        if before is not None:
            found["ends", (before, last)].append(position)
    return found


def _closing_call(history: History) -> int | None:
    """Return the call that ends nearly every successful run, such as `submit`; None without one.

    The other runs must stop anywhere. Where most of them end alike, that end is what is told.
    """
    won = zip(history.calls, history.successes, strict=True)
    last = Counter(calls[-1] for calls, success in won if success and calls)
    if last.total() < _MIN_CLOSED:
        return None
    call, times = min(last.items(), key=lambda item: (-item[1], history.callers[item[0]]))
    others = Counter(calls[-1] for calls in history.calls if calls and calls[-1] != call)
    stop_anywhere = others and max(others.values()) <= _ALIKE_SHARE * others.total()
    return call if stop_anywhere and times >= _CLOSING_SHARE * last.total() else None


def _by_chance(history: History, positions: list[int]) -> float:
    """Return the probability that all of these runs fail, at the rate of other such runs.

    A task counts once, however many of its runs there are: they are alike. Where a task was tried
    again until it succeeded, runs after as many failures tell how it goes otherwise.
    """
    tried: Counter[int] = Counter()
    rates: dict[int, float] = {}
    for position in positions:
        task = history.tasks[position]
        if history.within[position] is not None:
            tried[task] += 1
        rate = history.rate_at(history.attempts[position])
        rates[task] = min(rate, rates.get(task, 1.0))
    none = 1.0
    for task, rate in sorted(rates.items()):
        others, won = 0, 0
        if tried[task]:
            others = history.compared_runs[task] - tried[task]
            won = history.compared_successes[task]
            rate = history.success_rate
        none *= 1 - (won + _PRIOR_RUNS * rate) / (others + _PRIOR_RUNS)
    return none


def _finding(history: History, subject: _Subject, positions: list[int]) -> Finding:
    kind, callers = subject
    who = [history.callers[caller] for caller in callers]
    runs, tasks = len(positions), len(history.tasks_of(positions))
    interval = share_interval(0, tasks)
    # That unfinished runs fail is not news; it counts by how many tasks it hits.
    hit = share_interval(tasks, history.task_count)[0]
    tools = [caller.tool for caller in who]
    english, chinese = _WORDINGS[kind](who)
    return Finding(
        kind=LessonKind.NEVER_SUCCEEDS,
        subject=(kind, *map("\0".join, who)),
        tools=tuple(reversed(tools)) if kind == "ends" else tuple(tools),
        actor=who[-1].actor,
        positions=positions,
        interval=interval,
        sure=hit if kind == "unfinished" else 1 - interval[1],
        # How to finish is known; elsewhere only what does not help.
        says_what_to_do=kind == "unfinished",
        lines={
            "en": f"{english}: 0 of {counted(runs, 'runs')} succeeded, in "
            f"{counted(tasks, 'tasks')}",
            "zh": f"{chinese}: {runs} 次运行中 0 次成功,涉及 {tasks} 个任务",
        },
    )


def _unfinished(who: list[ToolCaller]) -> tuple[str, str]:
    name = joined([caller.tool for caller in who])
    return f"runs that do not end in {name}", f"不以 {name} 结束的运行"


def _ending(who: list[ToolCaller]) -> tuple[str, str]:
    # Most calls are the agent's: only another caller is named.
    english, chinese = (" → ".join(each) for each in zip(*map(tool_text, who), strict=True))
    return f"runs that end in {english.rstrip(',')}", f"以 {chinese} 结束的运行"


_WORDINGS: Final = {"ends": _ending, "unfinished": _unfinished}
