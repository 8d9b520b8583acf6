"""The embedder: keeps the vectors of records, and compares a task's text with them.

If something is missing (an endpoint, PostgreSQL, pgvector), one log line says so, and tasks are
compared by their words.
"""

import time
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.sql.elements import ColumnElement

from trackrecord.errors import EndpointAway, NoVectors, WrongDimension
from trackrecord.learning.competences.phrases import text_of
from trackrecord.process.late_log import LateLog
from trackrecord.store.competences.read import read_named
from trackrecord.store.competences.selection.vectors import (
    applicability_of,
    drop_unused,
    is_stored,
    make_room,
    store_vectors,
    stored_dimensions,
    without_vector,
)
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.outcomes.projects import project_id_of, project_names

from .client import Vector, embed
from .endpoint import EmbeddingEndpoint

_log = LateLog(__name__)


class Embedder:
    """Embeds texts with one endpoint and stores their vectors in one database.

    Args:
        engine: the store.
        endpoint: where vectors come from.
    """

    def __init__(self, engine: Engine, endpoint: EmbeddingEndpoint) -> None:
        self._engine = engine
        self._endpoint = endpoint
        self._has_room = False
        self._is_away = False
        self._ask_again_at = 0.0

    def applicability(self, project_id: int, task: str, *, now: float) -> ColumnElement[Any] | None:
        """Return an expression that compares a task with a project's records; None to use words.

        Records without a vector are embedded on the way, as far as one request goes.

        Raises:
            WrongDimension: the endpoint's vectors are not as long as they must be.
        """
        if not self._is_usable():
            return None
        model = self._endpoint.model
        with writing(self._engine) as connection:
            known = is_stored(connection, model, self._endpoint.dimensions, task, now=now)
        texts = [] if known else [task]
        try:
            texts += self._missing(project_id, self._endpoint.batch_size - len(texts))
            self._embed(texts, now)
        except EndpointAway as error:
            self._note_away(error)
            if not known:
                return None
        return applicability_of(model, task)

    def embed_project(self, project_id: int, *, now: float) -> int:
        """Embed the texts of a project's records that have no vector; return how many.

        Raises:
            WrongDimension: as above.
        """
        embedded = 0
        if not self._is_usable():
            return embedded
        try:
            while texts := self._missing(project_id, self._endpoint.batch_size):
                self._embed(texts, now)
                embedded += len(texts)
        except EndpointAway as error:
            self._note_away(error)
        return embedded

    def tidy(self, *, now: float) -> None:
        """Delete the vectors of texts that are no longer used."""
        if self._has_room:
            with writing(self._engine) as connection:
                drop_unused(connection, now=now)

    def _is_usable(self) -> bool:
        if self._endpoint.url is None or time.monotonic() < self._ask_again_at:
            return False
        if not self._has_room:
            try:
                make_room(self._engine)
            except NoVectors as error:
                # Not tried again before the next start: none of this changes by itself.
                self._ask_again_at = float("inf")
                _log.warning("compared_by_words", reason=str(error))
                return False
            self._has_room = True
        return True

    def _missing(self, project_id: int, limit: int) -> list[str]:
        with reading(self._engine) as connection:
            ids = without_vector(
                connection,
                project_id,
                self._endpoint.model,
                self._endpoint.dimensions,
                limit=limit,
            )
            records = read_named(connection, project_id, ids)
        return list(dict.fromkeys(map(text_of, records.values())))

    def _embed(self, texts: list[str], now: float) -> None:
        if not texts:
            return
        vectors = embed(self._endpoint, texts)
        self._is_away = False
        model = self._endpoint.model
        with writing(self._engine) as connection:
            wanted = self._endpoint.dimensions or stored_dimensions(connection, model)
            _require_dimensions(vectors, wanted or len(vectors[0]))
            by_text = dict(zip(texts, vectors, strict=True))
            store_vectors(connection, model, by_text, now=now)

    def _note_away(self, error: EndpointAway) -> None:
        self._ask_again_at = time.monotonic() + self._endpoint.retry_after_s
        if not self._is_away:
            self._is_away = True
            _log.warning("embedding_endpoint_away", reason=str(error), compared_by="words")


def _require_dimensions(vectors: list[Vector], wanted: int) -> None:
    for vector in vectors:
        if len(vector) != wanted:
            message = (
                f"the embedding endpoint returned {len(vector)} dimensions, not {wanted}: "
                "check TRACKRECORD_EMBEDDINGS__MODEL and TRACKRECORD_EMBEDDINGS__DIMENSIONS"
            )
            raise WrongDimension(message)


def embed_everything(engine: Engine, endpoint: EmbeddingEndpoint, *, now: float) -> None:
    """Embed the missing texts of all projects' records; log any problem."""
    if endpoint.url is None:
        return
    embedder = Embedder(engine, endpoint)
    with reading(engine) as connection:
        rows = [project_id_of(connection, name) for name in project_names(connection)]
    try:
        for project_id in rows:
            if project_id is not None:
                embedder.embed_project(project_id, now=now)
        embedder.tidy(now=now)
    except WrongDimension as error:
        _log.error("embedding_refused", reason=str(error))
