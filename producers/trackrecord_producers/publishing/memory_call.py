"""The function for agents to store a memory: fire and forget, like an outcome."""

from trackrecord.errors import InvalidMemory

from ..delivery.ids import new_id
from .publish import encoded_fields, publish_report


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
    memory_id = new_id()

    def body() -> bytes:
        fields = {
            "memory_id": memory_id, "text": text, "force": force, "project": project,
            "source": source,
        }  # fmt: skip
        return encoded_fields(fields, what="memory", refusal=InvalidMemory)

    is_accepted = publish_report("memory", body, names_project=project is not None)
    return memory_id if is_accepted else None
