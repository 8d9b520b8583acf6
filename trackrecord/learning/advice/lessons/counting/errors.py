"""The errors of each tool: where each occurred, and errors with like words counted as one."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ....text.names import names_in
from ....text.search_words import asked_words
from ..history import History

# Of one tool's errors, the commonest are looked at.
_MOST_ERRORS: Final = 200
# Errors with this share of words in common are one.
_ALIKE: Final = 0.7
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_PLACEHOLDER: Final = re.compile(r"<\w+>")
# Words that every error has: they do not tell what went wrong.
_EMPTY: Final = frozenset({
    "error", "errors", "err", "exception", "failed", "failure", "fail", "fails", "failing",
    "command", "exit", "exited", "code", "status", "returned", "non", "zero", "nonzero", "with",
    "unknown", "process", "result", "tool", "call", "the", "an", "of", "in", "to", "was", "is",
    "错误", "失败", "异常", "命令", "退出", "状态",
})  # fmt: skip

# The position of the run of a failed call, the line of its error that tells, and whether its
# program did not start.
_Occurrence = tuple[int, str, bool]


@dataclass
class ToolError:
    """The occurrences of one error of one tool.

    Attributes:
        template: the text of its commonest form.
        example: that form as it last was, or the template where that is not known.
        words: the words that tell what went wrong; none if the error does not tell.
        positions: the positions of the runs, one for each failing call, ascending.
        stuck: how many of these calls failed because their program did not start.
    """

    template: str
    words: frozenset[str]
    positions: list[int]
    example: str
    stuck: int

    @property
    def calls(self) -> int:
        """Return how many calls ended in it."""
        return len(self.positions)

    @property
    def is_stuck(self) -> bool:
        """Return whether it mostly says that a program did not start."""
        return 2 * self.stuck >= self.calls


def telling_words(template: str) -> frozenset[str]:
    """Return the significant words of an error, split like the texts of tasks."""
    return asked_words(_PLACEHOLDER.sub(" ", template)) - _EMPTY


def telling_names(template: str, tools: Sequence[str]) -> frozenset[str]:
    """Return the names in an error and in its tools, case folded."""
    return names_in(" ".join((_PLACEHOLDER.sub(" ", template), *tools))) - _EMPTY


def errors_of(history: History) -> dict[int, list[ToolError]]:
    """Return the errors of each caller, the commonest first."""
    found: defaultdict[int, defaultdict[str, list[_Occurrence]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for position, place, caller in history.failed_calls:
        step = history.runs[position].steps[place]
        found[caller][step.error or ""].append((position, step.error_line, step.is_stuck))
    return {
        caller: _merged(_error(template, occurrences) for template, occurrences in errors.items())
        for caller, errors in found.items()
    }


def _error(template: str, occurrences: list[_Occurrence]) -> ToolError:
    positions = [position for position, _, _ in occurrences]
    example, stuck = occurrences[-1][1] or template, sum(each[2] for each in occurrences)
    return ToolError(template, _words(template), positions, example, stuck)


def joined_errors(errors: Iterable[ToolError], named: ToolError) -> ToolError:
    """Return several errors of a tool as one, under the name of one of them."""
    every = list(errors)
    positions = sorted(position for error in every for position in error.positions)
    stuck = sum(error.stuck for error in every)
    return ToolError(named.template, named.words, positions, named.example, stuck)


def _merged(errors: Iterable[ToolError]) -> list[ToolError]:
    """Return the errors of one tool, those with like words as one; the commonest names it."""
    kept: list[list[ToolError]] = []
    ordered = sorted(errors, key=_commonest_first)
    for error in ordered[:_MOST_ERRORS]:
        like = next((each for each in kept if _are_alike(each[0].words, error.words)), None)
        if like is None:
            kept.append([error])
        else:
            like.append(error)
    merged = (joined_errors(each, each[0]) if len(each) > 1 else each[0] for each in kept)
    return sorted(merged, key=_commonest_first)


def _commonest_first(error: ToolError) -> tuple[int, str]:
    return -error.calls, error.template


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return one == other or len(one & other) >= _ALIKE * len(one | other)


def _words(template: str) -> frozenset[str]:
    found = _WORD.findall(_PLACEHOLDER.sub(" ", template).lower())
    return frozenset(word for word in found if word not in _EMPTY)
