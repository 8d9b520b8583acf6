"""The tables of programs, their options and the words of tasks, which stand in `tables.toml`."""

import tomllib
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

_FILE: Final = Path(__file__).with_name("tables.toml")
_TABLES: Final = tomllib.loads(_FILE.read_text(encoding="utf-8"))
_Kind = TypeVar("_Kind")


def entries(text: str) -> list[str]:
    """Return the entries of a text, each of one or several words, which a bar parts."""
    return [" ".join(each.split()) for each in text.split("|")]


class Tables:
    """The tables of one module.

    Args:
        module: the module's name.
    """

    def __init__(self, module: str) -> None:
        self._held: dict[str, Any] = _TABLES[module.rpartition(".")[2]]

    def words(self, name: str) -> frozenset[str]:
        """Return the words of a table."""
        return frozenset(self._held[name].split())

    def phrases(self, name: str) -> frozenset[str]:
        """Return the entries of a table, some of them of several words."""
        return frozenset(entries(self._held[name]))

    def by_name(self, name: str) -> dict[str, frozenset[str]]:
        """Return the words of each name in a table."""
        held = self._held[name].items()
        return {each: frozenset(text.split()) for names, text in held for each in entries(names)}

    def read(self, name: str, kind: type[_Kind]) -> _Kind:
        """Return a table as a type."""
        return msgspec.convert(self._held[name], kind)
