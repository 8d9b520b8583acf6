"""The function for agents to store a memory: fire and forget, like an outcome."""

import os
import sys
from functools import lru_cache
from typing import Final

from trackrecord.errors import InvalidMemory, SettingsError
from trackrecord.forking import not_while_forking
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.wire.memory import checked_text, decode_memory

from ..bodies.written_body import written
from ..delivery.diversion import current_diversion
from ..delivery.ids import new_id
from ..delivery.waiting import WaitingItem
from .publish import accept, count_fault

_USUAL_MAX_CHARS: Final = MemoryRules().max_text_chars


def remember(
    text: str, *, project: str | None = None, source: str | None = None, force: bool = False
) -> str | None:
    """Store a short fact, and go on: never raises, never waits.

    It goes the way of an outcome: a bounded queue, a background thread, Redis or the spool. The
    worker compares it with what the project knows: a known fact is not stored twice, and a fact
    that contradicts an older memory supersedes it.

    Args:
        text: what worked, what to know, what to beware of; at most 2000 characters, or as many as
            the setting `memories.max_text_chars` says.
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
    checked_text(memory.text, max_chars=_max_chars(memory.text))
    return body


def _max_chars(text: str) -> int:
    """Return how long a memory may be, as the worker will see it."""
    if current_diversion() is not None:
        return _USUAL_MAX_CHARS
    # Reading the settings takes milliseconds once, which is nobody's business before the
    # writing thread has done it, unless the answer depends on it.
    if len(text) <= _USUAL_MAX_CHARS and not _settings_are_there():
        return _USUAL_MAX_CHARS
    return _max_chars_set(os.getpid())


def _settings_are_there() -> bool:
    # Looked up without importing: another thread may be in the middle of it.
    return hasattr(sys.modules.get("trackrecord.agent_settings"), "load_agent_settings")


@lru_cache(maxsize=1)
def _max_chars_set(_pid: int) -> int:
    try:
        with not_while_forking():
            from trackrecord.agent_settings import load_agent_settings

            return load_agent_settings().memories.max_text_chars
    except SettingsError:  # the writing thread refuses all, and says why
        return _USUAL_MAX_CHARS
