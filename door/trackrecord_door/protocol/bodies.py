"""The bodies of requests: read within bounds, and decompressed within them."""

import zlib
from collections import Counter
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from typing import Final

from starlette.requests import Request

from .answers import RequestRefused
from .callers import OWNER, REPORTER, caller_of

IDENTITY: Final = "identity"
# OpenTelemetry's exporter for Python has "deflate", too, which is zlib's own format.
_FORMATS: Final = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
# As many of the largest bodies as may be held at once: of the user who runs the server, and of all
# bearers of other tokens together; of one such token, a single one.
_MOST_OF_OWNER: Final = 3
_MOST_OF_OTHERS: Final = 2
# A member takes a step of its own, however little is in it.
_MOST_MEMBERS: Final = 1000
_PIECE_BYTES: Final = 64 * 1024


class Bodies:
    """Reads bodies, and bounds what all of them take together.

    Whoever has a token cannot keep another caller's bodies from being read.

    Args:
        max_bytes: the largest size of one, compressed and decompressed.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._held = Counter[Hashable]()

    @asynccontextmanager
    async def of(self, request: Request) -> AsyncIterator[bytes]:
        """Read a body as it was sent; its memory counts until the block ends.

        Raises:
            RequestRefused: it is too large, or too much is being read at once.
            starlette.requests.ClientDisconnect: the client is gone before it has sent everything.
        """
        self._check_declared(request)
        holders = self._holders(request)
        taken = 0
        chunks = []
        try:
            async for chunk in request.stream():
                taken += len(chunk)
                for holder in holders:
                    self._held[holder] += len(chunk)
                if taken > self.max_bytes:
                    raise too_large(self.max_bytes)
                if any(self._held[holder] > most for holder, most in holders.items()):
                    raise RequestRefused(503, "too much at once; try again", {"Retry-After": "1"})
                chunks.append(chunk)
            yield b"".join(chunks)
        finally:
            for holder in holders:
                self._held[holder] -= taken
                if not self._held[holder]:
                    del self._held[holder]

    def _holders(self, request: Request) -> dict[Hashable, int]:
        """Return who holds a request's body, and how many bytes each may hold."""
        caller = caller_of(request)
        if caller is OWNER or caller is REPORTER:
            return {OWNER: _MOST_OF_OWNER * self.max_bytes}
        return {
            "others": _MOST_OF_OTHERS * self.max_bytes,
            (caller.project, caller.permission, caller.name): self.max_bytes,
        }

    async def discard(self, request: Request) -> None:
        """Read a body and keep nothing of it.

        Raises:
            RequestRefused: it is too large.
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
        RequestRefused: in a way that is not supported.
    """
    encoding = request.headers.get("content-encoding", IDENTITY).strip().lower() or IDENTITY
    if encoding != IDENTITY and encoding not in _FORMATS:
        message = "this content encoding is not supported; send gzip or none"
        raise RequestRefused(415, message, {"Accept-Encoding": ", ".join(_FORMATS)})
    return encoding


def decompressed(body: bytes, encoding: str, max_bytes: int) -> bytes:
    """Return a body without its compression; never more than the maximum is made in memory.

    Raises:
        RequestRefused: it is too large when decompressed, or it is damaged.
    """
    if encoding == IDENTITY:
        return body
    parts = []
    left = max_bytes
    members = 1
    member = zlib.decompressobj(_FORMATS[encoding])
    try:
        # Piece by piece: what follows a member is copied.
        for start in range(0, len(body), _PIECE_BYTES):
            piece = body[start : start + _PIECE_BYTES]
            while piece:
                if member.eof:
                    member = zlib.decompressobj(_FORMATS[encoding])
                    members += 1
                if members > _MOST_MEMBERS:
                    message = f"the body has more than {_MOST_MEMBERS} members; send fewer"
                    raise RequestRefused(413, message)
                parts.append(member.decompress(piece, left + 1))
                left -= len(parts[-1])
                if left < 0:
                    raise too_large(max_bytes)
                piece = member.unused_data
    except zlib.error:
        raise RequestRefused(400, f"the body is not {encoding}") from None
    if body and not member.eof:
        raise RequestRefused(400, f"the {encoding} body is cut off")
    return b"".join(parts)


def too_large(max_bytes: int) -> RequestRefused:
    """Return the refusal of a body that is too large."""
    return RequestRefused(413, f"the body has more than {max_bytes} bytes; send smaller batches")
