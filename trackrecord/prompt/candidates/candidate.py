"""The candidate: a piece that competes for a place in a prompt, also as JSON has it."""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Final, Literal, get_args

import msgspec

from trackrecord.errors import InvalidCandidate

from .sections import SECTIONS, WEIGHTS, Kind

ContentType = Literal["prose", "code", "markdown", "json"]

# What trackrecord learns; these bring a score of their own.
LEARNT_KINDS: Final = tuple(WEIGHTS)

# Weighed and summed up, such a score is still a number.
SCORE_MOST: Final = 1e6

_KINDS: Final = frozenset(get_args(Kind))
_CONTENT_TYPES: Final = frozenset(get_args(ContentType))
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
        if not isinstance(self.id, str) or not self.id:
            message = "a candidate has no id; each needs one of its own, a text"
            raise InvalidCandidate(message)
        if reason := _wrong_word(self) or _wrong_number(self) or _wrong_flag(self):
            message = f"candidate {self.id!r}: {reason}"
            raise InvalidCandidate(message)


# A prompt has hundreds of candidates, and nearly all are sound: each check is one expression that a
# sound one passes without a call, as far as it goes.
def _wrong_word(given: Candidate) -> str | None:
    kind, text, section = given.kind, given.text, given.section
    if not (isinstance(kind, str) and kind in _KINDS):
        return f"there is no kind {kind!r}; there are {', '.join(get_args(Kind))}"
    if not isinstance(text, str):
        return "its text must be a text"
    if not (given.id.isascii() and text.isascii()) and not _is_writable(given.id + text):
        return "it holds a lone surrogate, which cannot be written as UTF-8"
    if not (isinstance(given.content_type, str) and given.content_type in _CONTENT_TYPES):
        return f"content_type is one of {', '.join(get_args(ContentType))}"
    if section is not None and not (isinstance(section, str) and section in SECTIONS):
        return f"there is no section {section!r}; there are {', '.join(SECTIONS)}"
    return None


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _wrong_number(given: Candidate) -> str | None:
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


def _is_finite(value: object) -> bool:
    if type(value) is float:  # nearly all are
        return isfinite(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _wrong_flag(given: Candidate) -> str | None:
    if (
        type(given.is_current_task) is bool
        and type(given.is_blocked_task) is bool
        and type(given.has_failure) is bool
        and type(given.has_success) is bool
        and type(given.has_evidence) is bool
    ):
        return None
    wrong = next(name for name in _FLAGS if type(getattr(given, name)) is not bool)
    return f"{wrong} must be true or false"


Given = Candidate | Mapping[str, Any]

_OPTIONAL: Final = ("tokens", "priority", "score", "section")
# By the name a caller may use, the name that it has here.
_METADATA: Final = {
    spelt: name
    for name in (
        "content_type", "dependency_depth", "decision_age_hours", "decision_age",
        "is_current_task", "is_blocked_task", "has_failure", "has_success", "has_evidence",
    )
    for first, *others in (name.split("_"),)
    for spelt in (name, first + "".join(map(str.capitalize, others)))
} | dict.fromkeys(("decision_age", "decisionAge"), "decision_age_hours")  # fmt: skip


def read_candidates(given: Iterable[Given]) -> list[Candidate]:
    """Check candidates, once; unknown fields are ignored, and null is a missing field.

    Raises:
        InvalidCandidate: one of them is none, or two have one id; the message names it.
    """
    read = [
        each if isinstance(each, Candidate) else _read(each, number)
        for number, each in enumerate(given, start=1)
    ]
    if len({each.id for each in read}) < len(read):
        seen: set[str] = set()
        for each in read:
            if each.id in seen:
                message = f"candidate {each.id!r}: there are two of that id"
                raise InvalidCandidate(message)
            seen.add(each.id)
    return read


def _read(given: object, number: int) -> Candidate:
    if type(given) is not dict and not isinstance(given, Mapping):
        message = f"candidate number {number}: it must be an object, not {type(given).__name__}"
        raise InvalidCandidate(message)
    name = given.get("id")
    if not isinstance(name, str) or not name:
        message = f"candidate number {number}: it has no id; each needs one of its own, a text"
        raise InvalidCandidate(message)
    said = _metadata(name, given.get("metadata"))
    for field in _OPTIONAL:
        value = given.get(field)
        if value is not None:
            said[field] = value
    kind, text = given.get("kind"), given.get("text")
    if kind is None or text is None:
        message = f"candidate {name!r}: it has no {'kind' if kind is None else 'text'}"
        raise InvalidCandidate(message)
    said["id"], said["kind"], said["text"] = name, kind, text
    return Candidate(**said)


def _metadata(name: str, given: object) -> dict[str, Any]:
    if given is None:
        return {}
    if type(given) is not dict and not isinstance(given, Mapping):
        message = f"candidate {name!r}: its metadata must be an object"
        raise InvalidCandidate(message)
    said = {
        _METADATA[key]: value
        for key, value in given.items()
        if value is not None and key in _METADATA
    }
    if len(said) < len(given):
        _refuse_doubled(name, given)
    return said


def _refuse_doubled(name: str, given: Mapping[str, Any]) -> None:
    """Refuse two spellings of one field: they would contradict each other."""
    seen: set[str] = set()
    for key, value in given.items():
        field = _METADATA.get(key)
        if field in seen:
            message = f"candidate {name!r}: {field} is given twice"
            raise InvalidCandidate(message)
        if field is not None and value is not None:
            seen.add(field)
