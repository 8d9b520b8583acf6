"""Determine the kind of an output's content from its beginning."""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from ..contents import characters_of
from .declarations import count_declared

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
