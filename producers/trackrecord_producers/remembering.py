"""What an agent calls to store a memory: fire and forget, like an outcome."""

from trackrecord.errors import InvalidMemory
from trackrecord.wire.memory import decode_memory
from trackrecord.wire.outcome import encode_body

from .cargo import Waiting
from .ids import new_id
from .publish import accept, count_fault


def remember(
    text: str, *, project: str | None = None, source: str | None = None, force: bool = False
) -> str | None:
    """Store a short fact, and go on: never raises, never waits.

    It goes the way of an outcome: a bounded queue, a background thread, Redis or the spool. The
    worker compares it with what the project knows: what is known already is not stored twice, and
    what contradicts an older memory supersedes it.

    Args:
        text: what worked, what to know, what to beware of.
        project: whose memory; the settings' project when not given.
        source: which agent says so.
        force: store it whatever it is similar to.

    Returns:
        The id that it will have if it is new, or None when it was dropped; `dropped` counts why.
    """
    try:
        memory_id = new_id()
        body = _body(memory_id, text, project, source, force=force)
    except Exception as error:  # noqa: BLE001 - nothing may reach the agent
        count_fault(error)
        return None
    item = Waiting(body, names_project=project is not None, kind="memory")
    return memory_id if accept(item) else None


def _body(
    memory_id: str, text: str, project: str | None, source: str | None, *, force: bool
) -> bytes:
    fields: dict[str, object] = {"memory_id": memory_id, "text": text, "force": force}
    if project is not None:
        fields["project"] = project
    if source is not None:
        fields["source"] = source
    try:
        body = encode_body(fields)
    except Exception as error:  # noqa: BLE001 - lone surrogates, or whatever text may be
        message = f"the memory cannot be written as JSON ({type(error).__name__})"
        raise InvalidMemory(message) from None
    decode_memory(body)
    return body
