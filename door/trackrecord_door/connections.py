"""Connections within bounds: how many there are, and how long a request may take to arrive."""

import asyncio
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedProtocol(H11Protocol):
    """One connection of the server; one that does not finish its request in time is closed.

    Attributes:
        most_connections: further ones are closed at once, so that those that are open keep working.
        request_s: how long a request may take to arrive, head and body.
    """

    most_connections: ClassVar[int] = 1_200
    request_s: ClassVar[float] = 30.0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as the base class does
        """Begin a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            transport.abort()
            return
        self._begin_waiting()

    def data_received(self, data: bytes) -> None:
        """Take data; the time runs while a request is incomplete."""
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.IDLE and not self.conn.trailing_data[0]:
            self._end_waiting()
            self._stay()
        elif state in (h11.IDLE, h11.SEND_BODY):
            self._begin_waiting()
        else:
            self._end_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end_waiting()
        super().connection_lost(exc)

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
            self._deadline = self.loop.call_later(self.request_s, self._give_up)

    def _end_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        self.transport.abort()
