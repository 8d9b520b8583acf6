"""The texts about recommended procedures, similar past tasks and lessons in a prompt."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ..text.language import Language

_TASK_LIMIT: Final = 100
_MOST_STEPS: Final = 8
# A beginning that only says who asks.
_WHO: Final = re.compile(
    r"\A(?:You are|I am|My name is) \{(?:name|id)\}(?: ?\([a-zA-Z ]{0,20}:? ?\{id\}\))?[.,;:]?"
    r"(?: and\b)?\W*"
)
# What was masked is left out, with the marks that stood around it.
_MASK: Final = re.compile(r"#?\{(?:name|id|n|mail|url|path)\}")
# Of several gaps in a row one is shown, and none in front.
_GAPS: Final = re.compile(r"…(?:[\s,.;:]*…)+")
_GAP_IN_FRONT: Final = re.compile(r"\A…[\s,.;:]*(?=\w)")


class ProcedureUsage(NamedTuple):
    """The frequency of a procedure among the runs of similar tasks.

    Attributes:
        used_by_successes: runs that used it and reached their goal.
        successes: all runs that reached their goal.
        used_by_failures: runs that used it and did not.
        failures: all runs that did not.
    """

    used_by_successes: int
    successes: int
    used_by_failures: int
    failures: int


class Gain(NamedTuple):
    """The success rate of runs with a procedure.

    Attributes:
        won: runs that used it and reached their goal.
        runs: all runs that used it.
        effect: the difference to what such tasks do otherwise, as a share.
    """

    won: int
    runs: int
    effect: float


class Difference(NamedTuple):
    """A difference between the successful and the failed runs of like tasks.

    Attributes:
        runs: all runs.
        successes: the successful ones among them.
        with_runs: the runs that used the tool or met the error.
        with_successes: the successful ones among these.
        tool: the tool; "" if an error made the difference.
        error: what the error tells, as lessons name errors.
    """

    runs: int
    successes: int
    with_runs: int
    with_successes: int
    tool: str = ""
    error: str = ""


def procedure_line(tools: Sequence[str], usage: ProcedureUsage, language: Language = "en") -> str:
    """Return the line of a recommended procedure: its tools, and how often it was used.

    Args:
        tools: in their order.
        usage: in how many runs of similar tasks.
        language: of the text.
    """
    steps = _steps(tools)
    if language == "zh":
        said = f"类似任务的{usage.successes}次成功运行中{usage.used_by_successes}次使用"
        if usage.failures:
            said += f",{usage.failures}次失败运行中{usage.used_by_failures}次使用"
        return f"- {steps} [{said}]"
    won, successes = usage.used_by_successes, usage.successes
    said = f"used in {won} of {successes} runs of similar tasks that succeeded"
    if usage.failures:
        said += f", {usage.used_by_failures} of {usage.failures} that failed"
    return f"- {steps} [{said}]"


def gain_line(tools: Sequence[str], gain: Gain, language: Language = "en") -> str:
    """Return the line of a procedure with which such tasks succeed more often than otherwise.

    Args:
        tools: in their order.
        gain: how often it succeeded, and how much more often that is.
        language: of the text.
    """
    if language == "zh":
        said = f"{gain.runs}次运行中{gain.won}次成功"
    else:
        said = f"{gain.won} of {gain.runs} runs succeeded"
    return compared_line(f"- {_steps(tools)} [{said}]", gain.effect, language)


def points(effect: float) -> int:
    """Return a difference of rates in percentage points, as texts give it."""
    return round(100 * effect)


def compared_line(line: str, effect: float, language: Language = "en") -> str:
    """Return a line whose label adds how much better such tasks go.

    Args:
        line: ends in a label in square brackets; another one stays as it is.
        effect: the difference to what such tasks do otherwise, as a share.
        language: of the line.
    """
    if not line.endswith("]"):
        return line
    if language == "zh":
        return f"{line[:-1]},比同类任务通常高{points(effect)}个百分点]"
    return f"{line[:-1]}, {points(effect)} points above what such tasks do otherwise]"


def counted_line(line: str) -> str:
    """Return the line of a pattern with its counts alone, without the state that they make."""
    content, _, label = line.rpartition("[")
    _, _, counts = label.rpartition(" - ")
    return f"{content}[{counts}"


def similar_task_line(text: str, difference: Difference, language: Language = "en") -> str:
    """Return the line of similar past tasks: how often they succeeded, and with which tools.

    Args:
        text: the beginning of the instruction of one of them, masked if need be.
        difference: what told their successes from their failures.
        language: of the text.
    """
    told = (_told_zh if language == "zh" else _told_en)(difference)
    return f"- {_task_text(text)} [{told}]"


# A line is written in each language, and of the same texts and tools for one task after another.
@lru_cache(maxsize=1024)
def _task_text(text: str) -> str:
    # Imported with the first text: it takes an agent's memory.
    from ..text.inert import ELLIPSIS, one_line, quoted

    shown = _MASK.sub(ELLIPSIS, _WHO.sub("", one_line(text, 4 * _TASK_LIMIT)))
    shown = _GAP_IN_FRONT.sub("", _GAPS.sub(ELLIPSIS, shown))
    if len(shown) > _TASK_LIMIT:
        # Cut between words; a text without spaces is cut where it must be.
        shown = (
            shown[: _TASK_LIMIT - 2].rpartition(" ")[0] or shown[: _TASK_LIMIT - 2]
        ) + f" {ELLIPSIS}"
    return quoted(shown, _TASK_LIMIT)


def _told_en(told: Difference) -> str:
    with_it = f"with {_name(told.tool)}" if told.tool else f"after {told.error}"
    others, others_won = told.runs - told.with_runs, told.successes - told.with_successes
    return (
        f"{told.successes} of {told.runs} succeeded: {with_it} {told.with_successes} of "
        f"{told.with_runs}, without {others_won} of {others}"
    )


def _told_zh(told: Difference) -> str:
    with_it = f"用{_name(told.tool)}" if told.tool else f"遇到{told.error}"
    others, others_won = told.runs - told.with_runs, told.successes - told.with_successes
    return (
        f"{told.runs}次中{told.successes}次成功:{with_it}的{told.with_runs}次中"
        f"{told.with_successes}次,其余{others}次中{others_won}次"
    )


def _steps(tools: Sequence[str]) -> str:
    return " → ".join(_names(tools[:_MOST_STEPS])) + (" → …" if len(tools) > _MOST_STEPS else "")


def _names(tools: Sequence[str]) -> list[str]:
    return [_name(tool) for tool in tools]


@lru_cache(maxsize=1024)
def _name(tool: str) -> str:
    from ..text.inert import identifier

    return identifier(tool)
