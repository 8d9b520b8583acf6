"""Wrap functions of any kind without changing their behaviour."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .current import as_current

if TYPE_CHECKING:
    from .attempt import Attempt

F = TypeVar("F", bound=Callable[..., Any])


def observed(function: F, begin: Callable[[], Attempt]) -> F:
    """Return the function, wrapped so that each call is an attempt of its own.

    Args:
        function: a function, a coroutine function, a generator or an asynchronous generator.
        begin: makes the attempt of one call.
    """
    if inspect.iscoroutinefunction(function):
        wrapper = _coroutine(function, begin)
    elif inspect.isasyncgenfunction(function):
        wrapper = _async_generator(function, begin)
    elif inspect.isgeneratorfunction(function):
        wrapper = _generator(function, begin)
    else:
        wrapper = _function(function, begin)
    return cast("F", functools.wraps(function)(wrapper))


def _function(function: Callable[..., Any], begin: Callable[[], Attempt]) -> Callable[..., Any]:
    def call(*args: object, **kwargs: object) -> object:
        with begin():
            return function(*args, **kwargs)

    return call


def _coroutine(function: Callable[..., Any], begin: Callable[[], Attempt]) -> Callable[..., Any]:
    async def call(*args: object, **kwargs: object) -> object:
        with begin():
            return await function(*args, **kwargs)

    return call


def _generator(function: Callable[..., Any], begin: Callable[[], Attempt]) -> Callable[..., Any]:
    def call(*args: object, **kwargs: object) -> Generator[Any, Any, Any]:
        with _from_start_to_finish(begin()) as attempt:
            return (yield from _steps(function(*args, **kwargs), attempt))

    return call


def _steps(generator: Generator[Any, Any, Any], attempt: Attempt) -> Generator[Any, Any, Any]:
    """Do a `yield from` in which the attempt is current only while the generator runs."""

    def step(advance: Callable[..., Any], *given: object) -> object:
        with as_current(attempt):
            return advance(*given)

    try:
        item = step(next, generator)
        while True:
            try:
                sent = yield item
            except GeneratorExit:
                step(generator.close)
                raise
            except BaseException as thrown:  # noqa: BLE001 - it is the generator's to handle
                item = step(generator.throw, thrown)
            else:
                item = step(generator.send, sent)
    except StopIteration as stop:
        return stop.value


def _async_generator(
    function: Callable[..., Any], begin: Callable[[], Attempt]
) -> Callable[..., Any]:
    async def call(*args: object, **kwargs: object) -> AsyncGenerator[Any, Any]:
        with _from_start_to_finish(begin()) as attempt:
            generator = function(*args, **kwargs)
            with suppress(StopAsyncIteration):
                item = await _step(attempt, anext(generator))
                while True:
                    try:
                        sent = yield item
                    except GeneratorExit:
                        await _step(attempt, generator.aclose())
                        raise
                    except BaseException as thrown:  # noqa: BLE001 - the generator's to handle
                        item = await _step(attempt, generator.athrow(thrown))
                    else:
                        item = await _step(attempt, generator.asend(sent))

    return call


async def _step(attempt: Attempt, advance: Awaitable[Any]) -> object:
    with as_current(attempt):
        return await advance


@contextmanager
def _from_start_to_finish(attempt: Attempt) -> Iterator[Attempt]:
    attempt.start()
    try:
        yield attempt
    except BaseException as error:
        attempt.finish(error)
        raise
    attempt.finish()
