"""The server over stdin and stdout, for one client that has started it.

It ends when its client closes stdin, and with SIGINT, SIGTERM or SIGHUP. Standard output carries
the protocol and nothing else: whatever else is printed there goes to standard error.
"""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Final, cast

import anyio
from mcp.server.stdio import stdio_server

from .mcp_scope import McpScope
from .sdk_server import create_server

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LONGEST_LINE: Final = 1024 * 1024
_READ_BYTES: Final = 64 * 1024
# In place of a line that is too long: the client is told that it is not JSON.
_TOO_LONG: Final = "too long"


def serve(agent_scope: McpScope) -> None:
    """Serve until stdin ends or a signal comes."""
    anyio.run(_serve, agent_scope)


async def _serve(agent_scope: McpScope) -> None:
    server = create_server(agent_scope)
    async with anyio.create_task_group() as tasks:
        with _ended_by_signals(tasks.cancel_scope), _own_stdin() as descriptor:
            # The SDK reads stdin on a thread that nothing but a further line can end.
            lines = cast("anyio.AsyncFile[str]", _lines(descriptor))
            async with stdio_server(stdin=lines) as (reading, writing):
                await server.run(reading, writing, server.create_initialization_options())


@contextmanager
def _ended_by_signals(scope: anyio.CancelScope) -> Iterator[None]:
    """Cancel a scope with a signal; with a second one, the process ends as it would have."""
    loop = asyncio.get_running_loop()

    def end() -> None:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
        scope.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, end)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


@contextmanager
def _own_stdin() -> Iterator[int]:
    """Take stdin away from child processes; return the stream to read it from."""
    descriptor, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # Never closed: a thread may be reading it until the process ends.
    yield descriptor


async def _lines(descriptor: int) -> AsyncIterator[str]:
    """Yield the lines of a descriptor; a reader that waits for more does not delay the end."""
    lines: asyncio.Queue[str | None] = asyncio.Queue(maxsize=1)
    loop = asyncio.get_running_loop()

    def read() -> None:
        for line in _read(descriptor):
            asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
        asyncio.run_coroutine_threadsafe(lines.put(None), loop)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    while (line := await lines.get()) is not None:
        yield line


def _read(descriptor: int) -> Iterator[str]:
    """Yield the lines of a descriptor, each of a bounded length."""
    held, is_too_long = bytearray(), False
    while data := os.read(descriptor, _READ_BYTES):
        *ended, rest = data.split(b"\n")
        for end in ended:
            held += end
            yield _TOO_LONG if is_too_long else held.decode(errors="replace")
            held.clear()
            is_too_long = False
        held += rest
        if len(held) > _LONGEST_LINE:
            held.clear()
            is_too_long = True
    if held and not is_too_long:
        yield held.decode(errors="replace")
