"""Episodes: derive the procedure from a run of tool calls."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from heapq import heapify, heappop, heappush
from typing import Final, Protocol, TypeVar

import msgspec

from ..rules import MAX_TOOLS, CompetenceRules
from .actors import USER

# Episodes with a tool of a longer name are skipped.
_LONGEST_NAME: Final = 256


class EpisodeCall(Protocol):
    """One call of a tool, as the agent reported it."""

    @property
    def tool(self) -> str | None:
        """The tool's name."""

    @property
    def id(self) -> str | int | None:
        """The id by which other calls' `depends_on` refer to this call."""

    @property
    def actor(self) -> str | None:
        """The one who made the call; None for the agent itself."""

    @property
    def args(self) -> msgspec.Raw:
        """Return the arguments' undecoded JSON, empty when there are none."""

    @property
    def depends_on(self) -> tuple[str | int, ...] | None:
        """The ids of the calls that came before this one."""


AnyCall = TypeVar("AnyCall", bound=EpisodeCall)


class NoProcedure(StrEnum):
    """Reasons why a run of tool calls is not a procedure."""

    NO_TOOLS = "no named tool"
    TOO_MANY_TOOLS = "too many tools"
    LONG_NAME = "a tool's name is too long"


def procedure_of(
    rules: CompetenceRules, calls: Sequence[EpisodeCall]
) -> tuple[str, ...] | NoProcedure:
    """Return the tools in the order of their use, names stripped, blank names dropped.

    Each tool stands where it was used first, unless the rules keep repeats. Calls of the user are
    not a part of what the agent does.
    """
    names = [
        name
        for call in in_order(calls)
        if call.tool and call.actor != USER and (name := call.tool.strip())
    ]
    order = tuple(names if rules.keep_repeats else dict.fromkeys(names))
    if not order:
        return NoProcedure.NO_TOOLS
    if len(order) > MAX_TOOLS:
        return NoProcedure.TOO_MANY_TOOLS
    if max(map(len, order)) > _LONGEST_NAME:
        return NoProcedure.LONG_NAME
    return order


def in_order(calls: Sequence[AnyCall]) -> Iterable[AnyCall]:
    """Return the calls such that each follows its dependencies, otherwise in their order.

    An id that no call has is ignored; of two calls with one id the first is meant. A circle of
    dependencies is broken at the first of the calls that are left.
    """
    if not [call for call in calls if call.depends_on]:
        return calls
    waits_for = _dependencies(calls)
    followers: list[list[int]] = [[] for _ in calls]
    for position, earlier in enumerate(waits_for):
        for before in earlier:
            followers[before].append(position)
    return [calls[position] for position in _sorted_positions(waits_for, followers)]


def _dependencies(calls: Sequence[EpisodeCall]) -> list[set[int]]:
    position_of: dict[str, int] = {}
    for position, call in enumerate(calls):
        if call.id is not None:
            position_of.setdefault(str(call.id), position)
    return [
        {
            position_of[str(id_)]
            for id_ in call.depends_on or ()
            if position_of.get(str(id_), position) != position
        }
        for position, call in enumerate(calls)
    ]


def _sorted_positions(waits_for: list[set[int]], followers: list[list[int]]) -> Iterable[int]:
    """Sort topologically by Kahn's algorithm, lowest position first."""
    missing = [len(earlier) for earlier in waits_for]
    ready = [position for position, count in enumerate(missing) if count == 0]
    heapify(ready)
    done = [False] * len(missing)
    left = iter(range(len(missing)))
    while True:
        while ready:
            position = heappop(ready)
            done[position] = True
            yield position
            for follower in followers[position]:
                missing[follower] -= 1
                if missing[follower] == 0 and not done[follower]:
                    heappush(ready, follower)
        in_circle = next((position for position in left if not done[position]), None)
        if in_circle is None:
            return
        ready.append(in_circle)
