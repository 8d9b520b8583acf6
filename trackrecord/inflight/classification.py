"""Classify errors and failed attempts by class, by name and by text.

Texts come from outside and may be long or hostile: only their beginning and their end are examined,
and every expression is a plain list of words, so that the time is bounded.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from .errors import ErrorType
from .failure_words import MODES, FailureMode

# The informative part is at either end: a message begins with it, a traceback ends with it.
_END_CHARS: Final = 2000
_CAUSES: Final = 5
_MEMBERS: Final = 20

# Failure modes that are types of errors as well; the other modes are of type unknown.
_TYPE_OF: Final[dict[FailureMode, ErrorType]] = {
    "timeout": "timeout",
    "conflict": "conflict",
    "validation": "validation",
    "tool_failure": "tool_failure",
}

_Classes = tuple[type[BaseException], ...]

# The meaning of Python's own classes, in this order, because some derive from others. The text of
# the last ones names things of the program, which may be called anything.
_CLASSES: Final[tuple[tuple[_Classes, FailureMode], ...]] = (
    ((TimeoutError,), "timeout"),
    ((FileExistsError,), "conflict"),
    ((KeyboardInterrupt,), "cancelled"),
    ((ValueError, TypeError, AssertionError, SyntaxError), "validation"),
    ((OSError,), "tool_failure"),
    ((LookupError, NameError, AttributeError), "unknown"),
)
# Where a class's name is parted into words.
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def classify(error: BaseException) -> ErrorType:
    """Return the type of an exception: by its class, its name, its text, then its causes."""
    return _TYPE_OF.get(_mode_of(error), "unknown")


def classify_text(text: str) -> ErrorType:
    """Return the type of an error of which only the message is known."""
    return _TYPE_OF.get(_mode_in(text) or "unknown", "unknown")


def classify_failure(details: object) -> FailureMode:
    """Return how an attempt failed, from an exception or a text in any form.

    The most specific cause wins: a text that names a full context and an invalid request
    is an overflow of the context.
    """
    if isinstance(details, BaseException):
        return _mode_of(details)
    if details is None:
        return "unknown"
    return _mode_in(_text_of(details)) or "unknown"


def _mode_of(error: BaseException) -> FailureMode:
    for cause in _causes(error):
        mode = _mode_by_itself(cause)
        if mode != "unknown":
            return mode
    return "unknown"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception and its explicit causes."""
    cause: BaseException | None = error
    for _ in range(_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__


def _mode_by_itself(error: BaseException, depth: int = 0) -> FailureMode:
    if isinstance(error, BaseExceptionGroup) and depth < _CAUSES:
        modes = {_mode_by_itself(each, depth + 1) for each in error.exceptions[:_MEMBERS]}
        if len(modes) == 1:
            return modes.pop()
    in_text = _mode_in(_text_of(error))
    # No class stands for these; a ValueError may well tell of a context that is full.
    if in_text in ("context_overflow", "dependency_blocked"):
        return in_text
    return _mode_in_names(error) or _mode_of_class(error) or in_text or "unknown"


def _mode_in_names(error: BaseException) -> FailureMode | None:
    """Return the failure mode in the names of the classes, own class first: "ReadTimeout"."""
    for kind in type(error).__mro__:
        if kind.__module__ == "builtins":
            continue
        mode = _mode_in(_CAMEL.sub(" ", kind.__name__[:_END_CHARS]))
        if mode is not None:
            return mode
    return None


def _mode_of_class(error: BaseException) -> FailureMode | None:
    for classes, mode in _CLASSES:
        if isinstance(error, classes):
            return mode
    return None


def _mode_in(text: str) -> FailureMode | None:
    # A compatibility form may be eighteen characters long.
    plain = _ends(unicodedata.normalize("NFKC", _ends(text)).lower())
    for mode, phrases in MODES:
        if phrases.search(plain):
            return mode
    return None


def _ends(text: str) -> str:
    if len(text) <= 2 * _END_CHARS:
        return text
    return text[:_END_CHARS] + "\n" + text[-_END_CHARS:]


def _text_of(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - an agent's own object describes itself here
        return type(value).__name__
