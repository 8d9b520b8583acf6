"""The function for agents to store a memory: fire and forget, like an outcome."""

from trackrecord.errors import InvalidMemory
from trackrecord.learning.memories.rules import MAX_TEXT_CHARS
from trackrecord.wire.memory import checked_text, decode_memory

from ..bodies.written_body import written
from ..delivery.ids import new_id
from ..delivery.waiting import WaitingItem
from .publish import accept, count_fault


def remember(
    text: str, *, project: str | None = None, source: str | None = None, force: bool = False
) -> str | None:
    """Store a short fact, and go on: never raises, never waits.

    It goes the way of an outcome: a bounded queue, a background thread, Redis or the spool. The
    worker compares it with what the project knows: a known fact is not stored twice, and a fact
    that contradicts an older memory supersedes it.

    Args:
        text: what worked, what to know, what to beware of; at most 2000 characters.
        project: the memory's project; the settings' project when not given.
        source: the name of the reporting agent.
        force: store it even if a similar memory exists.

    Returns:
        The id that it will have if it is new, or None when it was dropped; `dropped` counts why.
    """
    try:
        memory_id = new_id()
        body = _body(memory_id, text, project, source, force=force)
    except Exception as error:  # noqa: BLE001 - nothing may reach the agent
        count_fault(error)
        return None
    item = WaitingItem(body, names_project=project is not None, kind="memory")
    return memory_id if accept(item) else None


def _body(
    memory_id: str, text: str, project: str | None, source: str | None, *, force: bool
) -> bytes:
    fields: dict[str, object] = {"memory_id": memory_id, "text": text, "force": force}
    if project is not None:
        fields["project"] = project
    if source is not None:
        fields["source"] = source
    body = written(fields, what="memory", refusal=InvalidMemory)
    memory = decode_memory(body)
    checked_text(memory.text, max_chars=MAX_TEXT_CHARS)
    return body
