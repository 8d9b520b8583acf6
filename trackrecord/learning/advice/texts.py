"""The texts about recommended procedures, similar past tasks and lessons that stand in a prompt."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ..text.language import Language

_TASK_LIMIT: Final = 100
_MOST_STEPS: Final = 8
_MOST_NAMED: Final = 3
# A beginning that only says who asks.
_WHO: Final = re.compile(
    r"\A(?:You are|I am|My name is) \{(?:name|id)\}(?: ?\([a-zA-Z ]{0,20}:? ?\{id\}\))?[.,;:]?"
    r"(?: and\b)?\W*"
)


class ProcedureUsage(NamedTuple):
    """How often the runs of similar tasks used a procedure.

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
    """How often runs with a procedure succeeded.

    Attributes:
        won: runs that used it and reached their goal.
        runs: all runs that used it.
        effect: the difference to what such tasks do otherwise, as a share.
    """

    won: int
    runs: int
    effect: float


class Difference(NamedTuple):
    """What told the successful runs of a task from the failed ones.

    Attributes:
        successes: the runs that succeeded.
        failures: the runs that failed.
        with_success: the tools that only successful runs used.
        with_failure: the tools that only failed runs used.
        ending: what a failed run ended in, as lessons name errors; "" if unknown.
    """

    successes: int
    failures: int
    with_success: tuple[str, ...] = ()
    with_failure: tuple[str, ...] = ()
    ending: str = ""


class Went(NamedTuple):
    """How past tasks with one text went.

    Attributes:
        successes: those that succeeded.
        failures: those that failed.
        steps: the tools of a success, in their order.
        ending: what a failure ended in, as lessons name errors; "" if unknown.
    """

    successes: int
    failures: int
    steps: tuple[str, ...] = ()
    ending: str = ""


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
    """Return a line whose label also says how much better such tasks go.

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


def similar_task_line(text: str, difference: Difference, language: Language = "en") -> str:
    """Return the line of a similar past task: how often it succeeded, and what told the difference.

    Args:
        text: the beginning of its instruction, masked if need be.
        difference: what told its successes from its failures.
        language: of the text.
    """
    told = (_told_zh if language == "zh" else _told_en)(difference)
    return f"- {_task_text(text)} [{told}]"


def found_task_line(text: str, went: Went, language: Language = "en") -> str:
    """Return the line of past tasks with one text: how they ended, and by what or in what.

    Args:
        text: the beginning of the instruction, masked if need be.
        went: how they went.
        language: of the text.
    """
    return f"- {_task_text(text)} [{(_went_zh if language == 'zh' else _went_en)(went)}]"


def _went_en(went: Went) -> str:
    if went.successes + went.failures == 1:
        said = "succeeded" if went.successes else "failed"
    else:
        said = f"{went.successes} of {went.successes + went.failures} succeeded"
    if went.steps:
        said += f": {_steps(went.steps)}"
    return f"{said}; a failure ended in: {went.ending}" if went.ending else said


def _went_zh(went: Went) -> str:
    if went.successes + went.failures == 1:
        said = "成功" if went.successes else "失败"
    else:
        said = f"{went.successes + went.failures}次中{went.successes}次成功"
    if went.steps:
        said += f":{_steps(went.steps)}"
    return f"{said};一次失败的结尾:{went.ending}" if went.ending else said


# A line is written in each language, and of the same texts and tools for one task after another.
@lru_cache(maxsize=1024)
def _task_text(text: str) -> str:
    # Imported with the first text: it takes an agent's memory.
    from ..text.inert import one_line, quoted

    return quoted(_WHO.sub("", one_line(text, 4 * _TASK_LIMIT)), _TASK_LIMIT)


def _told_en(told: Difference) -> str:
    parts = [f"{told.successes} of {told.successes + told.failures} succeeded"]
    if told.with_success:
        parts.append(f"only successes used {_listed(told.with_success)}")
    if told.with_failure:
        parts.append(f"only failures used {_listed(told.with_failure)}")
    if told.ending:
        parts.append(f"a failure ended in: {told.ending}")
    return "; ".join(parts)


def _told_zh(told: Difference) -> str:
    parts = [f"{told.successes + told.failures}次中{told.successes}次成功"]
    if told.with_success:
        parts.append(f"只有成功的使用了{_listed(told.with_success)}")
    if told.with_failure:
        parts.append(f"只有失败的使用了{_listed(told.with_failure)}")
    if told.ending:
        parts.append(f"一次失败的结尾:{told.ending}")
    return ";".join(parts)


def _steps(tools: Sequence[str]) -> str:
    return " → ".join(_names(tools[:_MOST_STEPS])) + (" → …" if len(tools) > _MOST_STEPS else "")


def _listed(tools: Sequence[str]) -> str:
    return ", ".join(_names(tools[:_MOST_NAMED]))


def _names(tools: Sequence[str]) -> list[str]:
    return [_name(tool) for tool in tools]


@lru_cache(maxsize=1024)
def _name(tool: str) -> str:
    from ..text.inert import identifier

    return identifier(tool)
