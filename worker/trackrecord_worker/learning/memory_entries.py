"""Store the memories that arrive on the stream among outcomes."""

from collections.abc import Sequence

from sqlalchemy import Connection

from trackrecord.errors import InvalidMemory
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.write import remember
from trackrecord.wire.memory import MemoryBody, decode_memory

from .entries import (
    DecodedEntry,
    EntryKind,
    IntakeContext,
    IntakeResult,
    ReceivedEntry,
    by_project,
    without_forgotten,
    writing_entries,
)


def _decode(body: bytes, _entry: ReceivedEntry, context: IntakeContext) -> MemoryBody:
    return decode_memory(body, max_bytes=context.settings.max_body_bytes)


def _take_in(decoded: Sequence[DecodedEntry[MemoryBody]], context: IntakeContext) -> IntakeResult:
    """Store memories, in one transaction per project; refuse those that cannot be stored."""
    result = IntakeResult()
    for project, group in by_project(decoded):
        with writing_entries(context.engine, "memories") as connection:
            known = without_forgotten(connection, "memory", group, _id_of)
            if not known:
                continue
            project_id = ensure_projects(connection, [project])[project]
            for each in known:
                reason = _remember(connection, project_id, each, context.settings.memories)
                if reason is not None:
                    result.refused.append(each.entry.refused(reason))
        result.projects.add(project)
    return result


def _id_of(decoded: DecodedEntry[MemoryBody]) -> str:
    return decoded.report.memory_id or decoded.entry.default_id


def _remember(
    connection: Connection,
    project_id: int,
    decoded: DecodedEntry[MemoryBody],
    rules: MemoryRules,
) -> str | None:
    """Store one memory; return the reason if that cannot be done."""
    memory = decoded.report
    try:
        with connection.begin_nested():
            remember(
                connection,
                project_id,
                memory.text,
                memory_id=_id_of(decoded),
                rules=rules,
                now=decoded.entry.received_at,
                source=memory.source,
                force=memory.force,
            )
    except InvalidMemory as error:
        return str(error)
    return None


MEMORY = EntryKind("memory", _decode, _take_in)
