"""The client of an embedding endpoint: texts in, vectors out, in batches and within a time.

Plain HTTP of the standard library: one request after the other, no redirects, so that the key goes
nowhere else.
"""

import http.client
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec

from trackrecord.errors import EndpointAway

from .endpoint import Endpoint

Vector = tuple[float, ...]

_PATH = "/embeddings"
_OK = 200
_PART = 65_536
# 2048 vectors of 16,000 numbers would be more, and no endpoint answers so.
_MOST_BYTES = 256 * 1024 * 1024


class _Item(msgspec.Struct):
    embedding: Vector
    index: int = 0


class _Answer(msgspec.Struct):
    data: list[_Item]


_answer = msgspec.json.Decoder(_Answer)


def embed(endpoint: Endpoint, texts: Sequence[str]) -> list[Vector]:
    """The vectors of texts, in their order; as many requests as there are batches.

    Raises:
        EndpointAway: one of the requests failed.
    """
    vectors: list[Vector] = []
    for start in range(0, len(texts), endpoint.batch_size):
        vectors += _embed_batch(endpoint, texts[start : start + endpoint.batch_size])
    return vectors


def _embed_batch(endpoint: Endpoint, texts: Sequence[str]) -> list[Vector]:
    body = msgspec.json.encode(
        {"model": endpoint.model, "input": list(texts), "encoding_format": "float"}
    )
    try:
        answer = _answer.decode(_post(endpoint, body))
    except (OSError, http.client.HTTPException) as error:
        message = str(error) or type(error).__name__
        raise EndpointAway(message) from error
    except (msgspec.MsgspecError, UnicodeError) as error:
        message = f"its answer cannot be read: {error}"
        raise EndpointAway(message) from error
    items = sorted(answer.data, key=lambda item: item.index)
    if len(items) != len(texts) or not all(item.embedding for item in items):
        message = f"it answered with {len(items)} vectors for {len(texts)} texts"
        raise EndpointAway(message)
    return [item.embedding for item in items]


def _post(endpoint: Endpoint, body: bytes) -> bytes:
    url = urlsplit(endpoint.url or "")
    path = url.path.rstrip("/")
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if endpoint.api_key:
        headers["Authorization"] = f"Bearer {endpoint.api_key}"
    connection = kind(url.hostname or "", url.port, timeout=endpoint.timeout_s)
    deadline = time.monotonic() + endpoint.timeout_s
    try:
        connection.request(
            "POST", path if path.endswith(_PATH) else path + _PATH, body=body, headers=headers
        )
        with connection.getresponse() as response:
            if response.status != _OK:
                message = f"it answered with status {response.status}"
                raise EndpointAway(message)
            return _read(response, deadline)
    finally:
        connection.close()


def _read(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """The whole body, also of one who sends it byte by byte: the time is for all of it."""
    parts: list[bytes] = []
    size = 0
    while part := response.read1(_PART):
        parts.append(part)
        size += len(part)
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")  # noqa: EM101 - as the socket itself says it
        if size > _MOST_BYTES:
            message = "its answer is too long"
            raise EndpointAway(message)
    return b"".join(parts)
