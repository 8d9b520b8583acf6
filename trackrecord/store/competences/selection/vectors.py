"""Vectors: embeddings in PostgreSQL with pgvector, kept by model and content.

The table is made when it is first needed, where the database allows it: it is a cache, and a
database without it has everything else.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, and_, column, exists, func, literal, select, table, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.elements import ColumnElement

from trackrecord.errors import NoVectors, StoreUnfit
from trackrecord.learning.numbers.decay import DAY

from ...database.engine import dialect_of, reading, writing
from ...database.leases import advisory_lock
from ..tables import competence_numbers
from .selection_index import digest_of_text

# Any number that no one else uses for an advisory lock in the same database.
_LOCK_KEY = 0x7472_6163_6B76
_UNUSED_DAYS = 30.0

_vectors = table(
    "text_vectors", column("model"), column("digest"), column("embedding"), column("used_at")
)


def make_room(engine: Engine) -> None:
    """Make the table of vectors unless it is there.

    Raises:
        NoVectors: it is not PostgreSQL, or pgvector is not there and may not be made.
    """
    vectors = dialect_of(engine).vectors
    if vectors is None:
        message = "the database is not PostgreSQL"
        raise NoVectors(message)
    with reading(engine) as connection:
        if connection.execute(text("SELECT to_regclass('text_vectors')")).scalar() is not None:
            return
    try:
        with writing(engine) as connection:
            advisory_lock(connection, _LOCK_KEY)
            for statement in vectors.statements:
                connection.exec_driver_sql(statement)
    except DBAPIError as error:
        reason = str(error.orig).strip().splitlines()[0]
        message = (
            f"pgvector is not available ({reason}): install the extension, "
            "or unset TRACKRECORD_EMBEDDINGS__URL"
        )
        raise NoVectors(message) from error
    except StoreUnfit as error:
        message = f"pgvector is not available: {error}"
        raise NoVectors(message) from error


def stored_dimensions(connection: Connection, model: str) -> int | None:
    """Return the length of a model's stored vectors; None without any."""
    query = text("SELECT vector_dims(embedding) FROM text_vectors WHERE model = :model LIMIT 1")
    return connection.execute(query, {"model": model}).scalar()


def is_stored(
    connection: Connection, model: str, dimensions: int | None, some_text: str, *, now: float
) -> bool:
    """Return whether a text's vector is stored, of that length if given; note its use."""
    used = text(
        "UPDATE text_vectors SET used_at = :now WHERE model = :model AND digest = :digest "
        "AND (CAST(:long AS integer) IS NULL OR vector_dims(embedding) = :long)"
    )
    values = {
        "now": now,
        "model": model,
        "digest": digest_of_text(some_text),
        "long": dimensions,
    }
    return connection.execute(used, values).rowcount == 1


def store_vectors(
    connection: Connection, model: str, vectors: Mapping[str, Sequence[float]], *, now: float
) -> None:
    """Store vectors by their texts, replacing earlier ones."""
    statement = text(
        "INSERT INTO text_vectors VALUES (:model, :digest, CAST(:vector AS vector), :now) "
        "ON CONFLICT (model, digest) DO UPDATE "
        "SET embedding = excluded.embedding, used_at = excluded.used_at"
    )
    by_digest = {digest_of_text(each): _literal(vector) for each, vector in vectors.items()}
    # In one order, so that two who store the same ones cannot wait for each other in a circle.
    connection.execute(
        statement,
        [
            {"model": model, "digest": digest, "vector": vector, "now": now}
            for digest, vector in sorted(by_digest.items())
        ],
    )


def without_vector(
    connection: Connection, project_id: int, model: str, dimensions: int | None, *, limit: int
) -> list[str]:
    """Return selectable records whose text lacks a vector, of that length if given."""
    numbers = competence_numbers.c
    of_model = and_(_vectors.c.model == model, _vectors.c.digest == numbers.text_digest)
    if dimensions is not None:
        of_model = and_(of_model, func.vector_dims(_vectors.c.embedding) == dimensions)
    query = (
        select(numbers.competence_id)
        .where(
            numbers.project_id == project_id,
            numbers.is_selectable,
            ~exists().where(of_model),
        )
        .order_by(numbers.competence_id)
        .limit(limit)
    )
    return list(connection.execute(query).scalars())


def applicability_of(model: str, task: str) -> ColumnElement[Any]:
    """(cosine + 1)/2 of a stored task's text and each record of `competence_numbers`.

    NULL where a record has no vector, or one that cannot be compared with the task's.
    """
    theirs = _vectors.alias("theirs")
    asked = (
        select(_vectors.c.embedding)
        .where(_vectors.c.model == model, _vectors.c.digest == digest_of_text(task))
        .scalar_subquery()
    )
    cosine = 1.0 - theirs.c.embedding.op("<=>")(asked)
    comparable = and_(
        theirs.c.model == model,
        theirs.c.digest == competence_numbers.c.text_digest,
        func.vector_dims(theirs.c.embedding) == func.vector_dims(asked),
        # A vector of nothing but zeros has no direction.
        func.vector_norm(theirs.c.embedding) > 0,
        func.vector_norm(asked) > 0,
    )
    fit = func.greatest(literal(0.0), func.least(literal(1.0), (cosine + 1.0) / 2.0))
    return select(fit).where(comparable).correlate(competence_numbers).scalar_subquery()


def drop_unused(connection: Connection, *, now: float) -> None:
    """Remove vectors of texts without a record and without a request in a month."""
    connection.execute(
        text(
            "DELETE FROM text_vectors v WHERE used_at < :before AND NOT EXISTS "
            "(SELECT 1 FROM competence_numbers n WHERE n.text_digest = v.digest)"
        ),
        {"before": now - _UNUSED_DAYS * DAY},
    )


def _literal(vector: Sequence[float]) -> str:
    return "[" + ",".join(map(repr, vector)) + "]"
