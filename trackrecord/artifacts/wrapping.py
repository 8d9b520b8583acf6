"""Wrap a tool so that its oversized outputs become summaries; nothing else changes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast, overload

from .client import is_oversized, summarise
from .retrievals import OngoingCall, tool_call

Tool = TypeVar("Tool", bound=Callable[..., Any])


@overload
def summarised(tool: Tool, *, project: str | None = None) -> Tool: ...
@overload
def summarised(*, project: str | None = None) -> Callable[[Tool], Tool]: ...
def summarised(tool: Tool | None = None, *, project: str | None = None) -> object:
    """Return the tool, wrapped to store oversized outputs and return summaries; also a decorator.

    Sync or async; `str` and `bytes`. Any other output, and the tool's exceptions, stay as they are.
    The output of a call that asked for an artifact is returned whole.

    Args:
        tool: the function that an agent calls.
        project: the outputs' project; the settings' project when not given.
    """
    if tool is None:
        return functools.partial(summarised, project=project)
    if inspect.iscoroutinefunction(tool):
        wrapper = _coroutine(tool, project)
    else:
        wrapper = _function(tool, project)
    return cast("Tool", functools.wraps(tool)(wrapper))


def _function(tool: Callable[..., Any], project: str | None) -> Callable[..., Any]:
    def call(*args: object, **kwargs: object) -> object:
        with tool_call() as current:
            output = tool(*args, **kwargs)
        if inspect.iscoroutine(output):  # a callable object, or a partial, of an async function
            return _awaited(output, current, project)
        return _passed(output, current, project)

    return call


def _coroutine(tool: Callable[..., Any], project: str | None) -> Callable[..., Any]:
    async def call(*args: object, **kwargs: object) -> object:
        with tool_call() as current:
            output = await tool(*args, **kwargs)
        return await _passed_aside(output, current, project)

    return call


async def _awaited(
    coroutine: Coroutine[Any, Any, object], begun: OngoingCall, project: str | None
) -> object:
    with tool_call() as current:
        output = await coroutine
    current.has_retrieved |= begun.has_retrieved
    return await _passed_aside(output, current, project)


def _passed(output: object, current: OngoingCall, project: str | None) -> object:
    return output if current.has_retrieved else summarise(output, project=project)


async def _passed_aside(output: object, current: OngoingCall, project: str | None) -> object:
    """Do what `_passed` does, but wait for the disk in a thread if the event loop is asyncio's."""
    if current.has_retrieved or not is_oversized(output):
        return output
    import asyncio

    try:
        loop = asyncio.get_running_loop()
        waiting = loop.run_in_executor(None, functools.partial(summarise, output, project=project))
    except RuntimeError:  # another event loop, or one that is closing
        return summarise(output, project=project)
    return await waiting
