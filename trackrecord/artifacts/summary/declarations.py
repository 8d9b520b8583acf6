"""Declarations in source code of the common languages: the names that it defines.

Every repetition is bounded or possessive, so the time is proportional to the length.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

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
