"""Coerce an agent's values to the wire's types where only one reading is possible.

Python knows more of a value than its JSON would say, so this belongs to the producer; the wire
itself stays strict for every language. See docs/wire.md.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from trackrecord.wire.outcome import Cost, Outcome, Process, Trigger

from .scalars import as_amount, as_count, as_flag, as_moment, as_text
from .tool_calls import tool_calls
from .unknown_names import say_unknown

Say = Callable[[str, str], None]
Coerce = Callable[[str, Any, Say], object]

_KNOWN: Final = frozenset(Outcome.__struct_fields__)
_KNOWN_INSIDE: Final = {
    "process": frozenset(Process.__struct_fields__),
    "cost": frozenset(Cost.__struct_fields__),
    "trigger": frozenset(Trigger.__struct_fields__),
}

_WITHOUT_PARTS: Final = _KNOWN - {*_KNOWN_INSIDE, "tool_graph"}


def with_known_names(fields: dict[str, Any], say: Say) -> None:
    """Report fields that the wire format lacks; give tool calls its field names, in place.

    Args:
        fields: the agent's fields.
        say: takes the kind of a remark and its text.
    """
    # One check is enough for most outcomes: this runs for every outcome.
    if _WITHOUT_PARTS.issuperset(fields):
        return
    if not _KNOWN.issuperset(fields):
        say_unknown("an outcome", fields.keys() - _KNOWN, _KNOWN, say)
    for name, known in _KNOWN_INSIDE.items():
        inner = fields.get(name)
        if isinstance(inner, dict) and not known.issuperset(inner):
            say_unknown(name, inner.keys() - known, known, say)
    calls = fields.get("tool_graph")
    if calls is not None:
        fields["tool_graph"] = tool_calls(calls, say)


def coerce(fields: dict[str, Any], say: Say) -> bool:
    """Give fields the wire's types where only one reading is possible, in place.

    Args:
        fields: the agent's fields.
        say: takes the kind of a remark and its text; called where information changes.

    Returns:
        Whether anything was changed.
    """
    changed = False
    for name, value in list(fields.items()):
        if value is None and name == "outcome_source":
            del fields[name]
            changed = True
        elif value is not None and name in _COERCIONS:
            coerced = _COERCIONS[name](name, value, say)
            changed = changed or coerced is not value
            fields[name] = coerced
    return changed


def _flag(_name: str, value: object, _say: Say) -> object:
    return as_flag(value)


def _text(_name: str, value: object, _say: Say) -> object:
    return as_text(value)


def _moment(_name: str, value: object, say: Say) -> object:
    return as_moment(value, say)


def _texts(_name: str, value: object, _say: Say) -> object:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Iterable) and not isinstance(value, (Mapping, bytes)):
        return [as_text(item) for item in value]
    return value


def _trigger(_name: str, value: object, _say: Say) -> object:
    return {"signal": value} if isinstance(value, str) else value


def _counts(name: str, value: object, say: Say) -> object:
    if not isinstance(value, Mapping):
        return value
    return {
        key: as_amount(item) if key == "usd" else as_count(f"{name}.{key}", item, say)
        for key, item in value.items()
    }


def _calls(_name: str, value: object, _say: Say) -> object:
    if not isinstance(value, (list, tuple)):
        return value
    return [_call(call) for call in value]


def _call(call: object) -> object:
    if not isinstance(call, Mapping):
        return call
    by_field: dict[str, Callable[[object], object]] = {
        "tool": as_text,
        "ok": as_flag,
        "duration_ms": as_amount,
    }
    return {key: by_field[key](item) if key in by_field else item for key, item in call.items()}


_COERCIONS: Final[dict[str, Coerce]] = {
    "success": _flag,
    "timestamp": _moment,
    "trigger": _trigger,
    "tool_graph": _calls,
    **dict.fromkeys(("process", "cost"), _counts),
    **dict.fromkeys(("duration_ms", "error_count", "retry_count"), as_count),
    **dict.fromkeys(("patterns", "files_touched", "memory_ids"), _texts),
    **dict.fromkeys(
        ("task_id", "bead_id", "outcome_id", "project", "source", "failure_mode", "competence_id"),
        _text,
    ),
}
