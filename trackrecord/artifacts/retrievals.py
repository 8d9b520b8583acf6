"""Track within one call of a tool whether it retrieved an artifact."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class OngoingCall:
    """One call of a wrapped tool.

    Attributes:
        within: the wrapped tool that calls it, if any.
        has_retrieved: whether it asked for an artifact.
    """

    within: "OngoingCall | None"
    has_retrieved: bool = False


_current: ContextVar[OngoingCall | None] = ContextVar("trackrecord_tool_call", default=None)


@contextmanager
def tool_call() -> Iterator[OngoingCall]:
    """Treat the block as one call of a tool, with the tasks and threads that get its context."""
    call = OngoingCall(_current.get())
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)


def note_retrieval() -> None:
    """Note that the current tool call and those around it return retrieved content."""
    call = _current.get()
    while call is not None:
        call.has_retrieved = True
        call = call.within
