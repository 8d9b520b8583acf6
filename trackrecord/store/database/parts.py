"""Long lists of keys, in parts that one statement takes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar

from sqlalchemy import Column, Connection, delete

_Key = TypeVar("_Key")
_Project = TypeVar("_Project", int, str)

AT_ONCE: Final = 500
"""The most keys that one statement names: far below the number of parameters it may have."""


def in_parts(keys: Iterable[_Key], most: int = AT_ONCE) -> Iterator[list[_Key]]:
    """Split keys into parts of at most `most`, in their order."""
    every = list(keys)
    return (every[start : start + most] for start in range(0, len(every), most))


def in_parts_by_project(
    keys: Iterable[tuple[_Project, str]],
) -> Iterator[tuple[_Project, list[str]]]:
    """Split names that are given with their projects: each part is of one project, and sorted."""
    by_project: defaultdict[_Project, list[str]] = defaultdict(list)
    for project_id, name in sorted(keys):
        by_project[project_id].append(name)
    for project_id, names in by_project.items():
        for some in in_parts(names):
            yield project_id, some


def delete_named(
    connection: Connection, project_id: int, column: Column[Any], keys: Iterable[Any]
) -> None:
    """Delete a project's rows that have one of some keys in a column of their table."""
    own = column.table.c.project_id == project_id
    for some in in_parts(keys):
        connection.execute(delete(column.table).where(own, column.in_(some)))
