"""The publishing functions for agents: one publisher per process, made on first use."""

from collections.abc import Callable
from typing import Any, Unpack

from trackrecord.wire.kinds import Kind, decoder_of
from trackrecord.wire.outcome import encode_body

from ..bodies.body import build_body
from ..bodies.outcome_fields import OutcomeFields
from ..delivery.diversion import current_diversion
from ..delivery.stats import Stats
from ..delivery.stream_and_spool_format import spool_line
from ..delivery.waiting import WaitingItem
from .publisher import Publisher

_publisher = Publisher()


def publish(*, task_id: str, success: bool | None, **fields: Unpack[OutcomeFields]) -> str | None:
    """Report how a task went, and go on: never raises, never waits.

    The outcome is checked and put into a bounded queue; a background thread brings it to Redis, or
    to a spool on disk while Redis is away. A child process made by fork publishes on its own.

    Args:
        task_id: the task or subtask.
        success: whether it reached its goal; None where nobody knows it (yet).
        **fields: any other field of the wire format, see `OutcomeFields`. `outcome_id`,
            `timestamp` and `project` are filled in when they are missing. A value of another type
            is coerced where only one reading is possible: a whole float, a single text for a list
            of them, a number for an id. A field that the wire format does not have is recorded,
            and a line in the log of "trackrecord" says which one may have been meant.

    Returns:
        The outcome's id, or None when it was dropped; `dropped` counts why, and a line in the log
        of "trackrecord" says what to do.
    """
    outcome: Any = fields
    outcome["task_id"] = task_id
    outcome["success"] = success
    return (current_diversion() or _publisher).publish(outcome)


def publish_fields(fields: dict[str, Any], *, adopts_since: float | None = None) -> str | None:
    """Publish fields that are in a dict already, which is changed in place.

    Args:
        fields: fields of the wire format.
        adopts_since: for an attempt's outcome, when the attempt began, on the monotonic clock.
    """
    diversion = current_diversion()
    if diversion is not None:
        return diversion.publish(fields)
    return _publisher.publish(fields, adopts_since=adopts_since)


def accept(item: WaitingItem) -> bool:
    """Publish an item that is encoded already; return False if it was dropped."""
    return (current_diversion() or _publisher).accept(item)


def publish_report(kind: Kind, encode: Callable[[], bytes], *, names_project: bool = True) -> bool:
    """Publish a report other than an outcome: never raises, never waits.

    Args:
        kind: its kind.
        encode: returns its body, which is checked as the worker will.
        names_project: whether the body says which project it belongs to.

    Returns:
        Whether it was accepted; `dropped` counts why if not.
    """
    try:
        body = encode()
        decoder_of(kind)(body)
    except Exception as error:  # noqa: BLE001 - nothing may reach the agent
        (current_diversion() or _publisher).count_fault(error)
        return False
    return accept(WaitingItem(body, names_project=names_project, kind=kind))


def encoded_fields(fields: dict[str, Any], *, what: str, refusal: type[Exception]) -> bytes:
    """Return the fields of a report that were given as JSON.

    Args:
        fields: by name; None for what was not given.
        what: what messages call the report.
        refusal: what is raised if a value cannot be written.
    """
    try:
        return encode_body({name: each for name, each in fields.items() if each is not None})
    except Exception as error:  # noqa: BLE001 - lone surrogates, or whatever text may be
        message = f"the {what} cannot be written as JSON ({type(error).__name__})"
        raise refusal(message) from None


def flush(timeout: float = 2.0) -> bool:
    """Wait until all earlier outcomes are with Redis or in the spool, or were dropped.

    Args:
        timeout: seconds to wait at most.

    Returns:
        Whether all of it is with Redis or in the spool: False when the time was too short, and when
        anything was dropped since the last call that waited to the end; `dropped` says why.
    """
    return current_diversion() is not None or _publisher.flush(timeout)


def spool(*, task_id: str, success: bool | None, **fields: Unpack[OutcomeFields]) -> str | None:
    """Write an outcome to the spool at once, for a process that ends right after, such as a hook.

    Touches no network and starts no thread; never raises. A worker, or any agent that gets through
    to Redis, forwards it. Takes the time of reading the settings and of one write.

    Args:
        task_id: the task or subtask.
        success: whether it reached its goal; None where nobody knows it (yet).
        **fields: as for `publish`.

    Returns:
        The outcome's id, or None when it was dropped; `dropped` counts why.
    """
    outcome: Any = fields
    outcome["task_id"] = task_id
    outcome["success"] = success
    diversion = current_diversion()
    if diversion is not None:
        return diversion.publish(outcome)
    try:
        return _spool(outcome)
    except Exception as error:  # noqa: BLE001 - nothing may reach the agent
        _publisher.count_fault(error)
    return None


def _spool(fields: dict[str, Any]) -> str | None:
    # Takes a tenth of a second to import, and only this way of publishing needs it at once.
    from trackrecord.settings.agent_settings import load_agent_settings
    from trackrecord.wire.redacted_body import redacted_body

    from ..spool.files import SpoolWriter

    settings = load_agent_settings()
    outcome_id, body = build_body(
        fields, project=settings.project, max_bytes=settings.max_body_bytes
    )
    writer = SpoolWriter(settings.spool_dir, settings.spool_max_bytes)
    try:
        appended = writer.append([spool_line("outcome", redacted_body(body), is_safe=True)])
    finally:
        writer.close()
    _publisher.drops.count("spool_full", appended.too_many)
    _publisher.drops.count("spool_error", appended.failed, detail=appended.problem)
    return outcome_id if appended.written else None


def dropped() -> dict[str, int]:
    """Return how many outcomes this process lost, for each reason that occurred."""
    return stats().dropped


def stats() -> Stats:
    """Return the counts of publishing in this process, such as accepted and dropped."""
    return (current_diversion() or _publisher).stats()
