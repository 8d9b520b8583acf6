"""Call functions in a process of their own: what they import takes no memory in this one."""

import os
import pickle
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def call_apart(function: Callable[_P, _R], *given: _P.args, **named: _P.kwargs) -> _R:
    """Return what a function returns, or raise what it raises; it runs in a forked process."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(_answer(function, *given, **named))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    if not answer:
        message = "a process that was to check something was ended"
        raise RuntimeError(message)
    result, error = pickle.loads(answer)  # noqa: S301 - from our own child
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def _answer(function: Callable[_P, _R], *given: _P.args, **named: _P.kwargs) -> bytes:
    try:
        return pickle.dumps((function(*given, **named), None))
    except BaseException as error:  # noqa: BLE001 - the caller raises it
        return pickle.dumps((None, error))
