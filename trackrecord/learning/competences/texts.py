"""The texts about competence records in a prompt, in English and in Chinese."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from ..text.error_summary import error_summary, opening
from ..text.inert import ELLIPSIS, identifier
from ..text.language import Language
from .episodes.signatures import JOINT, tools_of

# A line names the triggers that say most; the counts of all episodes follow where these leave some
# out.
_MOST_TRIGGERS = 3
_MOST_CONDITIONS = 2
_MOST_TOOLS = 12


class ProcedureRuns(NamedTuple):
    """Runs that used a procedure.

    Attributes:
        successes: runs that reached their goal.
        failures: runs that did not.
    """

    successes: int
    failures: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.successes + self.failures


def competence_line(
    tools: Sequence[str],
    counts: ProcedureRuns,
    by_trigger: Sequence[tuple[str, ProcedureRuns]] = (),
    *,
    is_contested: bool = False,
    language: Language = "en",
) -> str:
    """Return the line of one record: which tools in which order, how often that worked, and when.

    Each number stands beside the trigger that it was counted for.

    Args:
        tools: the recipe's tools in order.
        counts: of all runs that used the procedure.
        by_trigger: the signals that it answers to, each with the counts of its own runs.
        is_contested: whether somebody contests the record.
        language: of the text.
    """
    steps = " → ".join(map(identifier, tools))
    words = _WORDS[language]
    counted = sorted((entry for entry in by_trigger if entry[1].total), key=_most_telling)
    # A person may name a trigger that no task has had yet.
    shown = counted[:_MOST_TRIGGERS] or [(signal, counts) for signal, _ in by_trigger[:1]]
    doubt = words["contested"] if is_contested else ""
    whole = _succeeded(counts, language)
    if len(shown) == 1:
        ((signal, own),) = shown
        rest = words["in all"].format(counts.successes, counts.total) if own != counts else ""
        when = words["when"].format(_signal(signal))
        return f"- {when}{steps} [{_succeeded(own, language)}{rest}{doubt}]"
    parts = [
        words["succeeded when"].format(_succeeded(own, language), _signal(signal))
        for signal, own in shown
    ]
    if sum(own.total for _, own in shown) != counts.total or not parts:
        parts.append(words["succeeded in all"].format(whole) if parts else whole)
    return f"- {steps} [{words['between'].join(parts)}{doubt}]"


def under_other_conditions(conditions: Sequence[tuple[str, str]], language: Language = "en") -> str:
    """Return the note on the line of a record that was used under other conditions.

    Args:
        conditions: those that contradict the task's, as names with values.
        language: of the text.
    """
    said = ", ".join(
        f"{identifier(name)}={identifier(value)}" if name else identifier(value)
        for name, value in conditions[:_MOST_CONDITIONS]
    )
    return _WORDS[language]["under"].format(said)


def failing_line(signature: str, failures: int, language: Language = "en") -> str:
    """Return the line of a procedure that no run succeeded with.

    Args:
        signature: its tools.
        failures: runs that used these tools and no others.
        language: of the text.
    """
    names = list(map(identifier, tools_of(signature)))
    tools = JOINT.join(names[:_MOST_TOOLS]) + (JOINT + ELLIPSIS) * (len(names) > _MOST_TOOLS)
    return f"- {tools} [{_succeeded(ProcedureRuns(0, failures), language)}]"


def _most_telling(entry: tuple[str, ProcedureRuns]) -> tuple[int, int, str]:
    signal, counts = entry
    return -counts.successes, -counts.failures, signal


def _signal(signal: str) -> str:
    # A trigger is a label, or the signature of an error.
    return opening(signal) or error_summary(signal) or ELLIPSIS


def _succeeded(counts: ProcedureRuns, language: Language) -> str:
    words = _WORDS[language]
    if not counts.total:
        return words["none"]
    noun = "run" if counts.total == 1 else "runs"
    return words["succeeded"].format(counts.successes, counts.total, noun=noun)


_WORDS: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "between": "; ",
        "contested": ", contested",
        "when": 'when "{}": ',
        "none": "no run yet",
        "succeeded": "{0} of {1} {noun} succeeded",
        "succeeded when": '{0} when "{1}"',
        "succeeded in all": "{} in all",
        "in all": ", {0} of {1} in all",
        "under": " (under other conditions: {})",
    },
    "zh": {
        "between": ";",
        "contested": ",有争议",
        "when": "遇到“{}”时:",
        "none": "尚无运行",
        "succeeded": "{1}次运行中{0}次成功",
        "succeeded when": "遇到“{1}”时{0}",
        "succeeded in all": "共{}",
        "in all": ",共{1}次运行中{0}次成功",
        "under": "(条件不同:{})",
    },
}
