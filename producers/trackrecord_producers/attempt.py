"""An attempt at a task, observed from its start to its end, whatever that is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec

from trackrecord.outcome import encode_body

from .decorating import observed
from .ids import new_id
from .publish import publish_fields

F = TypeVar("F", bound=Callable[..., Any])

_MAX_TOOL_CALLS = 1000
_MAX_PARTICULAR_BYTES = 16 * 1024
# Arguments and errors of all calls together; an outcome has 1 MiB.
_MAX_PARTICULARS_BYTES = 512 * 1024
_MAX_DETAILS = 2000
_MAX_LABEL = 256

_current: ContextVar[Attempt | None] = ContextVar("trackrecord_attempt", default=None)


def current_attempt() -> Attempt | None:
    """The innermost attempt that is going on here, in this thread or task; None outside of any."""
    return _current.get()


def attempt(task_id: str | None = None, **fields: Any) -> Attempt:  # noqa: ANN401 - fields of many types
    """Observe an attempt at a task, and publish how it went when it ends.

    Use it as `with`, as `async with`, or as a decorator of functions, coroutine functions and
    generators. What it surrounds returns and raises as if it were not there.

    Args:
        task_id: the task. Given none, a decorator names the task after the function, so that all
            its calls are attempts at one task, and `with` makes up a name that is used once.
        **fields: any other field of the wire format, published as it is.
    """
    return Attempt(task_id, fields)


class Attempt:
    """One attempt; what is told to it ends up in the outcome. None of its methods raises.

    Attributes:
        task_id: the task; None until the attempt begins when none was given.
    """

    def __init__(self, task_id: str | None, fields: dict[str, Any]) -> None:
        self.task_id = task_id
        self._fields = fields
        self._lock = threading.RLock()
        self._depth = 0
        self._outer: Attempt | None = None
        self._forget()

    def _forget(self) -> None:
        self._noted: dict[str, Any] = {}
        self._tools: list[dict[str, Any]] = []
        self._errors = 0
        self._retries = 0
        self._failure: tuple[str, str | None] | None = None
        self._room = _MAX_PARTICULARS_BYTES
        self._counted: BaseException | None = None
        self._started = time.monotonic()

    def error(self, error: object = None) -> None:
        """Count an error that the attempt met; an exception that ends it is counted by itself."""
        with self._lock:
            if isinstance(error, BaseException):
                if error is self._counted:
                    return
                self._counted = error
            self._errors += 1

    def retry(self) -> None:
        """Count a retry."""
        with self._lock:
            self._retries += 1

    def tool(
        self,
        name: str,
        *,
        ok: bool | None = None,
        args: object = None,
        error: object = None,
        duration_ms: float | None = None,
    ) -> None:
        """Record a call of a tool; calls stay in the order in which they are told.

        Args:
            name: the tool.
            ok: whether the call succeeded; a failed one counts as an error. By default it did
                unless there is an error.
            args: the arguments as they are now; left out when they take more than 16 KiB.
            error: what went wrong: an exception or a text.
            duration_ms: how long it took.
        """
        if ok is None:
            ok = error is None
        call: dict[str, Any] = {"tool": _text(name, _MAX_LABEL), "ok": ok}
        if duration_ms is not None:
            call["duration_ms"] = duration_ms
        particulars = _particulars(args, error)
        with self._lock:
            if not ok:
                self.error(error)
            if len(self._tools) < _MAX_TOOL_CALLS:
                self._tools.append(call | self._as_far_as_there_is_room(particulars))

    def _as_far_as_there_is_room(self, particulars: dict[str, msgspec.Raw]) -> dict[str, Any]:
        """Particulars, until they would make the outcome too large to be published."""
        size = sum(len(bytes(each)) for each in particulars.values())
        if size > self._room:
            return {}
        self._room -= size
        return particulars

    def fail(self, mode: str, details: object = None) -> None:
        """Say that the task did not reach its goal, though nothing is raised.

        Args:
            mode: the kind of failure, a short label.
            details: what happened: an exception or a text.
        """
        label = _text(mode, _MAX_LABEL)
        described = None if details is None else _text(details, _MAX_DETAILS)
        with self._lock:
            self._failure = (label, described)

    def note(self, **fields: Any) -> None:  # noqa: ANN401 - the wire format's fields
        """Add fields of the wire format to the outcome."""
        with self._lock:
            self._noted |= fields

    def start(self) -> None:
        """Begin anew; `with` and the decorator do it."""
        self._forget()
        if self.task_id is None:
            self.task_id = f"attempt-{new_id()}"

    def finish(self, error: BaseException | None = None) -> None:
        """Publish how it went; `with` and the decorator do it.

        Args:
            error: what ended the attempt, if it was an exception.
        """
        duration_ms = round((time.monotonic() - self._started) * 1000)
        if error is not None and not _is_clean_exit(error):
            self.error(error)
            if self._failure is None:
                self.fail(type(error).__qualname__, error)
        outcome: dict[str, Any] = {
            "duration_ms": duration_ms,
            "error_count": self._errors,
            "retry_count": self._retries,
        }
        if self._tools:
            outcome["tool_graph"] = self._tools
        if self._failure is not None:
            outcome["failure_mode"], outcome["failure_details"] = self._failure
        outcome |= self._fields | self._noted
        outcome["task_id"] = self.task_id
        outcome["success"] = self._failure is None
        publish_fields(outcome)

    @contextmanager
    def as_current(self) -> Iterator[None]:
        """Make this the current attempt while the block runs."""
        outer = _current.get()
        _current.set(self)
        try:
            yield
        finally:
            _current.set(outer)

    def __enter__(self) -> Self:
        if self._depth == 0:
            self.start()
            self._outer = _current.get()
            _current.set(self)
        self._depth += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            _current.set(self._outer)
            self._outer = None
            self.finish(error)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, trace)

    def __call__(self, function: F) -> F:
        """Decorate a function: each of its calls is an attempt of its own."""
        name = f"{function.__module__}.{function.__qualname__}"
        task_id = self.task_id or _text(name, _MAX_LABEL)
        return observed(function, lambda: Attempt(task_id, self._fields))


def _is_clean_exit(error: BaseException) -> bool:
    """Whether this is a program or a generator that ends as it should."""
    if isinstance(error, SystemExit):
        return error.code in (None, 0)
    return isinstance(error, GeneratorExit)


def _particulars(args: object, error: object) -> dict[str, msgspec.Raw]:
    """Arguments and error as they are now: the agent may change them before the attempt ends."""
    given: dict[str, object] = {}
    if args is not None:
        given["args"] = args
    if error is not None:
        given["error"] = _text(error, _MAX_DETAILS)
    particulars: dict[str, msgspec.Raw] = {}
    for name, value in given.items():
        # What cannot be written, or is too long, is left out: the call itself counts.
        with suppress(Exception):
            written = encode_body({name: value})[len(name) + 4 : -1]
            if len(written) <= _MAX_PARTICULAR_BYTES:
                particulars[name] = msgspec.Raw(written)
    return particulars


def _text(value: object, longest: int) -> str:
    try:
        text = str(value)
    except Exception:  # noqa: BLE001 - the agent's own objects describe themselves here
        text = type(value).__qualname__
    # Text that is no text (a lone surrogate, a NUL) would cost the whole outcome.
    text = text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text if len(text) <= longest else text[: longest - 1] + "…"
