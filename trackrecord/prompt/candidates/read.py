"""Candidates as callers hand them in: objects of ours, or mappings as JSON has them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from trackrecord.errors import InvalidCandidate

from .candidate import Candidate

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
