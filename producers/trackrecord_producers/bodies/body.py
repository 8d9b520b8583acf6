"""Build the encoded body of an outcome: complete the fields, write JSON, check it."""

import time
from collections.abc import Callable
from typing import Any, Final

from trackrecord.errors import InvalidOutcome
from trackrecord.wire.outcome import MAX_BODY_BYTES, Outcome, decode_reported, encode_body

from ..delivery.ids import new_id
from .coercion import coerce, with_known_names
from .remarks import remark
from .scalars import as_count

# NaN and Infinity travel as null, as if no id were given.
_NOT_A_NUMBER: Final = "{} must be a text: NaN and Infinity are no ids"
_OTHER_IDS: Final = frozenset(("competence_id", "bead_id"))

Say = Callable[[str, str], None]


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
