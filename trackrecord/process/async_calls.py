"""Async twins of blocking calls: each runs in a thread beside the event loop.

There are few such threads, and they are apart from the loop's own: while a server hangs, neither do
these calls keep the agent's other work waiting, nor the other way round. A caller that stops
awaiting goes on at once; the thread ends when its own time limits are over.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import lru_cache, partial, wraps
from importlib import import_module
from inspect import Signature, signature
from typing import Any, Final, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

_THREADS: Final = 8


async def beside(call: Callable[_P, _R], *given: _P.args, **named: _P.kwargs) -> _R:
    """Call a function in a thread with this task's context; return its result."""
    in_context = partial(copy_context().run, call, *given, **named)
    try:
        waiting = asyncio.get_running_loop().run_in_executor(_threads(os.getpid()), in_context)
    except RuntimeError:  # another kind of loop, or a process that starts no thread any more
        return in_context()
    return await waiting


def awaited(call: Callable[_P, _R]) -> Callable[_P, Coroutine[Any, Any, _R]]:
    """Return the form of a call that is awaited.

    Its name is that of the call with an "a" in front.
    """

    @wraps(call)
    async def acall(*given: _P.args, **named: _P.kwargs) -> _R:
        return await beside(call, *given, **named)

    acall.__name__ = acall.__qualname__ = f"a{call.__name__}"
    acall.__doc__ = f"Call `trackrecord.{call.__name__}` without blocking the event loop."
    return acall


class PublicCall:
    """A call of `trackrecord`, imported in the thread that makes it, with all that it needs.

    Args:
        name: of the call.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def __name__(self) -> str:
        """The name of the call."""
        return self._name

    @property
    def __signature__(self) -> Signature:
        """The signature of the call, for people who ask for help."""
        return signature(self._call)

    @property
    def _call(self) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module("trackrecord"), self._name)
        return found

    def __call__(self, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - of any call
        """Make the call."""
        return self._call(*given, **named)


@lru_cache(maxsize=1)
def _threads(_pid: int) -> ThreadPoolExecutor:
    """Return this process's threads; a child made by fork has none of its parent's."""
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="trackrecord-awaited")
