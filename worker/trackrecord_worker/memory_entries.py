"""Store the memories that arrive on the stream among outcomes."""

from collections.abc import Sequence
from itertools import groupby

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from trackrecord.errors import InvalidMemory, StoreUnavailable
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.write import remember
from trackrecord.store.outcomes.forgotten import forgotten_among, share_projects

from .stream_entries import ArrivedMemory, RefusedEntry


def remember_arrived(
    engine: Engine, arrived: Sequence[ArrivedMemory], rules: MemoryRules
) -> tuple[set[str], list[RefusedEntry]]:
    """Store memories, in one transaction per project.

    A memory that comes again is recognised by its id and changes nothing.

    Returns:
        The projects, and the entries that cannot be stored.

    Raises:
        StoreUnavailable: the database is away, or refuses what nothing is wrong with; all of it
            stays pending, and what is stored already is recognised.
    """
    projects = set()
    refused: list[RefusedEntry] = []
    by_project = sorted(arrived, key=lambda each: each.memory.project)
    for project, group in groupby(by_project, key=lambda each: each.memory.project):
        try:
            with writing(engine) as connection:
                known = _not_forgotten(connection, project, list(group))
                if not known:
                    continue
                project_id = ensure_projects(connection, [project])[project]
                for each in known:
                    refused += _remember(connection, project_id, each, rules)
        except SQLAlchemyError as error:
            message = f"the database refuses memories ({type(error).__name__})"
            raise StoreUnavailable(message) from error
        projects.add(project)
    return projects, refused


def _not_forgotten(
    connection: Connection, project: str, arrived: Sequence[ArrivedMemory]
) -> list[ArrivedMemory]:
    """Leave out memories that a person has forgotten."""
    share_projects(connection, [project])
    forgotten = forgotten_among(connection, "memory", {(project, _id_of(each)) for each in arrived})
    return [each for each in arrived if (project, _id_of(each)) not in forgotten]


def _id_of(arrived: ArrivedMemory) -> str:
    # The same whenever the entry is delivered again.
    return arrived.memory.memory_id or f"stream:{arrived.entry_id.decode()}"


def _remember(
    connection: Connection, project_id: int, arrived: ArrivedMemory, rules: MemoryRules
) -> list[RefusedEntry]:
    memory = arrived.memory
    try:
        with connection.begin_nested():
            remember(
                connection,
                project_id,
                memory.text,
                memory_id=_id_of(arrived),
                rules=rules,
                now=arrived.received_at,
                source=memory.source,
                force=memory.force,
            )
    except InvalidMemory as error:
        return [RefusedEntry(arrived.entry_id, arrived.fields, str(error))]
    return []
