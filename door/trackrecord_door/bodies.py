"""The bodies of requests: read within bounds, and decompressed within them."""

import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from starlette.requests import Request

from .answers import RequestRefused

IDENTITY: Final = "identity"
# OpenTelemetry's exporter for Python has "deflate", too, which is zlib's own format.
_FORMATS: Final = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
# As many of the largest bodies as may be held at once, over all requests.
_MOST_LARGEST: Final = 3


class Bodies:
    """Reads bodies, and bounds what all of them take together.

    Args:
        max_bytes: the largest size of one, compressed and decompressed.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._left = _MOST_LARGEST * max_bytes

    @asynccontextmanager
    async def of(self, request: Request) -> AsyncIterator[bytes]:
        """Read a body as it was sent; its memory counts until the block ends.

        Raises:
            Refused: it is too large, or too much is being read at once.
            starlette.requests.ClientDisconnect: the client is gone before it has sent everything.
        """
        self._check_declared(request)
        taken = 0
        chunks = []
        try:
            async for chunk in request.stream():
                taken += len(chunk)
                self._left -= len(chunk)
                if taken > self.max_bytes:
                    raise too_large(self.max_bytes)
                if self._left < 0:
                    raise RequestRefused(503, "too much at once; try again", {"Retry-After": "1"})
                chunks.append(chunk)
            yield b"".join(chunks)
        finally:
            self._left += taken

    async def discard(self, request: Request) -> None:
        """Read a body and keep nothing of it.

        Raises:
            Refused: it is too large.
            starlette.requests.ClientDisconnect: as `of`.
        """
        self._check_declared(request)
        taken = 0
        async for chunk in request.stream():
            taken += len(chunk)
            if taken > self.max_bytes:
                raise too_large(self.max_bytes)

    def _check_declared(self, request: Request) -> None:
        if int(request.headers.get("content-length", 0)) > self.max_bytes:
            raise too_large(self.max_bytes)


def content_encoding(request: Request) -> str:
    """Return how a body is compressed.

    Raises:
        Refused: in a way that is not supported.
    """
    encoding = request.headers.get("content-encoding", IDENTITY).strip().lower() or IDENTITY
    if encoding != IDENTITY and encoding not in _FORMATS:
        message = "this content encoding is not supported; send gzip or none"
        raise RequestRefused(415, message, {"Accept-Encoding": ", ".join(_FORMATS)})
    return encoding


def decompressed(body: bytes, encoding: str, max_bytes: int) -> bytes:
    """Return a body without its compression; never more than the maximum is made in memory.

    Raises:
        Refused: it is too large when decompressed, or it is damaged.
    """
    if encoding == IDENTITY:
        return body
    parts = []
    left = max_bytes
    try:
        while body:
            member = zlib.decompressobj(_FORMATS[encoding])
            parts.append(member.decompress(body, left + 1))
            left -= len(parts[-1])
            if left < 0:
                raise too_large(max_bytes)
            if not member.eof:
                raise RequestRefused(400, f"the {encoding} body is cut off")
            body = member.unused_data
    except zlib.error:
        raise RequestRefused(400, f"the body is not {encoding}") from None
    return b"".join(parts)


def too_large(max_bytes: int) -> RequestRefused:
    """Return the refusal of a body that is too large."""
    return RequestRefused(413, f"the body has more than {max_bytes} bytes; send smaller batches")
