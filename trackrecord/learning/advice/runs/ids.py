"""Ids that are passed on: how many of those that one tool returned another one was called with.

Counted when a run is noted; the ids themselves are not kept.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from .runs import PassedIds

_ID: Final = re.compile(r"(?=[\w-]*\d)[A-Za-z0-9][\w-]{3,63}")
_NO_ID: Final = re.compile(r"\d{4}-\d\d-\d\d.*|\d{1,4}")
_FIELD: Final = re.compile(r"[A-Za-z_]\w{0,63}")
_LONGEST_RESULT: Final = 32 * 1024
_LONGEST_ARGUMENTS: Final = 16 * 1024
_MOST_VALUES: Final = 2_000
_DEEPEST: Final = 6
_FEWEST_IDS: Final = 2
_MOST_IDS: Final = 50
_MOST_NOTED: Final = 32
_json: Final = msgspec.json.Decoder()

_Field = tuple[str, str]


def passed_ids_of(calls: Iterable[tuple[str, bytes, bytes]]) -> tuple[PassedIds, ...]:
    """Return which ids were passed on in a run.

    Args:
        calls: of each call that worked, in order, the tool, the arguments and the result as JSON.
    """
    returned: defaultdict[_Field, set[str]] = defaultdict(set)
    passed: defaultdict[tuple[_Field, str], set[str]] = defaultdict(set)
    for tool, arguments, result in calls:
        if returned and len(arguments) <= _LONGEST_ARGUMENTS:
            said = {value for _, value in _ids(arguments)}
            for field, known in returned.items():
                if said and field[0] != tool and (both := known & said):
                    passed[field, tool] |= both
        if len(result) <= _LONGEST_RESULT and result[:2].strip(b'"')[:1] in (b"{", b"["):
            for field_name, value in _ids(result):
                returned[tool, field_name].add(value)
    found = []
    for field, known in sorted(returned.items()):
        if _FEWEST_IDS <= len(known) <= _MOST_IDS:
            found.append(PassedIds(*field, "", len(known), 0))
            found += [
                PassedIds(*field, to, len(known), len(values))
                for (of, to), values in sorted(passed.items())
                if of == field
            ]
    return tuple(found[:_MOST_NOTED])


def _ids(json: bytes) -> Iterator[tuple[str, str]]:
    """Yield the ids in a document, each with the name of the field that holds it."""
    try:
        found = _json.decode(json)
        if isinstance(found, str):
            found = _json.decode(found)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return
    waiting, seen = [("", found, 0)], 0
    while waiting and seen < _MOST_VALUES:
        name, value, depth = waiting.pop()
        seen += 1
        if isinstance(value, str):
            if name and _ID.fullmatch(value) and not _NO_ID.fullmatch(value):
                yield name, value
        elif depth < _DEEPEST and isinstance(value, list):
            waiting += [(name, each, depth + 1) for each in value[:_MOST_VALUES]]
        elif depth < _DEEPEST and isinstance(value, dict):
            waiting += [
                # Of an object whose keys are data, the name of the field around it.
                (key if _FIELD.fullmatch(key) and not _ID.fullmatch(key) else name, each, depth + 1)
                for key, each in value.items()
            ]
