"""Checks of the arguments that a caller hands in: each mistake is one line that names it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from trackrecord.errors import InvalidRequest
from trackrecord.learning.text.spelling import closest
from trackrecord.times import parse_moment

# A moment: seconds since the epoch, ISO 8601, or a datetime. UTC where no offset is given.
Moment = float | str | datetime

_MOST_CHARS: Final = 65_536
_MOST: Final = 1_000_000
_SHORTEST_COMMIT: Final = 7
_LONGEST_COMMIT: Final = 64
_HEX: Final = frozenset("0123456789abcdef")


def text_of(name: str, value: object, *, most: int = _MOST_CHARS) -> str:
    """Return a text that says something.

    Raises:
        InvalidRequest: it is not a text, is blank or too long, or cannot be stored.
    """
    if not isinstance(value, str):
        message = f"{name} must be a text, not of type {type(value).__name__}"
        raise InvalidRequest(message)
    if not value.strip() or len(value) > most or not _is_storable(value):
        message = f"{name} must be a text of 1 to {most} characters without NUL, and not blank"
        raise InvalidRequest(message)
    return value


def optional_text_of(name: str, value: object, *, most: int = _MOST_CHARS) -> str | None:
    """Return a text that says something, or None.

    Raises:
        InvalidRequest: it is neither.
    """
    return None if value is None else text_of(name, value, most=most)


def optional_commit_of(name: str, value: object) -> str | None:
    """Return the SHA of a commit, or the beginning of it, or None.

    Raises:
        InvalidRequest: it is neither.
    """
    if value is None:
        return None
    commit = text_of(name, value).strip().lower()
    if not _SHORTEST_COMMIT <= len(commit) <= _LONGEST_COMMIT or set(commit) - _HEX:
        message = f"{name} must be a commit of {_SHORTEST_COMMIT} hexadecimal digits or more"
        raise InvalidRequest(message)
    return commit


def _is_storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return "\0" not in text


def limit_of(value: object, *, most: int = _MOST) -> int:
    """Return how many are wanted at most.

    Raises:
        InvalidRequest: it is not a whole number from 1 on.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        message = f"limit must be a whole number from 1 to {most}, not {value!r:.80}"
        raise InvalidRequest(message)
    return value


def optional_limit_of(value: object) -> int | None:
    """Return how many are wanted at most, or None for all.

    Raises:
        InvalidRequest: it is not a whole number from 1 on.
    """
    return None if value is None else limit_of(value)


def share_of(name: str, value: object) -> float:
    """Return a number from 0 to 1.

    Raises:
        InvalidRequest: it is not one.
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        message = f"{name} must be a number from 0 to 1, not {value!r:.80}"
        raise InvalidRequest(message)
    return float(value)


def choice_of(name: str, value: object, choices: Sequence[str]) -> str:
    """Return one of several names.

    Raises:
        InvalidRequest: it is none of them; the message names the one that was probably meant.
    """
    if isinstance(value, str) and value in choices:
        return value
    nearest = closest(value, choices) if isinstance(value, str) else None
    guess = f"; did you mean {nearest!r}?" if nearest else ""
    message = f"{name} must be one of {', '.join(choices)}, not {value!r:.80}{guess}"
    raise InvalidRequest(message)


def optional_choice_of(name: str, value: object, choices: Sequence[str]) -> str | None:
    """Return one of several names, or None.

    Raises:
        InvalidRequest: it is neither.
    """
    return None if value is None else choice_of(name, value, choices)


def moment_of(value: Moment | None) -> float | None:
    """Return a past moment in seconds since the epoch, or None for now.

    Raises:
        InvalidRequest: the value is not a moment.
        InvalidTime: it is not between 1970 and 9999.
    """
    if value is None:
        return None
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        message = f"at must be a moment or None, not of type {type(value).__name__}"
        raise InvalidRequest(message)
    return parse_moment(str(value))


def decided_by(by: object, reason: object) -> tuple[str, str | None]:
    """Return who decides, by default this process's user, and the reason; without outer blanks.

    Raises:
        InvalidRequest: one of them is not a text of one line's length.
    """
    actor = user_name() if by is None else text_of("by", by, most=128).strip()
    given_reason = optional_text_of("reason", reason, most=1000)
    return actor, given_reason and given_reason.strip()


def user_name() -> str:
    """Return the name of this process's user."""
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):  # a container's user without a name
        return "unknown"
