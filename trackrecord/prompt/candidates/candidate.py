"""The candidate: a piece that competes for a place in a prompt."""

from collections.abc import Container
from math import isfinite
from typing import Final, Literal, get_args

import msgspec

from trackrecord.errors import InvalidCandidate

from .sections import SECTIONS

Kind = Literal[
    "phase", "task", "decision", "evidence", "agent_context",
    "pattern", "anti_pattern", "competence", "memory",
]  # fmt: skip
ContentType = Literal["prose", "code", "markdown", "json"]

# What trackrecord learns; these bring a score of their own.
LEARNT_KINDS: Final = ("pattern", "anti_pattern", "competence", "memory")

# Weighed and summed up, such a score is still a number.
SCORE_MOST: Final = 1e6

_KINDS: Final = frozenset(get_args(Kind))
_CONTENT_TYPES: Final = frozenset(get_args(ContentType))
_SECTIONS: Final = frozenset(SECTIONS)
_NUMBERS: Final = frozenset((float, int))
_LARGE: Final = 1e15
_FLAGS: Final = (
    "is_current_task", "is_blocked_task", "has_failure", "has_success", "has_evidence",
)  # fmt: skip


class Candidate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One piece; checked when it is made, and trusted from then on.

    Attributes:
        id: unique among the candidates of one ranking.
        kind: what it is.
        text: what would stand in the prompt, as it is.
        tokens: what it counts for; None for an estimate by its characters.
        priority: decides between equal scores, the higher first.
        score: what is learnt about it; counts for what trackrecord learns, and nothing else.
        section: the section of the text that it stands in; None for that of its kind.
        content_type: what its tokens are estimated as.
        dependency_depth: how far it is from the task at hand, from 0 on; None when unknown.
        decision_age_hours: how old a decision is; None when unknown.
        is_current_task: whether it is about the task at hand.
        is_blocked_task: whether it is about a blocked task.
        has_failure: whether it is about a recent failure.
        has_success: whether it is about a recent success.
        has_evidence: whether it has evidence.

    Raises:
        InvalidCandidate: a field is none; the message names the candidate and the field.
    """

    id: str
    kind: Kind
    text: str
    tokens: int | None = None
    priority: float = 0.0
    score: float = 0.0
    section: str | None = None
    content_type: ContentType = "prose"
    dependency_depth: float | None = None
    decision_age_hours: float | None = None
    is_current_task: bool = False
    is_blocked_task: bool = False
    has_failure: bool = False
    has_success: bool = False
    has_evidence: bool = False

    def __post_init__(self) -> None:
        if _is_sound(self):
            return
        if not isinstance(self.id, str) or not self.id:
            message = "a candidate has no id; each needs one of its own, a text"
            raise InvalidCandidate(message)
        if reason := _not_a_word(self) or _not_a_number(self) or _not_a_flag(self):
            message = f"candidate {self.id!r}: {reason}"
            raise InvalidCandidate(message)


def _is_sound(given: Candidate) -> bool:
    """Whether all is well, in one glance: nearly every candidate is, and a prompt has hundreds.

    What is of another type than usual, a subclass say, is looked at again, slowly.
    """
    tokens, depth, age = given.tokens, given.dependency_depth, given.decision_age_hours
    return (
        type(given.id) is str
        and given.id != ""
        and type(given.kind) is str
        and given.kind in _KINDS
        and type(given.text) is str
        and given.id.isascii()
        and given.text.isascii()
        and type(given.content_type) is str
        and given.content_type in _CONTENT_TYPES
        and (given.section is None or given.section in _SECTIONS)
        and (tokens is None or (type(tokens) is int and tokens >= 0))
        and type(given.priority) in _NUMBERS
        and -_LARGE < given.priority < _LARGE
        and type(given.score) in _NUMBERS
        and -SCORE_MOST <= given.score <= SCORE_MOST
        and (depth is None or (type(depth) in _NUMBERS and 0 <= depth < _LARGE))
        and (age is None or (type(age) in _NUMBERS and -_LARGE < age < _LARGE))
        and type(given.is_current_task) is bool
        and type(given.is_blocked_task) is bool
        and type(given.has_failure) is bool
        and type(given.has_success) is bool
        and type(given.has_evidence) is bool
    )


def _not_a_word(given: Candidate) -> str | None:
    if not _is_one_of(given.kind, _KINDS):
        return f"there is no kind {given.kind!r}; there are {', '.join(get_args(Kind))}"
    if not isinstance(given.text, str):
        return "its text must be a text"
    if not _is_writable(given.id) or not _is_writable(given.text):
        return "it holds a lone surrogate, which cannot be written as UTF-8"
    if not _is_one_of(given.content_type, _CONTENT_TYPES):
        return f"content_type is one of {', '.join(get_args(ContentType))}"
    if given.section is not None and not _is_one_of(given.section, SECTIONS):
        return f"there is no section {given.section!r}; there are {', '.join(SECTIONS)}"
    return None


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_one_of(value: object, names: Container[str]) -> bool:
    return isinstance(value, str) and value in names


def _not_a_number(given: Candidate) -> str | None:
    tokens, depth, age = given.tokens, given.dependency_depth, given.decision_age_hours
    if tokens is not None and (type(tokens) is not int or tokens < 0):
        return f"tokens must be a whole number from 0 on, not {tokens!r}"
    if not _is_finite(given.priority):
        return f"priority must be a finite number, not {given.priority!r}"
    if not _is_finite(given.score) or abs(given.score) > SCORE_MOST:
        return f"score must lie in ±{SCORE_MOST:g}, not {given.score!r}"
    if depth is not None and (not _is_finite(depth) or depth < 0):
        return f"dependency_depth must be a finite number from 0 on, not {depth!r}"
    if age is not None and not _is_finite(age):
        return f"decision_age_hours must be a finite number, not {age!r}"
    return None


def _not_a_flag(given: Candidate) -> str | None:
    for name in _FLAGS:
        if type(getattr(given, name)) is not bool:
            return f"{name} must be true or false"
    return None


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False
