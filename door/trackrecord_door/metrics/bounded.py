"""Queries to a server that may be away: one at a time, with a limit on waiting."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import structlog

_log = structlog.get_logger(__name__)

_R = TypeVar("_R")


class Bounded:
    """Asks a server on a thread of its own, with a short limit on waiting.

    A question that hangs keeps the thread; until it ends, all later ones are given up, too.

    Args:
        server: its name, for the log.
        patience_s: how long an answer is waited for.
    """

    def __init__(self, server: str, patience_s: float) -> None:
        self._server: Final = server
        self._patience_s: Final = patience_s
        self._thread = ThreadPoolExecutor(1, f"metrics-{server}")
        self._is_away = False

    async def ask(self, question: Callable[[], _R]) -> _R | None:
        """Return the answer to a question; None if it does not come in time."""
        asked = asyncio.get_running_loop().run_in_executor(self._thread, question)
        try:
            # Cancelled if it has not begun; if it has, it goes on alone.
            answer = await asyncio.wait_for(asked, self._patience_s)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other figures are shown
            self._note_away(type(error).__name__)
            return None
        self._is_away = False
        return answer

    def _note_away(self, reason: str) -> None:
        """Log that the server does not answer, once."""
        if not self._is_away:
            self._is_away = True
            _log.warning("metrics_incomplete", without=self._server, reason=reason)
