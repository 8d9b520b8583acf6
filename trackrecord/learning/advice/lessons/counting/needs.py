"""Needs: calls whose earlier presence in the run goes with a tool's success."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import nlargest, nsmallest
from typing import Final

from ....numbers.wilson import Z
from ..chance import as_normal, clustered_difference, discoveries, two_sided
from ..history import History, may_fail, span_of
from ..lesson import Finding, LessonKind
from ..rules import LessonRules
from ..wording import tool_text

_LEVEL: Final = 0.1
_MIN_CALLS: Final = 10
_MIN_TASKS: Final = 5
_MIN_FAILURES: Final = 5
# Bounds for histories of very many tools: the commonest count.
_MOST_TOOLS: Final = 50
_MOST_EARLIER: Final = 100
_MOST_TESTED: Final = 50
_HARDLY_POSSIBLE: Final = 1.5


# One call of the tool: the run, the tools called before it (as bits), and whether it failed.
_Call = tuple[int, int, bool]


@dataclass(frozen=True)
class _Pair:
    """A tool, a caller whose earlier call makes a difference, and the difference."""

    tool: int
    earlier: int
    with_calls: tuple[int, int]
    without_calls: tuple[int, int]
    difference: float
    error: float
    probability: float
    calls: list[_Call]
    bit: int


def find_needs(history: History, _rules: LessonRules) -> Iterator[Finding]:
    """Yield calls earlier in a run that a tool's success requires."""
    common = [caller for caller, _ in _commonest(history, _MOST_EARLIER)]
    bits = {caller: 1 << bit for bit, caller in enumerate(common)}
    tested, pairs = 0, []
    for tool, calls in _calls_of(history, bits).items():
        tests, found = _pairs(history, tool, calls, common)
        tested += tests
        pairs += found
    kept = discoveries([pair.probability for pair in pairs], level=_LEVEL, tests=max(1, tested))
    for place in kept:
        pair = pairs[place]
        if pair.difference > 0 and _is_needed(pair):
            yield _finding(history, pair)


def _is_needed(pair: _Pair) -> bool:
    """Return whether the tool mostly fails without the other call: else it does well without."""
    succeeded, calls = pair.without_calls
    return 2 * succeeded < calls


def _commonest(history: History, most: int) -> list[tuple[int, int]]:
    return nsmallest(
        most, history.counts.items(), key=lambda item: (-item[1], history.callers[item[0]])
    )


def _calls_of(history: History, bits: dict[int, int]) -> dict[int, list[_Call]]:
    """Return the calls of each of the agent's tools that fail at times."""
    failures = history.failures
    tools = nlargest(
        _MOST_TOOLS,
        (
            tool
            for tool, failing in failures.items()
            if history.is_agents(tool)
            # That tests pass in the end is the work itself.
            and not may_fail(history.callers[tool].tool)
            and failing >= _MIN_FAILURES
            and history.counts[tool] >= 2 * _MIN_CALLS
        ),
        key=lambda tool: (failures[tool], history.callers[tool]),
    )
    wanted = set(tools)
    found: dict[int, list[_Call]] = {tool: [] for tool in tools}
    runs = sorted({position for tool in tools for position in history.runs_with[tool]})
    for position in runs:
        steps, earlier = history.runs[position].steps, 0
        for place, caller in enumerate(history.calls[position]):
            if caller in wanted:
                found[caller].append((position, earlier, steps[place].error is not None))
            earlier |= bits.get(caller, 0)
    return found


def _pairs(
    history: History, tool: int, calls: list[_Call], common: list[int]
) -> tuple[int, list[_Pair]]:
    """Return how many callers were tested, and those that may make a difference."""
    total, failing = len(calls), history.failures[tool]
    seen: Counter[int] = Counter()
    seen_failing: Counter[int] = Counter()
    for (earlier, failed), times in Counter(call[1:] for call in calls).items():
        while earlier:
            lowest = earlier & -earlier
            seen[lowest] += times
            if failed:
                seen_failing[lowest] += times
            earlier ^= lowest
    tests, likely = 0, []
    for bit, n in seen.items():
        caller = common[bit.bit_length() - 1]
        if caller == tool or n < _MIN_CALLS or total - n < _MIN_CALLS:
            continue
        tests += 1
        gain = (failing - seen_failing[bit]) / (total - n) - seen_failing[bit] / n
        rate = failing / total
        crude = gain / (rate * (1 - rate) * (1 / n + 1 / (total - n)) or 1) ** 0.5
        if crude >= _HARDLY_POSSIBLE:
            likely.append((crude, history.callers[caller], bit, caller))
    found = (
        _pair(history, tool, calls, bit, caller)
        for _, _, bit, caller in nlargest(_MOST_TESTED, likely)
    )
    return tests, [pair for pair in found if pair is not None]


def _pair(history: History, tool: int, calls: list[_Call], bit: int, caller: int) -> _Pair | None:
    clusters: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for position, earlier, failed in calls:
        cluster = clusters[history.tasks[position]]
        arm = 0 if earlier & bit else 2
        cluster[arm] += 1
        cluster[arm + 1] += not failed
    if min(sum(c[0] > 0 for c in clusters.values()), sum(c[2] > 0 for c in clusters.values())) < 3:
        return None
    if len(clusters) < _MIN_TASKS:
        return None
    rows = [(c[0], c[1], c[2], c[3]) for _, c in sorted(clusters.items())]
    difference, error, count = clustered_difference(rows)
    n, hits, m, other_hits = (sum(column) for column in zip(*rows, strict=True))
    deviate = as_normal(difference / error, count - 1) if error else 0.0
    return _Pair(
        tool, caller, (hits, n), (other_hits, m), difference, error, two_sided(deviate), calls, bit
    )  # fmt: skip


def _runs(positions: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(positions)))


def _finding(history: History, pair: _Pair) -> Finding:
    who, before = history.callers[pair.tool], history.callers[pair.earlier]
    low = max(-1.0, pair.difference - Z * pair.error)
    high = min(1.0, pair.difference + Z * pair.error)
    tool, earlier = tool_text(who), tool_text(before)
    (hits, n), (other_hits, m) = pair.with_calls, pair.without_calls
    without = [call for call in pair.calls if not call[1] & pair.bit]
    failing = _runs(call[0] for call in without if call[2])
    return Finding(
        kind=LessonKind.NEEDS_FIRST,
        subject=(*who, *before),
        tools=(who.tool, before.tool),
        actor=who.actor,
        positions=_runs(call[0] for call in pair.calls if call[1] & pair.bit),
        calls=n + m,
        failing_calls=n + m - hits - other_hits,
        interval=(low, high),
        effect=pair.difference,
        sure=max(0.0, low),
        # What it needed it may need no more.
        is_over=span_of(history, _runs(call[0] for call in without), failing).is_over,
        remedy={
            "en": f"it succeeded in {hits} of {n} calls with {earlier[0]} earlier in the run, in "
            f"{other_hits} of {m} calls without",
            "zh": f"运行中先有 {earlier[1]} 时 {n} 次调用成功 {hits} 次,没有时 {m} 次调用成功 "
            f"{other_hits} 次",
        },
        lines={
            "en": f"{tool[0]} succeeded in {hits} of {n} calls with {earlier[0]} earlier in the "
            f"run, in {other_hits} of {m} calls without",
            "zh": f"{tool[1]}: 运行中先有 {earlier[1]} 时 {n} 次调用成功 {hits} 次,没有时 {m} "
            f"次调用成功 {other_hits} 次",
        },
    )
