"""After a failure: how the run went on, strictly counted.

A call that ends the run is not a remedy, and runs that gave up are counted apart.
"""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

from .history import History

# A word that many tools' names have does not tell which one stands in for another.
_COMMON_WORD: Final = 0.25
# Of a run in which more tools fail, the first ones are followed.
_MOST_FOLLOWED: Final = 20
_WORD: Final = re.compile(r"[^\W_]{3,}")
# What stands before it names a shell or a server: `shell:npm test`, `mcp__files__read`.
_PREFIX: Final = re.compile(r"\A.*(?::|__)(?=.)", re.DOTALL)


@dataclass
class AfterFailures:
    """The events after the failures of one tool.

    Attributes:
        gave_up: the runs in which it was not tried again and nothing took its place.
        again: the runs that tried it again, and whether the next try worked.
        works: those of them in which it then worked, and the call right before that.
        instead: for each other tool the runs in which it took its place.
    """

    gave_up: list[int] = field(default_factory=list)
    again: dict[int, bool] = field(default_factory=dict)
    works: dict[int, int] = field(default_factory=dict)
    instead: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


def after_failures(history: History) -> dict[int, AfterFailures]:
    """Return by tool of the agent what followed its failures."""
    stand_ins = _Substitutes(history)
    found: defaultdict[int, AfterFailures] = defaultdict(AfterFailures)
    followed: defaultdict[int, set[int]] = defaultdict(set)
    for position, place, tool in history.failed_calls:
        # From the first failure of a tool in the run on.
        tools = followed[position]
        if tool not in tools and len(tools) < _MOST_FOLLOWED and history.is_agents(tool):
            tools.add(tool)
            _follow(history, position, place, found[tool], stand_ins)
    return found


def _follow(
    history: History, position: int, place: int, after: AfterFailures, stand_ins: "_Substitutes"
) -> None:
    calls, steps = history.calls[position], history.runs[position].steps
    tool = calls[place]
    tries = [n for n in range(place + 1, len(calls)) if calls[n] == tool]
    if tries:
        after.again[position] = not steps[tries[0]].failed
    works = next((n for n in tries if not steps[n].failed), None)
    if works is not None:
        if works < len(calls) - 1:
            after.works[position] = calls[works - 1]
        return
    others = {
        calls[n]
        for n in range(place + 1, len(calls) - 1)
        if not steps[n].failed
        and stand_ins.has(tool, calls[n], steps[place].arguments, steps[n].arguments)
    }
    for other in others:
        after.instead[other].append(position)
    if not tries and not others:
        after.gave_up.append(position)


class _Substitutes:
    """The tools that replace another one."""

    def __init__(self, history: History) -> None:
        self._history = history
        names = [_PREFIX.sub("", caller.tool.lower()) for caller in history.callers]
        self._words = [frozenset(_WORD.findall(name)) for name in names]
        tools = Counter(word for words in self._words for word in words)
        most = max(2.0, _COMMON_WORD * len(names))
        self._telling = {word for word, count in tools.items() if count <= most}

    def has(self, tool: int, other: int, arguments: int, of_other: int) -> bool:
        """Return whether a call of another tool replaces the failed one.

        It has the same arguments, or a name with a telling word in common.
        """
        if tool == other or not self._history.is_agents(other):
            return False
        same = arguments != 0 and arguments == of_other
        return same or bool(self._words[tool] & self._words[other] & self._telling)
