"""The embeddings of tasks at prompt time: requested once, cached in Redis, with short waits.

An endpoint that does not answer in time is not given up: its answer is kept for the next prompt.
Until then the task is compared by words.

In Redis a project has so many places, and a task's vector takes the place of whichever was there:
that bounds it without bookkeeping.
"""

import logging
import threading
import time
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

import redis

from trackrecord.embeddings.client import embed
from trackrecord.embeddings.endpoint import EmbeddingEndpoint
from trackrecord.embeddings.packed import pack
from trackrecord.errors import EndpointAway
from trackrecord.redis.keys import Keys

_log = logging.getLogger("trackrecord")

_PLACES: Final = 512
_KEPT_S: Final = 7 * 86_400
_DIGEST_BYTES: Final = 16
_MOST_WAITING: Final = 4


@dataclass
class _Request:
    """A task whose vector is on its way."""

    done: threading.Event = field(default_factory=threading.Event)
    vector: bytes | None = None


class TaskVectors:
    """The vectors of tasks, for one process.

    Args:
        endpoint: where vectors come from.
        client: a Redis client for agents.
        keys: the names of the Redis keys.
    """

    def __init__(self, endpoint: EmbeddingEndpoint, client: redis.Redis, keys: Keys) -> None:
        self._endpoint = endpoint
        self._client = client
        self._keys = keys
        self._lock = threading.Lock()
        self._waiting: dict[bytes, _Request] = {}
        self._ask_again_at = 0.0
        self._is_away = False

    def vector(self, project: str, task: str) -> bytes | None:
        """Return the packed vector of a task; None if it does not come in time.

        Raises:
            redis.RedisError: Redis is away.
        """
        digest = _digest_of(self._endpoint.model, task)
        place = str(int.from_bytes(digest[:4], "little") % _PLACES)
        kept: Any = self._client.hget(self._keys.task_vectors(project), place)
        if kept is not None and kept.startswith(digest):
            return bytes(kept[len(digest) :])
        request = self._request(project, task, digest, place)
        if request is None or not request.done.wait(self._endpoint.prompt_timeout_s):
            return None
        return request.vector

    def _request(self, project: str, task: str, digest: bytes, place: str) -> _Request | None:
        """Return the request for a vector, started if necessary; None if none may be made now."""
        with self._lock:
            request = self._waiting.get(digest)
            if request is not None:
                return request
            if time.monotonic() < self._ask_again_at or len(self._waiting) >= _MOST_WAITING:
                return None
            request = self._waiting[digest] = _Request()
        thread = threading.Thread(
            target=self._ask,
            args=(request, project, task, digest, place),
            name="trackrecord-embedding",
            daemon=True,
        )
        try:
            thread.start()
        except RuntimeError:  # the interpreter is ending
            with self._lock:
                self._waiting.pop(digest, None)
            return None
        return request

    def _ask(self, request: _Request, project: str, task: str, digest: bytes, place: str) -> None:
        try:
            (vector,) = embed(self._endpoint, [task])
            request.vector = pack(vector)
            self._note(None)
            self._keep(project, place, digest + request.vector)
        except EndpointAway as error:
            self._note(error)
        except (redis.RedisError, OSError):
            # What cannot be kept is asked for again.
            pass
        finally:
            request.done.set()
            with self._lock:
                self._waiting.pop(digest, None)

    def _keep(self, project: str, place: str, value: bytes) -> None:
        key = self._keys.task_vectors(project)
        with self._client.pipeline(transaction=False) as pipe:
            pipe.hset(key, place, value)
            pipe.expire(key, _KEPT_S)
            pipe.execute()

    def _note(self, error: EndpointAway | None) -> None:
        """Log once that the endpoint is away, and leave it alone for a while."""
        was_away, self._is_away = self._is_away, error is not None
        if error is not None:
            self._ask_again_at = time.monotonic() + self._endpoint.retry_after_s
            if not was_away:
                _log.warning(
                    "the embedding endpoint is away (%s): tasks are compared by words", error
                )


def _digest_of(model: str, task: str) -> bytes:
    text = f"{len(model)}:{model}{task}".encode(errors="replace")
    return blake2b(text, digest_size=_DIGEST_BYTES).digest()
