"""The argument that changed: calls that fail where one argument looks so, and work where not.

Counted is how runs mended a failing call by changing exactly one of its arguments. Agents also
change arguments where something else fails at times: so calls of that shape must fail more often
than other calls of the tool in the same task, beyond what chance explains.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from ....text.inert import identifier
from ...runs.arguments import MISSING, CallArgument, arguments_of, only_change, prefix_of
from ...runs.runs import RunStep
from ..chance import Stratum, chance_of, discoveries, share_interval
from ..finding import Finding
from ..history import History
from ..lesson import KnownArgument, LessonKind
from ..rules import LessonRules
from ..span import span_of
from ..wording import counted, error_text, named, of_all

_LEVEL: Final = 0.05
_MIN_RUNS: Final = 3
_MIN_TASKS: Final = 2
_MOSTLY: Final = 0.8
_MOST_LATER: Final = 10
# A prefix names a kind where few of them name the values of many tasks; of a person's name there
# is one id, or the ids have as many prefixes as there are persons.
_MOST_PREFIXES: Final = 8
_FEWEST_VALUES: Final = 3
_FEWEST_TASKS: Final = 3


class _Change(NamedTuple):
    """A failure of a tool with an argument of some shape."""

    caller: int
    error: str
    argument: str
    shape: str


@dataclass
class _Mended:
    """The runs that changed only this argument after this failure, and whether that worked."""

    runs: dict[int, bool] = field(default_factory=dict)


def find_arguments(history: History, _rules: LessonRules) -> Iterator[Finding]:
    """Yield the arguments whose shape goes with an error, and that runs mended by changing them."""
    tested = []
    for change, mended in _changes(history).items():
        worked = [position for position, worked in mended.runs.items() if worked]
        if (
            len(worked) >= _MIN_RUNS
            and len(history.tasks_of(worked)) >= _MIN_TASKS
            and len(worked) >= _MOSTLY * len(mended.runs)
            and (says := _says(history, change)) is not None
        ):
            tested.append((change, mended, says, _calls(history, change)))
    chances = [chance_of(calls.strata) for *_, calls in tested]
    for place in discoveries(chances, level=_LEVEL, tests=max(1, len(tested))):
        change, mended, says, calls = tested[place]
        if calls.failed >= _MOSTLY * calls.shaped:
            yield _finding(history, change, mended, says, calls)


def _changes(history: History) -> dict[_Change, _Mended]:
    """Return by failure the runs that called again with only one argument changed.

    Another error is another fact: only calls that worked or failed alike tell whether the change
    mended it.
    """
    found: defaultdict[_Change, _Mended] = defaultdict(_Mended)
    for position, place, caller in history.failed_calls:
        step = history.runs[position].steps[place]
        if not (step.shapes and step.error and history.is_agents(caller)):
            continue
        for following in _later(history, position, place):
            changed = only_change(step.shapes, following.shapes)
            if changed is None or following.error not in (None, step.error):
                continue
            name, before, _ = changed
            mended = found[_Change(caller, step.error, name, before)]
            works = not following.failed
            mended.runs[position] = mended.runs.get(position, False) or works
            if works:
                break
    return found


def _later(history: History, position: int, place: int) -> Iterator[RunStep]:
    """Yield the next calls of the same tool in a run."""
    calls, steps = history.calls[position], history.runs[position].steps
    later = (n for n in range(place + 1, len(calls)) if calls[n] == calls[place])
    yield from (steps[n] for n in islice(later, _MOST_LATER))


@dataclass
class _Calls:
    """The calls of a tool, those with the shape and those without; each value once a run."""

    strata: list[Stratum]
    shaped: int
    failed: int
    others: int
    others_failed: int
    positions: list[int]


def _calls(history: History, change: _Change) -> _Calls:
    tasks: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    positions = []
    for position, found in _values(history, change).items():
        row = tasks[history.tasks[position]]
        for (shape, _), has_failed in found.items():
            is_shaped = shape == change.shape
            row[0] += 1
            row[1] += has_failed
            row[2] += is_shaped
            row[3] += is_shaped and has_failed
        if any(failed for (shape, _), failed in found.items() if shape == change.shape):
            positions.append(position)
    strata = [Stratum(*row) for _, row in sorted(tasks.items())]
    shaped, failed = sum(each.labelled for each in strata), sum(each.won for each in strata)
    calls, all_failed = sum(each.runs for each in strata), sum(each.successes for each in strata)
    return _Calls(strata, shaped, failed, calls - shaped, all_failed - failed, positions)


def _values(history: History, change: _Change) -> dict[int, dict[tuple[str, int], bool]]:
    """Return by run whether the calls with each value of the argument ended in the error."""
    found: dict[int, dict[tuple[str, int], bool]] = {}
    for position in history.runs_with[change.caller]:
        pairs = zip(history.calls[position], history.runs[position].steps, strict=True)
        own: dict[tuple[str, int], bool] = {}
        for step in (step for caller, step in pairs if caller == change.caller):
            argument = arguments_of(step.shapes).get(change.argument)
            value = CallArgument(MISSING, 0) if argument is None else argument
            own[value] = own.get(value, False) or step.error == change.error
        found[position] = own
    return found


def _says(history: History, change: _Change) -> str | None:
    """Return how the shape is told; None if that could give a value away."""
    if not prefix_of(change.shape):
        return "is missing" if change.shape == MISSING else f"is {change.shape}"
    if not _names_kind(_values(history, change), history, change.shape):
        return None
    return f"looks like `{change.shape}`"


def _names_kind(
    values: Mapping[int, Mapping[tuple[str, int], bool]], history: History, shape: str
) -> bool:
    """Return whether the prefix of ids is that of a kind of things, and no person's name."""
    prefixes = {each for found in values.values() for each, _ in found if prefix_of(each)}
    digests = {digest for found in values.values() for each, digest in found if each == shape}
    seen = [position for position, found in values.items() if any(s == shape for s, _ in found)]
    return (
        len(prefixes) <= _MOST_PREFIXES
        and len(digests) >= _FEWEST_VALUES
        and len(history.tasks_of(seen)) >= _FEWEST_TASKS
    )


def _finding(
    history: History, change: _Change, mended: _Mended, says: str, calls: _Calls
) -> Finding:
    caller = history.callers[change.caller]
    interval = share_interval(calls.failed, calls.shaped)
    argument, worked = f"`{identifier(change.argument)}`", sum(mended.runs.values())
    failed = of_all(calls.failed, calls.shaped, "calls")
    error = error_text(change.error)
    tried = len(mended.runs)
    then = (
        f", in {calls.others_failed} of {counted(calls.others, 'calls')} else; with another kind "
        f"of {argument} and nothing else changed it then worked in {of_all(worked, tried, 'runs')}"
    )
    chinese = (
        f"{argument} 为 `{change.shape}` 时,{named(caller.tool)} 的 {calls.shaped} 次调用中有 "
        f"{calls.failed} 次失败"
    )
    chinese_then = (
        f",其他 {calls.others} 次中有 {calls.others_failed} 次;"
        f"只换另一种 {argument} 后,{tried} 次中有 {worked} 次成功"
    )
    english = f"{named(caller.tool)} failed in {failed} in which {argument} {says}"
    wordless = {"en": english + then, "zh": chinese + chinese_then}
    lines = {"en": f"{english} ({error}){then}", "zh": f"{chinese}({error}){chinese_then}"}
    return Finding(
        kind=LessonKind.ARGUMENT,
        subject=(caller.tool, change.error, change.argument, change.shape),
        tools=(caller.tool,),
        actor=caller.actor,
        positions=calls.positions,
        calls=calls.shaped + calls.others,
        failing_calls=calls.failed,
        interval=interval,
        sure=interval[0],
        is_over=span_of(history, history.runs_with[change.caller], calls.positions).is_over,
        lines=lines if error else wordless,
        wordless_lines=wordless if error else {},
        argument=KnownArgument(
            tool=caller.tool,
            error=change.error,
            name=change.argument,
            shape=change.shape,
            text=wordless["en"],
        ),
    )
