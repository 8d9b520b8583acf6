"""The client of an embedding endpoint: texts in, vectors out, in batches and within a time.

Proxies of the environment are used. Redirects are not followed, so that the key goes nowhere else.
"""

import logging
import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from trackrecord.errors import EndpointAway
from trackrecord.learning.text.redaction import redacted_beginning

from .endpoint import EmbeddingEndpoint

if TYPE_CHECKING:
    import ssl

    import httpx

Vector = tuple[float, ...]

_PATH = "/embeddings"
_OK = 200
_MOST_CHARS = 8_000
# 2048 vectors of 16,000 numbers would be more, but no endpoint returns so much.
_MOST_BYTES = 256 * 1024 * 1024

# It logs each request with its URL, in which there may be a password.
logging.getLogger("httpx").setLevel(logging.WARNING)


class _Item(msgspec.Struct):
    embedding: Vector
    index: int = 0


class _Answer(msgspec.Struct):
    data: list[_Item]


_answer = msgspec.json.Decoder(_Answer)


def embed(endpoint: EmbeddingEndpoint, texts: Sequence[str]) -> list[Vector]:
    """Return the vectors of texts, in their order, by one request for each batch.

    The endpoint is told no secrets: they are replaced first. A long text is cut.

    Raises:
        EndpointAway: one of the requests failed, or a package is missing.
    """
    # A tenth of a second to import, and most stores have no endpoint.
    try:
        import httpx
    except ImportError:
        message = "httpx is not installed: pip install 'trackrecord[embeddings]'"
        raise EndpointAway(message) from None
    texts = [redacted_beginning(text, _MOST_CHARS) for text in texts]
    try:
        with httpx.Client(timeout=endpoint.timeout_s, verify=_trusted()) as client:
            vectors: list[Vector] = []
            for start in range(0, len(texts), endpoint.batch_size):
                vectors += _embed_batch(
                    client, endpoint, texts[start : start + endpoint.batch_size]
                )
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        message = str(error) or type(error).__name__
        raise EndpointAway(message) from error
    except (ImportError, ValueError) as error:  # of httpx.Client, about the environment's proxies
        message = f"the proxy that the environment names cannot be used: {error}"
        raise EndpointAway(message) from error
    return vectors


@cache
def _trusted() -> "ssl.SSLContext":
    """Return the trusted certificates; reading them takes longer than one request."""
    import httpx

    return httpx.create_ssl_context()


def _embed_batch(
    client: "httpx.Client", endpoint: EmbeddingEndpoint, texts: Sequence[str]
) -> list[Vector]:
    body = msgspec.json.encode(
        {"model": endpoint.model, "input": list(texts), "encoding_format": "float"}
    )
    try:
        answer = _answer.decode(_post(client, endpoint, body))
    except (msgspec.MsgspecError, UnicodeError) as error:
        message = f"its response cannot be read: {error}"
        raise EndpointAway(message) from error
    items = sorted(answer.data, key=lambda item: item.index)
    if len(items) != len(texts) or not all(item.embedding for item in items):
        message = f"it returned {len(items)} vectors for {len(texts)} texts"
        raise EndpointAway(message)
    return [item.embedding for item in items]


def _post(client: "httpx.Client", endpoint: EmbeddingEndpoint, body: bytes) -> bytes:
    # Not compressed: the size of what is read is bounded.
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
    }
    if endpoint.api_key:
        headers["Authorization"] = f"Bearer {endpoint.api_key}"
    deadline = time.monotonic() + endpoint.timeout_s
    with client.stream("POST", _url(endpoint), content=body, headers=headers) as response:
        if response.status_code != _OK:
            message = f"it returned status {response.status_code}"
            raise EndpointAway(message)
        return _read(response, deadline)


def _url(endpoint: EmbeddingEndpoint) -> "httpx.URL":
    """Return the URL for requests; without its user, which would take the key's place."""
    import httpx

    url = httpx.URL(endpoint.url or "")
    path = url.path.rstrip("/")
    return url.copy_with(path=path if path.endswith(_PATH) else path + _PATH, userinfo=b"")


def _read(response: "httpx.Response", deadline: float) -> bytes:
    """Return the whole body; the deadline holds for all of it, even if it comes byte by byte."""
    parts: list[bytes] = []
    size = 0
    for part in response.iter_raw():
        parts.append(part)
        size += len(part)
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")  # noqa: EM101 - as the socket itself says it
        if size > _MOST_BYTES:
            message = "its response is too long"
            raise EndpointAway(message)
    return b"".join(parts)
