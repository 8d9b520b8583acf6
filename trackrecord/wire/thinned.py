"""Take the texts out of a body whose outcome is old; what it counts for stays.

Gone are prompts, descriptions, arguments, results and errors of calls, command lines, names of
files, metadata and what grounds say in words. Tools, their order, the names and JSON types of
arguments, whether calls failed, patterns, criteria, triggers and numbers stay, so that scoring,
consolidation and joining come to the same. A field that had something has nothing of the same type
in it afterwards. What lessons and commands are counted from is not in the body: see `run_digest.py`
and `tried_calls.py`.
"""

from typing import Any, Final

import msgspec

from trackrecord.learning.competences.episodes.arguments import argument_types

from .join import digest_of_body
from .outcome import Outcome, decode_stored
from .outcome_scorer import STRATEGY, OutcomeScorer

_EMPTY: Final = {
    "instruction": "", "description": "", "failure_details": "", "files_touched": [],
    "metadata": {},
}  # fmt: skip
_OF_CALL: Final = ("tool", "id", "ok", "duration_ms", "timestamp", "depends_on", "actor")
_OF_CHECK: Final = ("kind", "state", "is_whole")
_OF_GROUND: Final = ("kind", "call")
_OF_TYPE: Final[dict[str, Any]] = {
    "string": "", "number": 0, "boolean": False, "array": [], "object": {}, "null": None,
}  # fmt: skip
_NULL: Final = msgspec.Raw(b"null")
_MARK: Final = b'"thinned":"'
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_lists = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])


def is_thinned(body: bytes) -> bool:
    """Return whether the texts of a valid body were taken out."""
    # Most bodies do not have these characters at all, and looking for them is cheap.
    return _MARK in body and decode_stored(body).thinned is not None


def thinned(body: bytes, scorer: OutcomeScorer) -> bytes:
    """Return a valid body without its texts; one without them already stays as it is.

    Args:
        body: the body.
        scorer: finds the patterns, which stay the same.
    """
    outcome = decode_stored(body)
    if outcome.thinned is not None:
        return body
    fields: dict[str, Any] = dict(_fields.decode(body))
    given = {name for name, raw in fields.items() if bytes(raw) != b"null"}
    fields |= {name: empty for name, empty in _EMPTY.items() if name in given}
    if "tool_graph" in given:
        fields["tool_graph"] = [_call(call) for call in _lists.decode(fields["tool_graph"])]
    if "grounds" in given:
        fields["grounds"] = [_some(each, _OF_GROUND) for each in _lists.decode(fields["grounds"])]
    # Entries are joined in the same way with their texts and without.
    fields["thinned"] = digest_of_body(body).hex()
    if outcome.description:
        fields["description"] = _description(outcome, fields, scorer)
    return _encode(fields)


def _encode(fields: dict[str, Any]) -> bytes:
    return msgspec.json.encode(fields, order="deterministic")


def _some(given: dict[str, msgspec.Raw], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}


def _call(given: dict[str, msgspec.Raw]) -> dict[str, Any]:
    call = _some(given, _OF_CALL)
    error, ok = (bytes(given.get(name, _NULL)) for name in ("error", "ok"))
    if ok == b"null" != error:
        call["ok"] = False
    if types := argument_types(given.get("args", _NULL)):
        call["args"] = {name: _OF_TYPE[kind] for name, kind in types}
    checks = given.get("checks")
    if checks is not None and bytes(checks) != b"null":
        call["checks"] = [_some(each, _OF_CHECK) for each in _lists.decode(checks)]
    return call


def _description(outcome: Outcome, fields: dict[str, Any], scorer: OutcomeScorer) -> str:
    """Return the names of the strategies that a description tells of; itself if these differ."""
    assert outcome.description is not None  # noqa: S101 - the caller has looked
    touched = scorer.touches(outcome)
    names = ". ".join(each.content for each in touched if each.kind == STRATEGY)
    without = decode_stored(_encode(fields | {"description": names}))
    return names if set(scorer.touches(without)) == set(touched) else outcome.description
