"""Wrap a tool so that its oversized outputs become summaries; nothing else changes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, NamedTuple, TypeVar, cast, overload

from .client import is_oversized, summarise
from .pages import OngoingCall, tool_call

Tool = TypeVar("Tool", bound=Callable[..., Any])


@overload
def summarised(
    tool: Tool, *, project: str | None = None, task_id: str | None = None, name: str | None = None
) -> Tool: ...
@overload
def summarised(
    *, project: str | None = None, task_id: str | None = None, name: str | None = None
) -> Callable[[Tool], Tool]: ...
def summarised(
    tool: Tool | None = None,
    *,
    project: str | None = None,
    task_id: str | None = None,
    name: str | None = None,
) -> object:
    """Return the tool, wrapped to store oversized outputs and return summaries; also a decorator.

    Sync or async; `str` and `bytes`. Any other output, and the tool's exceptions, stay as they are.
    The output of a call that asked for an artifact is returned whole.

    Args:
        tool: the function that an agent calls.
        project: the outputs' project; the settings' project when not given.
        task_id: the task that they come up in; that of the attempt that is going on when not given.
        name: the tool's name; that of the function when not given.
    """
    if tool is None:
        return functools.partial(summarised, project=project, task_id=task_id, name=name)
    origin = _Origin(project, task_id, name or _name_of(tool))
    if inspect.iscoroutinefunction(tool):
        wrapper = _coroutine(tool, origin)
    else:
        wrapper = _function(tool, origin)
    return cast("Tool", functools.wraps(tool)(wrapper))


class _Origin(NamedTuple):
    """The origin of outputs."""

    project: str | None
    task_id: str | None
    tool: str


def _summarised(output: object, origin: _Origin) -> object:
    return summarise(output, project=origin.project, task_id=origin.task_id, tool=origin.tool)


def _name_of(tool: Callable[..., Any]) -> str:
    while isinstance(tool, functools.partial):
        tool = tool.func
    return str(getattr(tool, "__name__", type(tool).__name__))


def _function(tool: Callable[..., Any], origin: _Origin) -> Callable[..., Any]:
    def call(*args: object, **kwargs: object) -> object:
        with tool_call() as current:
            output = tool(*args, **kwargs)
        if inspect.iscoroutine(output):  # a callable object, or a partial, of an async function
            return _awaited(output, current, origin)
        return _passed(output, current, origin)

    return call


def _coroutine(tool: Callable[..., Any], origin: _Origin) -> Callable[..., Any]:
    async def call(*args: object, **kwargs: object) -> object:
        with tool_call() as current:
            output = await tool(*args, **kwargs)
        return await _passed_aside(output, current, origin)

    return call


async def _awaited(
    coroutine: Coroutine[Any, Any, object], begun: OngoingCall, origin: _Origin
) -> object:
    with tool_call() as current:
        output = await coroutine
    current.has_retrieved |= begun.has_retrieved
    return await _passed_aside(output, current, origin)


def _passed(output: object, current: OngoingCall, origin: _Origin) -> object:
    return output if current.has_retrieved else _summarised(output, origin)


async def _passed_aside(output: object, current: OngoingCall, origin: _Origin) -> object:
    """Do what `_passed` does, but wait for the disk in a thread if the event loop is asyncio's."""
    if current.has_retrieved or not is_oversized(output):
        return output
    import asyncio

    try:
        loop = asyncio.get_running_loop()
        # With this task's context: the attempt that is going on is part of it.
        store = functools.partial(copy_context().run, _summarised, output, origin)
        waiting = loop.run_in_executor(None, store)
    except RuntimeError:  # another event loop, or one that is closing
        return _summarised(output, origin)
    return await waiting
