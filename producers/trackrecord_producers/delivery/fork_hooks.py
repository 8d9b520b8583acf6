"""Hooks that run in a child process right after a fork, in a fixed order.

A child has a copy of its parent's memory, but none of its threads. Every module that keeps state
for the whole process registers here how that state begins anew in a child.
"""

import os
import weakref
from collections.abc import Callable
from enum import IntEnum
from typing import Protocol

# Registers the guard that a fork takes first: hooks of a child run in the order of registration.
import trackrecord.process.forking  # noqa: F401 - for the order of the hooks


class HookStep(IntEnum):
    """The order of hooks; hooks of one step run in the order of their registration."""

    LOCKED_FILES = 1  # before anything opens a file of its own
    IDS = 2  # before anything takes an id
    PROCESS_EXIT = 3
    WRITERS = 4
    READERS = 5
    COUNTS = 6


class Renewable(Protocol):
    """An object whose state belongs to one process."""

    def begin_in_child(self) -> None:
        """Start again; called by the only thread of the new process."""


_functions: list[tuple[HookStep, Callable[[], None]]] = []
_objects: dict[HookStep, weakref.WeakSet[Renewable]] = {
    step: weakref.WeakSet() for step in HookStep
}


def call_in_child(step: HookStep, function: Callable[[], None]) -> None:
    """Call a function in each child that is forked from now on."""
    _functions.append((step, function))


def renew_in_child(step: HookStep, renewable: Renewable) -> None:
    """Renew an object in each child, as long as something else keeps it alive."""
    _objects[step].add(renewable)


def _begin_in_child() -> None:
    for step in HookStep:
        for at, function in _functions:
            if at is step:
                function()
        for renewable in list(_objects[step]):
            renewable.begin_in_child()


os.register_at_fork(after_in_child=_begin_in_child)
