"""Signatures: the identity of a procedure, for any order of its tools."""

import re
from functools import lru_cache
from typing import Final

JOINT: Final = "+"
ESCAPE: Final = "\\"
_NAME: Final = re.compile(r"(?:\\[+\\]|[^+])+")
_ESCAPED: Final = re.compile(r"\\([+\\])")


@lru_cache(maxsize=4096)
def signature_of(order: tuple[str, ...]) -> str:
    """Return the tool names of a procedure, sorted and joined with `+`.

    A `+` inside a name is escaped with a backslash, and so is a backslash: different procedures
    never share a signature.
    """
    return JOINT.join(_escaped(name) for name in sorted(order))


def tools_of(signature: str) -> tuple[str, ...]:
    """Return the tool names that a signature joins, stripped, sorted, each once.

    Whoever types one need not sort it. A backslash in front of a `+` or of a backslash is an
    escape, as in `signature_of`.
    """
    names = (_ESCAPED.sub(r"\1", name).strip() for name in _NAME.findall(signature))
    return tuple(sorted({name for name in names if name}))


def _escaped(name: str) -> str:
    return name.replace(ESCAPE, ESCAPE * 2).replace(JOINT, ESCAPE + JOINT)
