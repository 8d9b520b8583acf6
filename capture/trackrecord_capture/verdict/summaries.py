"""The words of tests, builds and linters that report how they ended.

Words of success are worth less the less of an output is seen: `head` may cut off the failure behind
them, `tail` the one in front of them. So each is known with the part of an output that it needs.
"""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Final

import msgspec

from ..tables import Tables

# A summary stands at the end; a run of several tools has one for each.
_LONGEST: Final = 4000
_LONGEST_SUMMARY: Final = 120
_ANSI: Final = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_CUT_OUT: Final = re.compile(r"^\[\.\.\.\]$", re.MULTILINE)


class OutputPart(IntEnum):
    """The available part of an output."""

    WHOLE = 0
    """All of it."""
    END = 1
    """Its last lines: `tail`, or a text that was too long."""
    SOME = 2
    """Lines from anywhere in it: `head`, `grep`."""


# What begins a word or a line stands behind one sign for that: else each alternative looks anew.
_N: Final = r"[1-9]\d{0,6}"
# A number that is no part of a version, a path or a place.
_COUNT: Final = r"(?<![\w.@/:-])\d{1,7}"
_TABLES: Final = Tables(__file__)


def _pattern(name: str, flags: re.RegexFlag = re.VERBOSE) -> re.Pattern[str]:
    text = _TABLES.read(name, str).replace("{N}", _N).replace("{COUNT}", _COUNT)
    return re.compile(text, re.VERBOSE | flags)


_FAILED: Final = _pattern("failed")
_PASSED_IN_ALL: Final = _pattern("passed_in_all")
_PASSED_IN_END: Final = _pattern("passed_in_end")
_PASSED_IN_WHOLE: Final = _pattern("passed_in_whole", re.IGNORECASE)
_BUILT: Final = _pattern("built")
_NOT_RUN: Final = _pattern("not_run", re.IGNORECASE)
# Whoever builds is content with that, and whoever tests is not.
_UP_TO_DATE: Final = re.compile(r"\bNothing to be done for |' is up to date\.$")
# Several lines tell it together.
_UNITTEST: Final = re.compile(
    r"^Ran (\d+) tests?\b[^\n]*\s+OK(?: \(([^)\n]{0,200})\))?$", re.MULTILINE
)
_SKIPPED: Final = re.compile(r"\bskipped=(\d+)")
_PLAN: Final = re.compile(r"^1\.\.([1-9]\d{0,5})\s*(?:#|$)", re.MULTILINE)
_TAP_OK: Final = re.compile(r"^ok \d+(?![^\n]*# (?i:skip))", re.MULTILINE)
_SUREFIRE: Final = re.compile(
    rf"\bTests run: {_N}, Failures: 0, Errors: 0\b|^> Task \S*[tT]est$", re.MULTILINE
)
# What may be printed by tests that pass: it fails those only that do not say later how they ended.
_LOGGED: Final = re.compile(
    r"^error\b(?!: (?:test|\d+ targets?)\b)|: error: |\bcould not compile\b"
    r"|^(?!\s*Errors\b)[^\n]{0,200}\b\d+ errors?\b(?! in )"
    r"|^\S+:\d+:\d+: "
)
# The number of a thing that is logged, as "Task 2 failed", and not how many did.
_NUMBERED: Final = re.compile(
    r"\b(?!(?:with|and|had|or|of|found|total|in|all|only)\b)[A-Za-z][a-z]{0,40}[a-rt-z]\ #?\d+\ "
    r"(?:failed|failing|errored|fails)\b"
)
# Words of linters and of compilers, which say nothing of tests.
_OF_LINT: Final = re.compile(
    r"\bno issues found\b|\b0 errors\b|^0 issues|\bPrettier\b|\balready formatted$|\boffenses\b"
    r"|\bNo errors\b|\bconfiguration is valid\b|\bchart\(s\)|\bContracts:|^Checked \d"
    r"|\bAll checks passed|\.Passed$",
    re.IGNORECASE,
)
# Words of tests, where they failed.
_OF_TESTS: Final = re.compile(
    r"\b(?:tests?|suites?|specs?|examples?|passed|passing|assert\w*)\b|^\W*FAIL|\bnot ok\b"
    r"|\b\d+ fail|^[#ℹ] fail",
    re.IGNORECASE,
)


_HINTS: Final = _TABLES.read("hints", tuple[str, ...])
_NOT_RUN_HINTS: Final = _TABLES.read("not_run_hints", tuple[str, ...])
_RESULT_HINTS: Final = _TABLES.read("result_hints", tuple[str, ...])
_DOTS: Final = re.compile(r"[.FEsxS]{3}")
_CUT_HINTS: Final = ("truncated", "omitted")
_FINDING: Final = re.compile(r":\d+:(?:\d+:)? |SC\d{4} \(|\.go:\d")

_RESULT: Final = _pattern("result")
# Runners of tasks repeat what they run, and count their own tasks; others what they are to run.
_OF_TASKS: Final = re.compile(r"\s*(?:[>$+] |(?:Tasks|Cached):|(?:Found|Discovered) \d+ test)")
_MOST_AT_ENDS: Final = 16 * 1024
# A client shows no more than the beginning, or has left out a part; "[options] <script> ..." is
# how a program is called.
_CUT_AT_END: Final = re.compile(
    r"(?:(?<![.\w])(?<![>\]]\s)(?:\.{3}|…)|\b(?:truncated|omitted)\b)[])}.\s]*(?:</[\w-]{1,40}>\s*)*\Z"
)
_CUT: Final = re.compile(r"(?:\.\.\.|[…\[(])[^\n]{0,80}\b(?:truncated|omitted)\b", re.IGNORECASE)


class OutputSummary(msgspec.Struct, frozen=True):
    """The evidence in a tool's output on how it ended.

    Attributes:
        passed: whether it passed; None if it did not run, or had nothing to check.
        says: the words that say so.
        of_tests: whether the words are those of tests, and not of a build or a linter.
    """

    passed: bool | None
    says: str
    of_tests: bool = False


def summary_of(
    output: str, part: OutputPart = OutputPart.WHOLE, *, of_tests: bool | None = None
) -> OutputSummary | None:
    """Return the result at the end of an output; None if it contains no such words.

    Words of a failure win over words of a success: one output may hold both, as "3 failed, 9
    passed" does. Words of a success win over those of nothing to check: one of several packages may
    have no tests.

    Args:
        output: the output, or as much of it as is known.
        part: how much of it is seen.
        of_tests: whether tests were to be run, for which the success of a build or a linter is no
            evidence; False if only words of those are; None if either may be.
    """
    if part is OutputPart.WHOLE and (len(output) > _LONGEST or _CUT_OUT.search(output)):
        part = OutputPart.END
    text = output[-_LONGEST:].replace("\r\n", "\n")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    lines = list(_telling_lines(text))
    hints = _hints_in(text, _NOT_RUN_HINTS)
    not_run = [_not_run(line, of_tests, hints) for line in lines]
    nothing = next((said for said in reversed(not_run) if said), None)
    lines = [line for line, said in zip(lines, not_run, strict=True) if said is None]
    passed = _passed(lines, part, of_tests=of_tests, is_empty=nothing is not None)
    passed = passed or _of_several_lines(text, part, of_tests)
    return _failed(lines, is_passed=bool(of_tests and passed)) or passed or nothing


def part_of(output: str, most: int | None) -> OutputPart:
    """Return the part of an output that is seen.

    Args:
        output: what is seen.
        most: the most lines at its end that were shown; None if all were, negative for those at its
            beginning, 0 for others.
    """
    lines = output.count("\n") + 1
    if (most is not None and -lines <= most <= 0) or _CUT_AT_END.search(output[-_LONGEST_SUMMARY:]):
        return OutputPart.SOME
    is_end = most is not None and 0 < most <= lines
    may_be_cut = is_end or _hints_in(output, _CUT_HINTS)
    return OutputPart.END if is_end or (may_be_cut and _CUT.search(output)) else OutputPart.WHOLE


def has_test_result(output: str) -> bool:
    """Return whether an output holds a result of tests: without one, none of them ran."""
    if len(output) > 2 * _MOST_AT_ENDS:
        output = f"{output[:_MOST_AT_ENDS]}\n{output[-_MOST_AT_ENDS:]}"
    text = _ANSI.sub("", output)
    hints = _hints_in(text, _RESULT_HINTS)
    return any(
        (_holds(line, hints) or _DOTS.match(line))
        and _RESULT.search(line)
        and not (_OF_TASKS.match(line) or _NUMBERED.search(line))
        for line in text.splitlines()
    )


def has_finding(output: str) -> bool:
    """Return whether an output names a place in a file, as linters and compilers do."""
    return _FINDING.search(output) is not None


def _hints_in(text: str, hints: Sequence[str]) -> list[str]:
    """Return those of the hints that are anywhere in a text."""
    lower = text.lower()
    return [hint for hint in hints if hint in lower]


def _holds(line: str, hints: Sequence[str]) -> bool:
    lower = line.lower()
    for hint in hints:  # noqa: SIM110 - a generator takes three times as long
        if hint in lower:
            return True
    return False


def _telling_lines(text: str) -> Iterator[str]:
    """Yield the lines that may tell something."""
    hints = _hints_in(text, _HINTS)
    for line in text.splitlines():
        is_place = ":" in line or "SC" in line
        if _holds(line, hints) or (is_place and _FINDING.search(line)):
            yield line.rstrip()


def _not_run(line: str, of_tests: bool | None, hints: Sequence[str]) -> OutputSummary | None:
    found = _NOT_RUN.search(line) if _holds(line, hints) else None
    found = found or (_UP_TO_DATE.search(line) if of_tests else None)
    return OutputSummary(passed=None, says=_shown(line, found)) if found else None


def _failed(lines: list[str], *, is_passed: bool) -> OutputSummary | None:
    for line in reversed(lines):
        found = _FAILED.search(line)
        is_logged = found is not None and is_passed and _LOGGED.search(line)
        if found is None or is_logged or _NUMBERED.search(line):
            continue
        is_of_tests = _OF_TESTS.search(line) is not None
        return OutputSummary(passed=False, says=_shown(line, found), of_tests=is_of_tests)
    return None


def _passed(
    lines: list[str], part: OutputPart, *, of_tests: bool | None, is_empty: bool
) -> OutputSummary | None:
    known = [_PASSED_IN_ALL]
    if part is not OutputPart.SOME:
        known.append(_PASSED_IN_END)
    if part is OutputPart.WHOLE and not is_empty:
        known.append(_PASSED_IN_WHOLE)
    if not of_tests and part is not OutputPart.SOME and not is_empty:
        known.append(_BUILT)
    for line in reversed(lines):
        found = next((found for each in known if (found := each.search(line))), None)
        if found is None:
            continue
        is_of_tests = not (_OF_LINT.search(line) or found.re is _BUILT)
        if of_tests is None or of_tests is is_of_tests:
            return OutputSummary(passed=True, says=_shown(line, found), of_tests=is_of_tests)
    return None


def _of_several_lines(text: str, part: OutputPart, of_tests: bool | None) -> OutputSummary | None:
    if of_tests is False:
        return None
    if found := _UNITTEST.search(text):
        skipped = _SKIPPED.search(found[2] or "")
        ran = int(found[1]) - (int(skipped[1]) if skipped else 0)
        says = found.group().partition("\n")[0]
        return OutputSummary(passed=True if ran > 0 else None, says=says, of_tests=True)
    if part is OutputPart.SOME:
        return None
    if (found := _SUREFIRE.search(text)) and _BUILT.search(text):
        return OutputSummary(passed=True, says=_shown(found.group(), found), of_tests=True)
    if part is OutputPart.WHOLE and (plan := _PLAN.search(text)):
        oks = _TAP_OK.findall(text)
        if len(oks) == int(plan[1]):
            return OutputSummary(passed=True, says=f"{len(oks)} ok", of_tests=True)
    return None


def _shown(line: str, found: re.Match[str]) -> str:
    shown = line.strip(" =\t\r-")
    return shown if len(shown) <= _LONGEST_SUMMARY else found.group().strip()[:_LONGEST_SUMMARY]
