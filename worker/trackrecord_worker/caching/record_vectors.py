"""Write the vectors of competence records next to the cached rankings, where agents compare them.

They are made of what the rankings say, so they need no database: with SQLite, too, a prompt is
fitted to a task by its meaning.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import msgspec
import redis
import structlog

from trackrecord.embeddings.client import embed
from trackrecord.embeddings.packed import (
    DIGEST_BYTES,
    PackedVectors,
    decode_vectors,
    packed_vectors,
)
from trackrecord.embeddings.packed import pack as pack_vector
from trackrecord.errors import EndpointAway
from trackrecord.learning.competences.phrases import embedded_text
from trackrecord.prompt.documents.rankings_document import RankedCompetence, decode_document
from trackrecord.prompt.reading.cache import (
    complete_vectors,
    confirm_vectors,
    read_document,
    read_vectors,
    write_vectors,
)
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.competences.selection.selection_index import digest_of_text

# An agent holds them in its memory: the best records have vectors, as far as this goes.
_MOST_BYTES: Final = 8 * 1024 * 1024
# One task counts for so long, and leaves the rest to the next one.
_SLICE_S: Final = 2.0

_log = structlog.get_logger(__name__)


class RecordVectors:
    """Embed the competence records of the cached rankings.

    Args:
        client: a patient Redis client.
        settings: the endpoint, and where the cache is.
    """

    def __init__(self, client: redis.Redis, settings: DaemonSettings) -> None:
        self._client = client
        self._settings = settings
        self._endpoint = settings.embeddings
        self._ask_again_at = 0.0
        self._is_away = False

    def renew(self, projects: Sequence[str]) -> int:
        """Embed missing texts, project by project; return how many texts were embedded.

        While the endpoint is away, tasks are compared by words.
        """
        if self._endpoint.url is None or time.monotonic() < self._ask_again_at:
            return 0
        embedded, until = 0, time.monotonic() + _SLICE_S
        try:
            for project in projects:
                if time.monotonic() > until:
                    break
                if not complete_vectors(self._client, self._settings, project):
                    embedded += self._renew_project(project, until)
        except EndpointAway as error:
            self._note_away(error)
        return embedded

    def _renew_project(self, project: str, until: float) -> int:
        stamp, data = read_document(self._client, self._settings, project)
        if data is None or stamp is None:
            return 0
        try:
            texts = {each.id: _text_of(each) for each in decode_document(data).competences}
        except (msgspec.DecodeError, KeyError):  # another version's rankings are computed anew
            return 0
        found = self._found(project)
        known = dict(found.by_digest)
        missing = [text for text in dict.fromkeys(texts.values()) if _digest(text) not in known]
        embedded = 0
        while missing and not self._is_full(known) and time.monotonic() <= until:
            batch, missing = (
                missing[: self._endpoint.batch_size],
                missing[self._endpoint.batch_size :],
            )
            made = embed(self._endpoint, batch)
            self._is_away = False
            known |= {
                _digest(text): pack_vector(each) for text, each in zip(batch, made, strict=True)
            }
            embedded += len(batch)
        is_complete = not missing or self._is_full(known)
        vectors = self._together(texts, known)
        of = stamp if is_complete else b""
        if vectors == found:
            confirm_vectors(self._client, self._settings, project, of=of)
        else:
            write_vectors(self._client, self._settings, project, vectors, of=of)
        return embedded

    def _found(self, project: str) -> PackedVectors:
        """Return the vectors that exist already; those of another model do not count."""
        _, data = read_vectors(self._client, self._settings, project)
        with suppress(msgspec.DecodeError):  # another version's are made anew
            found = PackedVectors(model="") if data is None else decode_vectors(data)
            if found.model == self._endpoint.model:
                return found
        return PackedVectors(model="")

    def _together(self, texts: dict[str, str], known: dict[bytes, bytes]) -> PackedVectors:
        entries, size = [], 0
        for name, text in texts.items():
            vector = known.get(_digest(text), b"")
            size += len(vector)
            if vector and size <= _MOST_BYTES:
                entries.append((name, _digest(text), vector))
        return packed_vectors(self._endpoint.model, entries)

    @staticmethod
    def _is_full(known: dict[bytes, bytes]) -> bool:
        return sum(map(len, known.values())) >= _MOST_BYTES

    def _note_away(self, error: EndpointAway) -> None:
        self._ask_again_at = time.monotonic() + self._endpoint.retry_after_s
        if not self._is_away:
            self._is_away = True
            _log.warning("embedding_endpoint_away", reason=str(error), compared_by="words")


def _text_of(record: RankedCompetence) -> str:
    return embedded_text(
        record.triggers, record.signature, (each["tool"] for each in record.recipe)
    )


def _digest(text: str) -> bytes:
    return digest_of_text(text)[:DIGEST_BYTES]
