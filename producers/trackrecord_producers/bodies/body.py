"""Build the encoded body of an outcome: complete the fields, write JSON, check it."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from trackrecord.errors import InvalidOutcome
from trackrecord.wire.outcome import (
    MAX_BODY_BYTES,
    Cost,
    Outcome,
    Process,
    Trigger,
    decode_reported,
    encode_body,
)

from ..delivery.ids import new_id
from .remarks import Say, remark, say_unknown
from .scalars import as_amount, as_count, as_flag, as_moment, as_text
from .tool_calls import tool_calls

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
    "success": lambda _name, value, _say: as_flag(value),
    "timestamp": lambda _name, value, say: as_moment(value, say),
    "trigger": _trigger,
    "tool_graph": _calls,
    **dict.fromkeys(("process", "cost"), _counts),
    **dict.fromkeys(("duration_ms", "error_count", "retry_count"), as_count),
    **dict.fromkeys(("patterns", "files_touched", "memory_ids"), _texts),
    **dict.fromkeys(
        ("task_id", "bead_id", "outcome_id", "project", "source", "failure_mode", "competence_id"),
        lambda _name, value, _say: as_text(value),
    ),
}


# NaN and Infinity travel as null, as if no id were given.
_NOT_A_NUMBER: Final = "{} must be a text: NaN and Infinity are no ids"
_OTHER_IDS: Final = frozenset(("competence_id", "bead_id"))


def build_body(
    fields: dict[str, Any],
    *,
    project: str | None = None,
    max_bytes: int = MAX_BODY_BYTES,
    say: Say = remark,
) -> tuple[str, bytes]:
    """Complete an outcome that Python code gives, and encode it for the worker.

    Values of another type are coerced where only one reading is possible.

    Args:
        fields: fields of the wire format; outcome_id, timestamp and project are filled in when
            they are missing or None. The dict is changed in place.
        project: the project of an outcome that names none; None leaves it unsaid.
        max_bytes: the largest body that is allowed.
        say: takes the kind and the text of each remark on unknown fields, and on values that were
            coerced with a loss; by default each kind is logged once in this process.

    Returns:
        The outcome's id and its body.

    Raises:
        InvalidOutcome: it is not an outcome; the message repeats nothing of its content.
    """
    with_known_names(fields, say)
    # The time between two readings of a clock is a float: by far the most frequent coercion.
    if fields.get("duration_ms").__class__ is float:
        fields["duration_ms"] = as_count("duration_ms", fields["duration_ms"], say)
    strategy = fields.get("strategy")
    if (
        strategy is not None
        and strategy.__class__ is str
        and not any(map(str.isalnum, strategy))
        and strategy.strip()
    ):
        say("nameless strategy", "a strategy without a letter or a digit: nothing is learnt of it")
    _complete(fields, project)
    try:
        return _named(*_written(fields, max_bytes))
    except InvalidOutcome:
        if not _is_coerced(fields, say):
            raise
    return _named(*_written(fields, max_bytes))


def _is_coerced(fields: dict[str, Any], say: Say) -> bool:
    try:
        return coerce(fields, say)
    except Exception:  # noqa: BLE001 - the agent's own objects say here what they stand for
        return False


def build_wire_body(
    fields: dict[str, Any], *, project: str | None = None, max_bytes: int = MAX_BODY_BYTES
) -> tuple[str, bytes]:
    """Complete an outcome that is as the wire has it already, and write it.

    Args:
        fields: as for `build_body`.
        project: as for `build_body`.
        max_bytes: the largest body that is allowed.

    Returns:
        The outcome's id and its body.

    Raises:
        InvalidOutcome: it is not an outcome; the message repeats nothing of its content.
    """
    _complete(fields, project)
    return _named(*_written(fields, max_bytes))


def _complete(fields: dict[str, Any], project: str | None) -> None:
    given = fields.get
    if given("outcome_id") is None:
        fields["outcome_id"] = new_id()
    if given("timestamp") is None:
        fields["timestamp"] = time.time()
    if given("project") is None:
        if project is not None:
            fields["project"] = project
        elif "project" in fields:
            del fields["project"]


def _named(outcome: Outcome, body: bytes) -> tuple[str, bytes]:
    # As it travels: the caller may have given a UUID where the wire has text.
    if outcome.outcome_id is None:
        raise InvalidOutcome(_NOT_A_NUMBER.format("outcome_id"))
    return outcome.outcome_id, body


def _written(fields: dict[str, Any], max_bytes: int) -> tuple[Outcome, bytes]:
    try:
        body = encode_body(fields)
    except Exception as error:  # noqa: BLE001 - the agent's own objects write themselves here
        message = f"a field cannot be written as JSON ({type(error).__name__})"
        raise InvalidOutcome(message) from None
    outcome = decode_reported(body, max_bytes=max_bytes)
    if not _OTHER_IDS.isdisjoint(fields):
        for name in sorted(_OTHER_IDS):
            if getattr(outcome, name) is None and fields.get(name) is not None:
                raise InvalidOutcome(_NOT_A_NUMBER.format(name))
    return outcome, body
