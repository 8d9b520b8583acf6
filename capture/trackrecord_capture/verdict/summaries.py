"""The words by which tests, builds and linters say how they ended."""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

# A summary stands at the end; a run of several tools has one for each.
_LONGEST: Final = 4000
_LONGEST_SUMMARY: Final = 120
_ANSI: Final = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")

_FAILED: Final = re.compile(
    r"""
      \b[1-9]\d{0,6}\ (?:tests?\ |examples?\ |specs?\ |suites?\ |checks?\ |files?\ )?
          (?:failed|failing|failures?|errors?|errored)\b  # pytest, jest, mocha, rspec, eslint
    | ^FAILED\b | \bFAILED\ \((?:failures|errors)=        # unittest, pytest's short summary
    | ^FAIL(?:URES)?[!:\ \t] | ^---\ FAIL: | ^FAIL$       # go, jest, phpunit
    | \btest\ result:\ FAILED | ^error:\ could\ not\ compile | ^error(?:\[E\d+\])?:
    | \berror\ TS\d+: | \bFound\ [1-9]\d{0,6}\ (?:errors?|issues?|problems?)\b
    | ✖\ [1-9]\d{0,6}\ problems?\ \((?!0\ errors)
    | \bBUILD\ (?:FAILED|FAILURE)\b | ^make(?:\[\d+\])?:\ \*\*\*\ (?!No\ rule) | ^npm\ ERR!\ Test
    | \b\d{1,3}%\ tests\ passed,\ [1-9]\d{0,6}\ tests?\ failed | ^Failed!
    | ^Would\ reformat | \bELIFECYCLE\b | \bTests\ failed\b | \bBuild\ failed\b
    """,
    re.VERBOSE,
)
_PASSED: Final = re.compile(
    r"""
      \b[1-9]\d{0,6}\ (?:tests?\ |examples?,?\ |specs?\ |suites?\ )?(?:passed|passing)\b
    | ^OK(?:\ \(|$) | ^OK\ [^\n]{0,40}$ | ^ok\ \ ?\t?\S   # unittest, phpunit, go
    | ^PASS$ | \btest\ result:\ ok\b | \b[1-9]\d{0,6}\ examples?,\ 0\ failures
    | \bAll\ checks\ passed | \bSuccess:\ no\ issues\ found | \b0\ errors,\ 0\ warnings
    | \bBUILD\ SUCCESS(?:FUL)?\b | \b100%\ tests\ passed | ^Passed! | \bno\ issues\ found\b
    | \bAll\ tests\ passed\b | \bAll\ matched\ files\ use\ Prettier | \bCompiled\ successfully\b
    | \bno\ offenses\ detected\b | \bContracts:\ \d+\ kept,\ 0\ broken\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
# The check itself did not run.
_NOT_RUN: Final = re.compile(
    r"""
      \bcommand\ not\ found\b | \bnot\ found:\ \w | \bNo\ module\ named\ ['"]?(?:pytest|unittest|
        mypy|ruff|tox|nox|flake8|pylint|coverage)\b | \bno\ tests\ ran\b | \bNo\ tests?\ found\b
    | \bcollected\ 0\ items\b | \bNo\ rule\ to\ make\ target\b | \bmissing\ script:
    | \bcan't\ open\ file\b | \bis\ not\ recognized\ as\ an\ internal
    | \bNo\ test\ files?\ found | \bRan\ 0\ tests\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


# One of these stands in every such line.
_HINTS: Final = (
    "fail", "pass", "error", "succ", "ok", "issues", "problem", "tests", "reformat", "lifecycle",
    "***", "not found", "no test", "no module", "no rule", "missing script", "compiled", "prettier",
    "kept", "collected", "recog", "can't open", "offenses",
)  # fmt: skip


class OutputSummary(msgspec.Struct, frozen=True):
    """What a tool's output says of how it ended.

    Attributes:
        passed: whether it passed; None if it did not run.
        says: the words that say so.
    """

    passed: bool | None
    says: str


def summary_of(output: str) -> OutputSummary | None:
    """Return what the end of an output says; None if there are no such words in it.

    Words of a failure win over words of a success: one output may hold both, as "3 failed, 9
    passed" does.
    """
    text = output[-_LONGEST:]
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    lines = list(_telling_lines(text))
    for expression, passed in ((_FAILED, False), (_PASSED, True), (_NOT_RUN, None)):
        for line in reversed(lines):
            if found := expression.search(line):
                return OutputSummary(passed, _shown(line, found))
    return None


def _telling_lines(text: str) -> Iterator[str]:
    """Yield the lines with a hint in order; whole texts are searched, because that is quick."""
    lower = text.lower()
    if len(lower) == len(text):  # some letters have longer small ones
        starts = sorted(_starts_of_telling(lower))
        ends = (lower.find("\n", start) for start in starts)
        text = "\n".join(
            text[start : None if end < 0 else end] for start, end in zip(starts, ends, strict=True)
        )
    yield from (line for line in text.splitlines() if _is_telling(line.lower()))


def _starts_of_telling(lower: str) -> set[int]:
    starts = set()
    for hint in _HINTS:
        at = lower.find(hint)
        while at >= 0:
            starts.add(lower.rfind("\n", 0, at) + 1)
            end = lower.find("\n", at)
            at = lower.find(hint, end) if end >= 0 else -1
    return starts


def _is_telling(lower: str) -> bool:
    return any(hint in lower for hint in _HINTS)


def _shown(line: str, found: re.Match[str]) -> str:
    shown = line.strip(" =\t\r-")
    return shown if len(shown) <= _LONGEST_SUMMARY else found.group().strip()[:_LONGEST_SUMMARY]
