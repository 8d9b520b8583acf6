"""Tables of what is known of programs, formats and words: data in a file beside the modules.

`tables.toml` in a folder has a section for each module there that reads tables of it.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

_Kind = TypeVar("_Kind")


def entries(text: str) -> list[str]:
    """Return the entries of a text, each of one or several words, which a bar parts."""
    return [" ".join(each.split()) for each in text.split("|")]


class Tables:
    """The tables of one module.

    Args:
        module: the module's file.
    """

    def __init__(self, module: str) -> None:
        path = Path(module)
        self._held = _sections(path.with_name("tables.toml"))[path.stem]

    def in_order(self, name: str) -> tuple[str, ...]:
        """Return the words of a table, in their order."""
        return tuple(self._held[name].split())

    def words(self, name: str) -> frozenset[str]:
        """Return the words of a table."""
        return frozenset(self.in_order(name))

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


@cache
def _sections(file: Path) -> dict[str, dict[str, Any]]:
    return tomllib.loads(file.read_text(encoding="utf-8"))
