"""The words of tests, builds and linters that report how they ended.

Words of success are worth less the less of an output is seen: `head` may cut off the failure behind
them, `tail` the one in front of them. So each is known with the part of an output that it needs.
"""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Final

import msgspec

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
_FAILED: Final = re.compile(
    rf"""
      \b(?:{_N}\ (?:tests?\ |examples?\ |specs?\ |suites?\ |checks?\ |files?\ )?
          (?:failed|failing|failures?|errors?|errored|fails?|FAILED)\b
      | (?:Failed|Failures|Errors):\s{{0,8}}{_N}\b | failed\ {_N}\b
      | FAILED\ \((?:failures|errors)= | test\ result:\ FAILED | TEST(?:S)?\ FAILED\b
      | error\ TS\d+: | Found\ {_N}\ (?:errors?|issues?|problems?|diagnostics?)\b | SC\d{{4}}\ \(
      | {_N}\ offenses?\ detected | BUILD\ (?:FAILED|FAILURE)\b
      | \d{{1,3}}%\ tests\ passed,\ {_N}\ tests?\ failed | would\ be\ reformatted\b
      | Code\ style\ issues\ found | ELIFECYCLE\b | [Bb]uild\ (?:failed|FAILED)\b
      | Failed\ to\ compile\b | Some\ tests\ failed\b | {_N}\ chart\(s\)\ failed
      | evaluation\ failed\ :\( | Session\ \S{{1,80}}\ failed\b
      | coverage\b[^\n]{{0,120}}\bnot\ (?:met|reached)\b)
    | ^(?:\s*{_N}\ fail$ | FAILED\b | \s{{0,8}}FAIL(?:URES)?[!:\ \t] | ---\ FAIL: | FAIL$
      | ERRORS!$ | \s{{0,40}}not\ ok\b(?![^\n]{{0,200}}\#\ (?i:todo|skip))
      | [#ℹ]\ (?:fail|cancelled)\s{{1,4}}{_N}\b | error(?:\[[\w-]{{1,40}}\])?: | Type\ error:
      | \S{{1,250}}\.go:\d{{1,7}}:\d{{1,5}}:[ ]
      | \S{{1,250}}:\d{{1,7}}:\d{{1,5}}:\ [A-Z]\d{{3,4}}\b | {_N}\ issues?[:.]
      | g?make(?:\[\d+\])?:\ \*\*\*\ (?!No\ rule) | npm\ (?:ERR!|error)\ Test | Failed!
      | Would\ reformat | │\ Error: | Failed\ \d{{1,6}}/\d | nox\ >\ \*\ [^\n]{{1,80}}:\ failed$
      | Failed\ tasks:)
    | :\d{{1,7}}:\ (?:fatal\ )?error:[ ] | ✖\ {_N}\ problems?\ \((?!0\ errors)
      | (?<!\b0\ )\b[Tt]ests?\ failed\b | \.Failed$ | :\ FAIL$
    """,
    re.VERBOSE,
)
# A failure anywhere is told in the very same line.
_PASSED_IN_ALL: Final = re.compile(
    rf"""
      \b(?:Summary\ \[[^\]\n]{{1,20}}\][^\n]{{0,40}}\b{_N}\ passed
      | {_N}\ examples?,\ 0\ failures(?!,\ {_N}\ error) | {_N}\ tests?,\ 0\ failures\b
      | {_N}\ runs,\ \d+\ assertions,\ 0\ failures,\ 0\ errors
      | 100%\ tests\ passed,\ 0\ tests\ failed\ out\ of\ {_N}\b
      | total:\ {_N},\ failed:\ 0,\ succeeded:\ {_N}\b
      | Executed\ [^\n]{{0,40}}\btests?:\ [^\n]{{0,20}}\b{_N}\ tests?\ pass(?:es)?\b
      | Success:\ no\ issues\ found\ in\ {_N}\b | 0\ errors,\ 0\ warnings
      | All\ matched\ files\ use\ Prettier | {_N}\ files?\ inspected,\ no\ offenses\ detected\b
      | {_N}\ chart\(s\)\ linted,\ 0\ chart\(s\)\ failed | All\ specs\ passed!
      | All\ tests\ passed[!.]$ | congratulations\ :\)
      | ({_N})\ of\ \1\ test\ suites\b[^\n]{{0,60}}\ passed | Contracts:\ {_N}\ kept,\ 0\ broken\b
      | found\ 0\ errors\ and\ 0\ warnings\b)
    | ^(?:Test\ Suites:\ [^\n]{{0,80}}\b{_N}\ passed, | ok\ \|\ {_N}\ passed[ ]
      | OK\ \({_N}\ tests?, | 0\ issues\. | {_N}\ files?\ already\ formatted$
      | Success!\ The\ configuration\ is\ valid | Result:\ PASS$
      | {_N}\ features?\ passed,\ 0\ failed\b)
    | \(0\ errors,\ \d+\ w | \[OK\]\ No\ errors\b
    """,
    re.VERBOSE,
)
# A failure is told in a line behind it, if not in the same.
_PASSED_IN_END: Final = re.compile(
    rf"""
      \b(?:{_N}\ passed\b[^\n]{{0,200}}\ in\ [\d.]+\ ?s | test\ result:\ ok\.\ {_N}\ passed
      | Executed\ {_N}\ tests?,\ with\ 0\ failures | Session\ \S{{1,80}}\ was\ successful
      | succeeded\ {_N},\ failed\ 0\b | Checked\ {_N}\ files?\ in\b)
    | ^(?:\s*Tests\s+[^\n]{{0,60}}\b{_N}\ passed\b[^\n]{{0,60}}\(\d+\)$
      | ok\s+\S{{1,250}}\s+(?:[\d.]+s|\(cached\))(?!\ \[no\ tests) | \s*{_N}\ passing\b
      | [#ℹ]\ pass\s+{_N}\b | \s*{_N}\ pass$ | \s*Tasks:\s+({_N})\ successful,\ \1\ total)
    """,
    re.VERBOSE,
)
# A failure may be told in any other line.
_PASSED_IN_WHOLE: Final = re.compile(
    rf"""
      \b(?:{_N}\ (?:tests?\ |specs?\ |suites?\ )?passed\b | All\ checks\ passed
      | no\ issues\ found\b | Tests\ run:\ {_N},\ Failures:\ 0,\ Errors:\ 0\b)
    | ^(?:Passed!\s+-\s+Failed:\s+0,\ Passed:\s+{_N} | All\ tests\ successful)
    | \.Passed$
    """,
    re.VERBOSE | re.IGNORECASE,
)
# That it was built; tests say more.
_BUILT: Final = re.compile(
    r"""
      \b(?:BUILD\ SUCCESS(?:FUL)?\b | [Cc]ompiled\ successfully\b | built\ in\ [\d.]+\ ?m?s$
      | Build\ succeeded\b | Build\ completed\ successfully\b)
    | ^(?:\[100%\]\ Built\ target[ ] | \s*Finished\ `?(?:dev|release)\b | \[success\]\ Total\ time)
    """,
    re.VERBOSE,
)
# The check did not run, or there was nothing that it could check.
_NOT_RUN: Final = re.compile(
    r"""
      \b(?:command\ not\ found\b | not\ found:\ \w
      | No\ module\ named\ ['"]?(?:pytest|unittest|mypy|ruff|tox|nox|flake8|pylint|coverage)\b
      | no\ tests\ ran\b | No\ tests?\ found\b | collected\ 0\ items\b
      | No\ rule\ to\ make\ target\b | (?:missing\ script:|Script\ not\ found\b)
      | can't\ open\ file\b | is\ not\ recognized\ as\ an\ internal | unrecognized\ subcommand\b
      | No\ test\ files?\ found | Ran\ 0\ tests\b | 0\ (?:tests|specs)\ found\b
      | no\ (?:tests|packages)\ to\ (?:run|test|build|vet)\b | matched\ no\ packages\b
      | no\ tests?\ (?:was|were)\ (?:executed|found|run)\b | No\ tests?\ executed\b
      | no\ test\ (?:modules|targets\ were)\ found\b | Tests\ are\ skipped\b
      | No\ test\ (?:is\ available|matches) | test\w*\ NO-SOURCE\b | test\ result:\ ok\.\ 0\ passed
      | 0\ (?:passing\b|runs,|examples,\ 0\ failures(?!,)) | 0\ tests(?:,|\ ran\b|\ run\b)
      | Executed\ 0\ tests\b | Tests\s+(\d+)\ skipped\ \(\1\)$
      | filters\ did\ not\ match\ any\ test | no\ (?:\w+\ )?spec\ files\ were\ found
      | Total\ number\ of\ tests\ run:\ 0\b | Couldn['’]t\ find\ any\ files\ to\ test
      | ([1-9]\d*)\ tests?,\ 0\ failures,\ \2\ excluded\b | No\ matching\ test\ cases\b
      | No\ (?:Python|source|input)\ ?files\b | No\ inputs\ were\ found\b | no\ files\ to\ check\b
      | No\ files\ (?:matching|were\ processed)\b | There\ are\ no\ \.py | no\ go\ files\ to\b
      | can't\ read\ file\b | openBinaryFile:\ does\ not\ exist | Checked\ 0\ files\b
      | file\ or\ directory\ not\ found: | Sessions\ not\ found: | Could\ not\ find\ '/
      | provided\ environments\ not\ found\b
      | No\ (?:projects|packages|workspaces|tasks)\ (?:matched|found|were\ (?:run|executed)))
    | ^(?:(?:signal:\ )?[kK]illed$ | ok\ \|\ 0\ passed[ ] | 1\.\.0\b | [#ℹ]\ tests\ 0$
      | Tests:\s+(?:\d+\ skipped,\ )?\d+\ total$ | Result:\ NOTESTS
      | =*\ ?\d+\ (?:skipped|deselected)\b[^\n]{0,80}\ in\ [\d.]+s | >\ echo\ (?![^\n]{0,200}&&)
      | Error:\ no\ test\ specified)
    | \[no\ tests\ to\ run\] | \[no\ test\ files\]
    """,
    re.VERBOSE | re.IGNORECASE,
)
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


# One of these stands in every line that tells something, and in few others.
_HINTS: Final = (
    "fail", "pass", "error", "succ", "ok", "issue", "problem", "test", "format", "lifecycle",
    "***", "no ", "not ", "nothing", "no-source", "script", "compile", "prettier", "killed",
    "kept", "recog", "can't", "offense", "built", "finished `", "chart", "is valid", "spec",
    "suite", "example", " runs,", "feature", "skipped", "deselected", "1..", "exist", "checked ",
    "executed", "congrat", "tasks:", "session", "> echo", "up to date", "collected", "find",
    "cancelled", "code style", "matched", "diagnos",
)  # fmt: skip
# One of these stands in every line that says that nothing ran.
_NOT_RUN_HINTS: Final = (
    "no ", "not ", "nothing", "no-source", "notests", "0 test", "0 spec", "0 item", "0 pass",
    "0 runs", "0 example", "0 file", "tests 0", "run: 0", "..0", "killed", "skipped",
    "deselected", "total", "excluded", "recognized", "missing script", "can't", "couldn", "> echo",
    "openbinaryfile",
)  # fmt: skip
# One of these, or dots, in every line that holds a result of tests.
_RESULT_HINTS: Final = (
    "pass", "fail", "skip", "pending", "succe", "test", "spec", "suite", "scenario", "example",
    "assert", "error", "total", "ok", "run", " +", ".go:", *"✓✔√✗✘✖×✕",
)  # fmt: skip
_DOTS: Final = re.compile(r"[.FEsxS]{3}")
_CUT_HINTS: Final = ("truncated", "omitted")
_FINDING: Final = re.compile(r":\d+:(?:\d+:)? |SC\d{4} \(|\.go:\d")

# A number that is no part of a version, a path or a place.
_COUNT: Final = r"(?<![\w.@/:-])\d{1,7}"
# Printed only where tests ran, however they ended: a count of them, the result of one by its name,
# a failed assertion, a place where code does not compile.
_RESULT: Final = re.compile(
    rf"""
      {_COUNT}\ (?:[a-z][\w-]{{0,20}}\ ){{0,2}}(?i:pass(?:ed|es|ing)?|fail(?:ed|s|ing|ures?)?
          |skipped|pending|succeeded|success(?:es)?|tests?|specs?|suites?|scenarios?|examples?
          |assertions?|subtests?|errored)\b
    | \b(?i:pass(?:ed)?|fail(?:ed|ing|ures?)?|errors|tests?(?:\ run)?|specs|suites|scenarios
          |assertions|skipped|total)\ {{0,8}}(?:=\ ?|:\ {{1,8}}|\|\ {{1,8}}|\ )\d
    | ^\W{{0,8}}(?:ok|not\ ok|OK|PASS(?:ED)?|FAIL(?:ED|URES?)?)(?:[\s!(:\[]|$)(?!\ ?Build\ f)
    | ^\s*(?:---|===)\ (?:PASS|FAIL|SKIP|RUN) | ^\W{{0,8}}\((?:pass|fail)\)\ | ^\d\d:\d\d\ \+\d
    | \.{{3}}\ ?(?:ok|OK|FAIL(?:ED)?|ERROR|PASS(?:ED)?|skipped)\b
    | (?<!BUILD)\ (?:PASSED|FAILED)(?:\s|$)
    | ^\s*(?:[✓✔√]|[✗✘✖×✕])\ (?!.{{0,200}}\b(?i:errors?|no|cannot|can't|not\ found|missing|unable
          |could\ not|failed\ to|no\ such|buil[dt]|compiled|loaded|config\w*)\b)
    | {_COUNT}\ errors?\ (?:in|during)\ | ^[.FEsxS]{{3,200}}\s*(?:\[\ *\d+%\])?$
    | \bfailing\ tests?\b | \b[Aa]ssert(?:ion)?\w{{0,8}}(?:Error\b|\ failed|\ `)
    | \S[:(\[]\d{{1,7}}(?:[:,]\d{{1,5}})?[\])]?:?\ {{1,4}}(?:fatal\ |syntax\ )?error\b
    | [._-](?:test|spec)\.\w{{1,4}}:\d | \.go:\d{{1,7}}:\d | ^error\[\w{{1,12}}\]
    """,
    re.VERBOSE,
)
# Runners of tasks repeat what they run, and count their own tasks.
_OF_TASKS: Final = re.compile(r"\s*(?:[>$+] |(?:Tasks|Cached):)")
_MOST_AT_ENDS: Final = 16 * 1024
# A client shows no more than the beginning, or has left out a part.
_CUT_AT_END: Final = re.compile(
    r"(?:(?<![.\w])(?:\.\.\.|…)|\b(?:truncated|omitted)\b)[\])}.\s]*(?:</[\w-]{1,40}>\s*)*\Z"
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
    text = output[-_LONGEST:]
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
        most: the most lines at its end that were shown; None if all were, 0 if others were.
    """
    if most == 0 or _CUT_AT_END.search(output[-_LONGEST_SUMMARY:]):
        return OutputPart.SOME
    is_end = most is not None and output.count("\n") + 1 >= most
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
