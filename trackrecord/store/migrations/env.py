"""The connection of Alembic: the one that holds the lock of migrate().

A store without tables gets those of the metadata and the newest revision; the revisions are for
stores that an earlier version made.

A table `memories` of before any revision: set aside, and its rows taken over into a new store.

Its columns may be any; those that are known by name are read.
"""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from alembic import context
from sqlalchemy import Connection, MetaData, Table, insert, inspect, select, text

from trackrecord.errors import StoreUnfit

# Imported for the indexes that each of them adds to the metadata.
from trackrecord.store.competences import partial_indexes as _of_competences  # noqa: F401 - as said above
from trackrecord.store.database.engine import dialect_of
from trackrecord.store.database.migrate import store_versions
from trackrecord.store.intake.every_table import metadata
from trackrecord.store.memories import partial_indexes as _of_memories  # noqa: F401 - as said above
from trackrecord.store.memories.tables import memories, memory_changes
from trackrecord.store.outcomes import partial_indexes as _of_outcomes  # noqa: F401 - as said above
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.outcomes.tables import projects

_OLD: Final = "memories_before"


@contextmanager
def earlier_memories(connection: Connection) -> Iterator[None]:
    """Take an earlier table's memories over into the tables that the block makes.

    They are of type memory, without a source unless they have one; their trigrams and words are
    marked when the project is next asked for memories.
    """
    if not inspect(connection).has_table(memories.name):
        yield
        return
    connection.execute(text(f"ALTER TABLE {memories.name} RENAME TO {_OLD}"))
    yield
    old = Table(_OLD, MetaData(), autoload_with=connection)
    now = time.time()
    for number, row in enumerate(connection.execute(select(old)).mappings().all(), start=1):
        content = str(row.get("text") or row.get("content") or "").strip()
        if not content:
            continue
        created_at, confidence = row.get("created_at"), row.get("confidence")
        at = float(created_at) if isinstance(created_at, int | float) else now
        given = str(row.get("memory_id") or row.get("id") or "")
        standing = {
            "type": "memory",
            "confidence": 0.5 if confidence is None else min(1.0, max(0.01, float(confidence))),
        }
        connection.execute(
            insert(memories).values(
                id=number,
                project_id=_project_of(connection, str(row.get("project") or "default")[:128]),
                memory_id=given if 0 < len(given) <= 128 else uuid.uuid4().hex,
                text=content,
                created_at=at,
                changes=1,
                changed_at=at,
                standing=0,
                size_class=0,
                **standing,
            )
        )
        connection.execute(
            insert(memory_changes).values(
                memory=number, number=1, at=at, action="stored", **standing
            )
        )
    dialect_of(connection).continue_numbering(connection, memories)
    old.drop(connection)


def _project_of(connection: Connection, name: str) -> int:
    found = project_id_of(connection, name)
    if found is None:
        row = insert(projects).values(name=name, revision=0, outcomes=0, successes=0)
        found = connection.execute(row.returning(projects.c.id)).scalar_one()
    return found


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    render_as_batch=True,
    # migrate() commits.
    transactional_ddl=False,
)
migration = context.get_context()
if migration.get_current_revision() is None:
    with earlier_memories(connection):
        if taken := {*metadata.tables} & {*inspect(connection).get_table_names()}:
            message = (
                f"the database has a table {min(taken)!r} of another program: name another "
                "database with TRACKRECORD_DATABASE_URL"
            )
            raise StoreUnfit(message)
        metadata.create_all(connection, checkfirst=False)
    store_versions.create(connection)
    migration.stamp(context.script, "head")
else:
    context.run_migrations()
dialect_of(connection).make_extras(connection)
