"""The words by which tests, builds and linters say how they ended."""

import re
from typing import Final

import msgspec

# A summary stands at the end; a run of several tools has one for each.
_LONGEST: Final = 8000
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
    re.VERBOSE | re.MULTILINE,
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
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
# The check itself did not run.
_NOT_RUN: Final = re.compile(
    r"""
      \bcommand\ not\ found\b | \bnot\ found:\ \w | \bNo\ module\ named\ ['"]?(?:pytest|unittest|
        mypy|ruff|tox|nox|flake8|pylint|coverage)\b | \bno\ tests\ ran\b | \bNo\ tests?\ found\b
    | \bcollected\ 0\ items\b | \bNo\ rule\ to\ make\ target\b | \bmissing\ script:
    | \bNo\ such\ file\ or\ directory\b(?=[^\n]{0,200}\Z) | \bis\ not\ recognized\ as\ an\ internal
    | \bNo\ test\ files?\ found | \bRan\ 0\ tests\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


# A line without any of these, in small letters, matches none of the expressions.
_HINTS: Final = (
    "fail", "error", "err!", "problem", "issue", "***", "reformat", "elifecycle", "pass", "ok",
    "success", "compiled", "offenses", "prettier", "kept", "not found", "no module", "no test",
    "collected 0", "no rule", "missing script", "no such file", "not recognized", "ran 0",
)  # fmt: skip


class Summary(msgspec.Struct, frozen=True):
    """What a tool's output says of how it ended.

    Attributes:
        passed: whether it passed; None if it did not run.
        says: the words that say so.
    """

    passed: bool | None
    says: str


def summary_of(output: str) -> Summary | None:
    """Return what the end of an output says; None if there are no such words in it.

    Words of a failure win over words of a success: one output may hold both, as "3 failed, 9
    passed" does.
    """
    text = _telling_lines(_ANSI.sub("", output[-_LONGEST:]))
    for expression, passed in ((_FAILED, False), (_PASSED, True), (_NOT_RUN, None)):
        if matches := list(expression.finditer(text)):
            return Summary(passed, _line_around(text, matches[-1]))
    return None


def _telling_lines(text: str) -> str:
    """Return the lines that an expression could match, and the last one, which is the end.

    The expressions are tried at each character: most lines need not be looked at.
    """
    lower = text.lower()
    if len(lower) != len(text):  # some letters have longer small ones
        return text
    starts = {text.rfind("\n") + 1}
    for hint in _HINTS:
        at = lower.find(hint)
        while at >= 0:
            starts.add(text.rfind("\n", 0, at) + 1)
            end = text.find("\n", at)
            at = lower.find(hint, end) if end >= 0 else -1
    ends = {start: text.find("\n", start) for start in starts}
    return "\n".join(text[at : None if ends[at] < 0 else ends[at]] for at in sorted(starts))


def _line_around(text: str, found: re.Match[str]) -> str:
    begin = text.rfind("\n", 0, found.start() + 1) + 1
    end = text.find("\n", found.end())
    line = text[begin : len(text) if end < 0 else end].strip(" =\t\r\n-")
    if len(line) <= _LONGEST_SUMMARY:
        return line
    return found.group().strip()[:_LONGEST_SUMMARY]
