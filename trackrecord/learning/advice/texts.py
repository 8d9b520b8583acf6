"""The texts about recommended procedures and lessons in a prompt."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ..text.language import Language

_MOST_STEPS: Final = 8


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


def _steps(tools: Sequence[str]) -> str:
    return " → ".join(_names(tools[:_MOST_STEPS])) + (" → …" if len(tools) > _MOST_STEPS else "")


def _names(tools: Sequence[str]) -> list[str]:
    return [_name(tool) for tool in tools]


@lru_cache(maxsize=1024)
def _name(tool: str) -> str:
    from ..text.inert import identifier

    return identifier(tool)
