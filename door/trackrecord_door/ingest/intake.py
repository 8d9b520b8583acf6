"""The intake of the front door: work on requests, on threads of its own.

Decoding takes processor time; beside it the event loop goes on answering, and hooks have threads
of their own, because an agent waits for them.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Final, TypeVar

from trackrecord_capture.history.counts import CountedSinks
from trackrecord_capture.otlp.encodings.receiver import Receiver

Hook = Callable[[bytes], bytes | None]
"""Takes the body of an agent's hook; returns JSON for the agent, or None for nothing."""

_Result = TypeVar("_Result")
_Item = TypeVar("_Item")
_SLICE: Final = 512
_HOOKS_AT_ONCE: Final = 4


class Intake:
    """Passes posted requests on to their receivers.

    Args:
        receiver: takes spans and log records.
        hooks: takes the hooks of each agent, by the agent's name.
        at_the_end: closes the receiver and whatever else was opened for it and for the hooks.
        captured: counts what they publish.
    """

    def __init__(
        self,
        receiver: Receiver,
        hooks: Mapping[str, Hook],
        at_the_end: Callable[[], None],
        captured: CountedSinks | None = None,
    ) -> None:
        self.captured: Final = captured or CountedSinks()
        self._receiver = receiver
        self._at_the_end = at_the_end
        self._hooks = hooks
        self._decoding = ThreadPoolExecutor(1, "decoding")
        self._hooking = ThreadPoolExecutor(_HOOKS_AT_ONCE, "hook")

    async def decode(self, work: Callable[[Receiver], _Result]) -> _Result:
        """Decode a request and pass it to the receiver; one at a time."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._decoding, work, self._receiver)

    def knows(self, agent: str) -> bool:
        """Return whether there is an agent of this name whose hooks are taken."""
        return agent in self._hooks

    async def hook(self, agent: str, body: bytes) -> bytes | None:
        """Take the body of an agent's hook; return the answer for the agent."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._hooking, self._hooks[agent], body)

    def close(self) -> None:
        """Finish pending work, then close all receivers."""
        self._hooking.shutdown()
        self._decoding.shutdown()
        self._at_the_end()


def take_items(receive: Callable[[list[_Item]], int], items: Iterator[_Item | None]) -> int:
    """Hand spans or log records to a receiver slice by slice; return how many were rejected.

    Raises:
        Full: the receiver takes no more.
        Malformed: the attributes of a resource are wrong.
    """
    rejected = 0
    while each := list(islice(items, _SLICE)):
        usable = [item for item in each if item is not None]
        rejected += len(each) - len(usable)
        if usable:
            rejected += receive(usable)
    return rejected
