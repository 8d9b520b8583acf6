"""Values that hold inside a block of code, in whichever thread or task runs it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

T = TypeVar("T")


class Scoped(Generic[T]):
    """A value that holds in a `with` block; blocks nest.

    Inside, the innermost block of the same thread or task counts. A thread that has none of its
    own gets the value of the block that was opened last, so that threads started inside a block
    belong to it.

    Args:
        name: the name of the context variable, for debugging.
    """

    def __init__(self, name: str) -> None:
        self._open: list[T] = []
        self._current: ContextVar[T | None] = ContextVar(name, default=None)

    def get(self) -> T | None:
        """Return the current value; None outside of any block."""
        if not self._open:
            return None
        current = self._current.get()
        # A task that outlives the block in which it was created still has that block's context.
        is_open = any(current is value for value in self._open)
        return current if is_open else self._open[-1]

    @contextmanager
    def within(self, value: T) -> Iterator[T]:
        """Set the value for the duration of the block."""
        outer = self._current.get()
        self._current.set(value)
        self._open.append(value)
        try:
            yield value
        finally:
            self._open = [other for other in self._open if other is not value]
            # Not by a token: a fixture's end may run in another context than its beginning.
            self._current.set(outer)
