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
    doubt = words.contested if is_contested else ""
    if len(shown) == 1:
        ((signal, own),) = shown
        said = words.succeeded(own) + (words.in_all(counts) if own != counts else "")
        return f"- {words.when(_signal(signal))}{steps} [{said}{doubt}]"
    parts = [words.succeeded_when(own, _signal(signal)) for signal, own in shown]
    if sum(own.total for _, own in shown) != counts.total or not parts:
        parts.append(words.succeeded_in_all(counts) if parts else words.succeeded(counts))
    return f"- {steps} [{words.between.join(parts)}{doubt}]"


def under_other_conditions(conditions: Sequence[tuple[str, str]], language: Language = "en") -> str:
    """Return the note on the line of a record that was used under other conditions.

    Args:
        conditions: those that contradict the task's, as names with values.
        language: of the text.
    """
    said = ", ".join(
        f"{_condition(name)}={_condition(value)}" if name else _condition(value)
        for name, value in conditions[:_MOST_CONDITIONS]
    )
    return _WORDS[language].under(said)


def _condition(text: str) -> str:
    return identifier(text)


def failing_line(signature: str, failures: int, language: Language = "en") -> str:
    """Return the line of a procedure that no run succeeded with.

    Args:
        signature: its tools.
        failures: runs that used these tools and no others.
        language: of the text.
    """
    names = list(map(identifier, tools_of(signature)))
    tools = JOINT.join(names[:_MOST_TOOLS]) + (JOINT + ELLIPSIS) * (len(names) > _MOST_TOOLS)
    return f"- {tools} [{_WORDS[language].succeeded(ProcedureRuns(0, failures))}]"


def _most_telling(entry: tuple[str, ProcedureRuns]) -> tuple[int, int, str]:
    signal, counts = entry
    return -counts.successes, -counts.failures, signal


def _signal(signal: str) -> str:
    # A trigger is a label, or the signature of an error.
    return opening(signal) or error_summary(signal) or ELLIPSIS


class _English:
    contested = ", contested"
    between = "; "

    @staticmethod
    def when(signal: str) -> str:
        return f'when "{signal}": '

    @staticmethod
    def succeeded(counts: ProcedureRuns) -> str:
        if not counts.total:
            return "no run yet"
        noun = "run" if counts.total == 1 else "runs"
        return f"{counts.successes} of {counts.total} {noun} succeeded"

    @classmethod
    def succeeded_when(cls, counts: ProcedureRuns, signal: str) -> str:
        return f'{cls.succeeded(counts)} when "{signal}"'

    @classmethod
    def succeeded_in_all(cls, counts: ProcedureRuns) -> str:
        return f"{cls.succeeded(counts)} in all"

    @staticmethod
    def in_all(counts: ProcedureRuns) -> str:
        return f", {counts.successes} of {counts.total} in all"

    @staticmethod
    def under(conditions: str) -> str:
        return f" (under other conditions: {conditions})"


class _Chinese:
    contested = ",有争议"
    between = ";"

    @staticmethod
    def when(signal: str) -> str:
        return f"遇到“{signal}”时:"

    @staticmethod
    def succeeded(counts: ProcedureRuns) -> str:
        if not counts.total:
            return "尚无运行"
        return f"{counts.total}次运行中{counts.successes}次成功"

    @classmethod
    def succeeded_when(cls, counts: ProcedureRuns, signal: str) -> str:
        return f"遇到“{signal}”时{cls.succeeded(counts)}"

    @classmethod
    def succeeded_in_all(cls, counts: ProcedureRuns) -> str:
        return f"共{cls.succeeded(counts)}"

    @staticmethod
    def in_all(counts: ProcedureRuns) -> str:
        return f",共{counts.total}次运行中{counts.successes}次成功"

    @staticmethod
    def under(conditions: str) -> str:
        return f"(条件不同:{conditions})"


_WORDS: Final[dict[Language, type[_English] | type[_Chinese]]] = {"en": _English, "zh": _Chinese}
