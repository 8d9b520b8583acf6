"""Determine the kind of an output's content from its beginning.

Declarations in source code of the common languages: the names that it defines.

Every repetition is bounded or possessive, so the time is proportional to the length.
"""

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import islice
from typing import Final

from ..contents import characters_of

_MODIFIERS = (
    rb"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|"
    rb"pub(?:\([a-z]{1,8}\))?|unsafe|open|data|sealed|override|inline|const|extern|virtual|"
    rb"partial|readonly|declare|local|suspend|case|typedef)[ \t]{1,4}){0,6}"
)
_KEYWORDS = (
    rb"(?:class|def|func|fun|fn|function\*?|interface|struct|enum|trait|impl|type|module|"
    rb"namespace|protocol|extension|record|object|macro_rules!|sub|union)"
)
_NAME = rb"[A-Za-z_$][\w$]{0,80}"
# Keyword and name: Python, JavaScript, TypeScript, Go, Rust, Java, C#, Kotlin, Swift, Ruby, PHP.
# A receiver of Go and the type parameters of Rust stand between the two.
_BY_KEYWORD = (
    rb"(?:" + _MODIFIERS + _KEYWORDS + rb"[ \t]{1,4}(?:\([^()\n]{0,80}\)[ \t]{0,4})?"
    rb"(?:<[^<>\n]{0,80}>[ \t]{0,4})?(?P<a>" + _NAME + rb"))"
)
# `const name = (…) =>` of JavaScript.
_GAP = rb"[ \t]{0,4}"
_FUNCTION_VALUE = (
    rb"(?:async" + _GAP + rb")?"
    rb"(?:function\b|\([^()\n]{0,200}\)[^\n=]{0,80}=>|" + _NAME + _GAP + rb"=>)"
)
_ARROW = (
    rb"(?:(?:export[ \t]{1,4})?(?:const|let|var)[ \t]{1,4}"
    rb"(?P<b>" + _NAME + rb")" + _GAP + rb"=" + _GAP + _FUNCTION_VALUE + rb")"
)
# `type name(…) {` of C, C++, Java, C#.
_TYPE = rb"[A-Za-z_][\w:<>,\[\]]{0,60}+[ \t*&]{1,4}+(?:[\w:<>,\[\]]{1,40}+[ \t*&]{1,4}+){0,4}"
_BODY = rb"[ \t]{0,2}\([^;(){}\n]{0,300}\)[^;(){}\n=]{0,80}\n?[ \t]{0,8}\{"
_BY_TYPE = (
    rb"(?:(?!(?:return|else|new|throw|if|for|while|switch|catch|do)\b)"
    + _TYPE + rb"(?P<c>[A-Za-z_~][\w:~]{0,80})" + _BODY + rb")"
)  # fmt: skip
# A line end in front: the text between two of them is skipped in C.
_START = rb"\n[ \t]{0,16}+(?=[A-Za-z_~])"
_DECLARATION: Final = re.compile(_START + rb"(?:" + _BY_KEYWORD + rb"|" + _ARROW + rb")")
_WITH_BODIES: Final = re.compile(
    _START + rb"(?:" + _BY_KEYWORD + rb"|" + _ARROW + rb"|" + _BY_TYPE + rb")"
)
_OPENS_BODY: Final = re.compile(rb"\)[\w \t,.&]{0,80}+\n?[ \t]{0,8}\{")
_NO_NAMES: Final = frozenset({b"if", b"for", b"while", b"switch", b"catch"})
_FIRST_BYTES = 4096


def declared(data: bytes) -> Iterator[bytes]:
    """Yield the names that source code declares, in their order."""
    # Looking at each line for a function of C costs more than all else.
    pattern = _WITH_BODIES if _OPENS_BODY.search(data) else _DECLARATION
    # The first line has no line end in front of it.
    first = pattern.match(b"\n" + data[:_FIRST_BYTES])
    if first is not None:
        yield _name(first)
    for match in pattern.finditer(data):
        if (name := _name(match)) not in _NO_NAMES:
            yield name


def _name(match: re.Match[bytes]) -> bytes:
    named: bytes = match[match.lastgroup or 0]
    return named


def count_declared(data: bytes, at_most: int) -> int:
    """Return how many names source code declares, up to `at_most`."""
    return sum(1 for _ in islice(declared(data), at_most))


_SAMPLE = 16 * 1024
_LINE = 300


class OutputKind(StrEnum):
    """The kinds of outputs; each is summarised in its own way."""

    JSON = "JSON"
    CODE = "code"
    LOG = "log"
    TEXT = "text"
    BINARY = "binary"


# The beginnings of a line of a log: a time, a level, or a tool's verdict.
_LOGGED: Final = re.compile(
    rb"[\[<(\"' \t]{0,4}(?:"
    rb"\d{4}[-/]\d\d[-/]\d\d[T \t_]|\d\d:\d\d:\d\d|\d{10}(?:\.|\d{3}\b)"
    rb"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
    rb",? {1,2}\d"
    rb"|(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|PASS(?:ED)?|FAIL(?:ED)?)\b"
    rb"|(?i:error|warning|info|debug)[:\[(]"
    rb"|[IWEF]\d{4} "
    rb")"
)
# A level further on in the line, behind a name or an address.
_LEVEL: Final = re.compile(
    rb"[^\n]{0,120}?(?:\b(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL|PASSED|FAILED)\b"
    rb"|: (?:error|warning|note)\b|\"level\" ?: ?\"|\blevel=)"
)
_CODE_LINE: Final = re.compile(
    rb"[ \t]*+(?:(?:import|from|use|using|package|return|if|for|while|def|class|func|fn|let|const"
    rb"|var|public|private|static|export|elif|else|try|except|raise|end)\b|#include|//|/\*|\*|@\w)"
)
_CODE_ENDS: Final = (b"{", b"}", b";", b":", b",", b"(", b")", b"[", b"]", b"=>", b"=")
_LOG_SHARE = 0.3
_CODE_SHARE = 0.5
_FEWEST_DECLARED = 2
_STRANGE_SHARE = 0.1
_PLAIN: Final = bytes({*range(32, 127), *b"\t\n\r\f\b\x1b", *range(0x80, 0x100)})


def kind_of(data: bytes, *, is_json: bool) -> OutputKind:
    """Return the kind of an output.

    Args:
        data: its bytes.
        is_json: whether it is a JSON object or array.
    """
    if is_json:
        return OutputKind.JSON
    if is_binary(data):
        return OutputKind.BINARY
    sample = data[:_SAMPLE]
    # The last line of a sample may be half a line.
    lines = [line[:_LINE].rstrip() for line in sample.split(b"\n") if line.strip()]
    if len(lines) > 1 and len(data) > _SAMPLE:
        lines.pop()
    if _share(lines, _is_logged) >= _LOG_SHARE:
        return OutputKind.LOG
    is_code = (
        _share(lines, _is_code) >= _CODE_SHARE
        and count_declared(sample, _FEWEST_DECLARED) >= _FEWEST_DECLARED
    )
    return OutputKind.CODE if is_code else OutputKind.TEXT


def is_binary(data: bytes) -> bool:
    """Return whether bytes hold a NUL, or are not UTF-8 and full of control characters."""
    if b"\0" in data:
        return True
    if characters_of(data) is not None:
        return False
    sample = data[:_SAMPLE]
    strange = len(sample.translate(None, _PLAIN))
    high = sum(byte >= 0x80 for byte in sample[:4096])
    return strange > _STRANGE_SHARE * len(sample) or high > 0.3 * len(sample[:4096])


def _share(lines: list[bytes], holds: Callable[[bytes], bool]) -> float:
    return sum(map(holds, lines)) / len(lines) if lines else 0.0


def _is_logged(line: bytes) -> bool:
    return bool(_LOGGED.match(line) or _LEVEL.match(line))


def _is_code(line: bytes) -> bool:
    return line.endswith(_CODE_ENDS) or _CODE_LINE.match(line) is not None
