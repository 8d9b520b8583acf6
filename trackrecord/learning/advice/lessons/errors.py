"""The errors of each tool: where each occurred, and errors with like words counted as one."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ...competences.checks import CHECKS, is_check
from ...text.names import names_in
from ...text.search_words import asked_words
from ...text.words import words_of
from .history import History

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

# Whoever checks a balance or validates an address asks for a fact, and is to get it.
_RUNS_CODE: Final = CHECKS - {
    "check", "checks", "checker", "verify", "verification", "validate", "validation",
    "检查", "校验", "验证",
}  # fmt: skip


@dataclass
class ToolError:
    """Where one error of one tool occurred.

    Attributes:
        template: the text of its commonest form.
        words: the words that tell what went wrong; none if the error does not tell.
        positions: the positions of the runs, one for each failing call, ascending.
    """

    template: str
    words: frozenset[str]
    positions: list[int]

    @property
    def calls(self) -> int:
        """How many calls ended in it."""
        return len(self.positions)


def may_fail(tool: str) -> bool:
    """Return whether a tool is there to fail at times: it runs tests, a linter or a build."""
    return is_check(tool) and bool(words_of(tool) & _RUNS_CODE)


def telling_words(template: str) -> frozenset[str]:
    """Return the words of an error that tell what went wrong, as texts of tasks are taken apart."""
    return asked_words(_PLACEHOLDER.sub(" ", template)) - _EMPTY


def telling_names(template: str, tools: Sequence[str]) -> frozenset[str]:
    """Return the names in an error and in its tools, case folded."""
    return names_in(" ".join((_PLACEHOLDER.sub(" ", template), *tools))) - _EMPTY


def errors_of(history: History) -> dict[int, list[ToolError]]:
    """Return the errors of each caller, the commonest first."""
    found: defaultdict[int, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for position, place, caller in history.failed_calls:
        found[caller][history.runs[position].steps[place].error or ""].append(position)
    return {
        caller: _merged(
            ToolError(template, _words(template), positions)
            for template, positions in errors.items()
        )
        for caller, errors in found.items()
    }


def joined_errors(errors: Iterable[ToolError], named: ToolError) -> ToolError:
    """Return several errors of a tool as one, under the name of one of them."""
    positions = sorted(position for error in errors for position in error.positions)
    return ToolError(named.template, named.words, positions)


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
