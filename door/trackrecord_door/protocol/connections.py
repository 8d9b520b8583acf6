"""Connections within bounds: how many there are, and how long a request may take to arrive.

Users of one machine share the address 127.0.0.1, so that bounds by address do not keep them apart.
What does is whether a connection has shown a credential: those that have not make room for others,
and never for long enough to matter to whoever sends a request at once.
"""

import asyncio
import socket
from collections import defaultdict
from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

import h11
from starlette.requests import Request
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

_OVER_SOCKET: Final = "came_over_socket"


def came_over_socket(request: Request) -> bool:
    """Return whether a request came over the Unix socket."""
    return bool(request.scope.get("state", {}).get(_OVER_SOCKET))


class Connections:
    """The open connections of one server over TCP, the oldest first."""

    def __init__(self) -> None:
        # By address: users of this machine have the same one.
        self._unproven: dict[str, dict[BoundedProtocol, None]] = defaultdict(dict)
        self._proven: dict[BoundedProtocol, None] = {}
        self._number_unproven = 0

    def __len__(self) -> int:
        return self._number_unproven + len(self._proven)

    def add(self, connection: "BoundedProtocol") -> None:
        """Add one that has shown no credential yet."""
        self._unproven[connection.address][connection] = None
        self._number_unproven += 1

    def remove(self, connection: "BoundedProtocol") -> None:
        """Forget one, if it is known."""
        self._proven.pop(connection, None)
        of_address = self._unproven.get(connection.address, {})
        if connection in of_address:
            del of_address[connection]
            self._number_unproven -= 1
            if not of_address:
                del self._unproven[connection.address]

    def excess(self, most: int, most_unproven: int) -> "BoundedProtocol | None":
        """Return the one to close after one was added; None if there are not too many.

        Args:
            most: of all.
            most_unproven: of those that have shown no credential.
        """
        while self._number_unproven > most_unproven or (
            self._number_unproven > 1 and len(self) > most
        ):
            of_one_address: dict[BoundedProtocol, None] = max(self._unproven.values(), key=len)
            oldest = next(iter(of_one_address))
            if not oldest.is_proven:
                return oldest
            self.remove(oldest)
            self._proven[oldest] = None
        if len(self) <= most:
            return None
        newest = next((each for group in self._unproven.values() for each in group), None)
        return next((each for each in self._proven if each.is_waiting), newest)


_connections: Final = WeakKeyDictionary[ServerState, Connections]()


class BoundedProtocol(H11Protocol):
    """One connection of the server; one that does not finish its request in time is closed.

    Attributes:
        most_connections: over TCP; for a further one, one that has shown no credential is closed,
            else one that waits for a request.
        most_unproven: of those that have shown no credential; for a further one, the oldest of them
            is closed, of the address that has the most.
        most_over_socket: over the Unix socket; further ones are closed at once.
        head_s: how long the head of a request may take to arrive.
        request_s: how long all of a request may take to arrive.
        stall_s: in each such time of a body, `least_bytes` must arrive.
        least_bytes: see `stall_s`.
    """

    most_connections: ClassVar[int] = 1_200
    most_unproven: ClassVar[int] = 600
    most_over_socket: ClassVar[int] = 300
    head_s: ClassVar[float] = 10.0
    request_s: ClassVar[float] = 30.0
    stall_s: ClassVar[float] = 10.0
    least_bytes: ClassVar[int] = 8 * 1024
    _deadline: asyncio.TimerHandle | None = None
    _head_deadline: asyncio.TimerHandle | None = None
    _stall_check: asyncio.TimerHandle | None = None
    _arrived = 0
    _was_proven = False
    _over_socket = False
    address = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as the base class does
        """Begin a connection, and make room for it."""
        connected: socket.socket = transport.get_extra_info("socket")
        self._over_socket = connected.family == socket.AF_UNIX
        if self._over_socket:
            self.app_state = {**self.app_state, _OVER_SOCKET: True}
        super().connection_made(transport)
        self._begin_waiting()
        if not self._over_socket:
            self.address = self.client[0] if self.client else ""
            self._over_tcp.add(self)
            excess = self._over_tcp.excess(self.most_connections, self.most_unproven)
            if excess is not None:
                excess.give_up()
        elif len(self.connections) - len(self._over_tcp) > self.most_over_socket:
            self.give_up()

    def data_received(self, data: bytes) -> None:
        """Take data; the time runs while a request is incomplete."""
        self._note_proof()
        self._arrived += len(data)
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.IDLE and not self.conn.trailing_data[0]:
            self._end_waiting()
            self._stay()
        elif state is h11.IDLE:
            self._begin_waiting()
        elif state is h11.SEND_BODY:
            self._begin_waiting()
            self._has_head()
        else:
            self._end_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end_waiting()
        self._over_tcp.remove(self)
        super().connection_lost(exc)

    @property
    def _over_tcp(self) -> Connections:
        return _connections.setdefault(self.server_state, Connections())

    @property
    def is_proven(self) -> bool:
        """Return whether a request on this connection has shown a credential."""
        self._note_proof()
        return self._was_proven

    def _note_proof(self) -> None:
        # `Access` says so in the scope of the request, which the next request replaces.
        self._was_proven = self._was_proven or "caller" in (self.scope or ())

    @property
    def is_waiting(self) -> bool:
        """Return whether no request is in progress."""
        return self.cycle is None or self.cycle.response_complete

    def _stay(self) -> None:
        """Wait for another request, after the end of one that was answered before it had ended.

        The base class begins this time with the answer, and the rest of the request ended it.
        """
        if self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def _begin_waiting(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.request_s, self.give_up)
            self._head_deadline = self.loop.call_later(self.head_s, self.give_up)

    def _has_head(self) -> None:
        """From now on a body arrives, which must not stall."""
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None
        if self._stall_check is None:
            self._watch_body()

    def _watch_body(self) -> None:
        self._arrived = 0
        self._stall_check = self.loop.call_later(self.stall_s, self._check_stall)

    def _check_stall(self) -> None:
        # Nothing can arrive while the server itself does not read.
        if self._arrived < self.least_bytes and not self.flow.read_paused:
            self.give_up()
        else:
            self._watch_body()

    def _end_waiting(self) -> None:
        for timer in (self._deadline, self._head_deadline, self._stall_check):
            if timer is not None:
                timer.cancel()
        self._deadline = self._head_deadline = self._stall_check = None

    def give_up(self) -> None:
        """Close the connection at once."""
        self._end_waiting()
        self._over_tcp.remove(self)
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is not HTTP, with the headers of every answer.

        One that was answered before it turned out to be none has its answer.
        """
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
            return
        body = msg.encode()
        headers: list[tuple[Any, Any]] = [
            *self.server_state.default_headers,
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"connection", b"close"),
        ]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
