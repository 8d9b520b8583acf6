"""Connections within bounds: how many there are, and how long a request may take to arrive."""

import asyncio
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Further ones are closed at once, so that those that are open keep working.
MOST_CONNECTIONS: Final = 400
# For a whole request, head and body. A slower one would hold its connection for ever.
REQUEST_S: Final = 30.0


class BoundedProtocol(H11Protocol):
    """One connection of the server; one that does not finish its request in time is closed."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as the base class does
        """Begin a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._begin_waiting()

    def data_received(self, data: bytes) -> None:
        """Take data; the time runs while a request is incomplete."""
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._begin_waiting()
        else:
            self._end_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end_waiting()
        super().connection_lost(exc)

    def _begin_waiting(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_S, self._give_up)

    def _end_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        self.transport.abort()
