"""Fixtures shared by one folder: made for its first test, ended after its last.

pytest has no such scope. What is made for a session lives until all folders have had their turn,
and a daemon that is up costs processor time for as long as it lives.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

import pytest

Shared = TypeVar("Shared")


def shared_in(
    folder: Path,
    request: pytest.FixtureRequest,
    key: pytest.StashKey[Shared],
    make: Callable[[], AbstractContextManager[Shared]],
) -> Shared:
    """Return what the folder's tests share in this process; the first one to ask for it makes it.

    Args:
        folder: the folder; its subfolders belong to it.
        request: of a fixture whose scope is a module or less.
        key: under which it is kept.
        make: makes it, and ends it. What is made last is ended first.
    """
    (node,) = [parent for parent in request.node.iter_parents() if parent.path == folder]
    if key not in node.stash:
        made = make()
        node.stash[key] = made.__enter__()

        def end() -> None:
            del node.stash[key]
            made.__exit__(None, None, None)

        node.addfinalizer(end)
    shared: Shared = node.stash[key]
    return shared
