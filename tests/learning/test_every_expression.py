"""Every regular expression of the product takes time in proportion to the text, whatever that is.

They are found, not listed: what a module names, and what stands in its tables.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from re import _parser  # type: ignore[attr-defined] # knows what an expression is made of
from typing import Any

import pytest

from tests.support.growth import grows_by_at_most, repeated
from trackrecord.learning.text.lazy_regex import LazyRegex

pytestmark = pytest.mark.linear_time

PACKAGES = (
    "trackrecord", "trackrecord_producers", "trackrecord_worker", "trackrecord_consolidation",
    "trackrecord_capture", "trackrecord_door", "trackrecord_cli",
)  # fmt: skip
# Programs of their own, and what only runs within Alembic.
NOT_IMPORTED = re.compile(r"\.__main__|\.migrations\b|agents\.hook$|script")
# Where the caller sees to it that a text is short, or has no long runs of blanks.
CUT = frozenset(
    {
        ("trackrecord.learning.advice.moments.calls", "_SHOWS"),  # told_line: 300 characters
        ("trackrecord_capture.sources.exit_statuses", "_LAST_LINE"),  # the last 200 characters
        ("trackrecord_capture.call_fields", "_BLANK_LINES"),  # _clean: blanks are one by then
    }
)
# Reached by a table or a loop's variable, and only where a text or a word begins.
MATCHED = frozenset(
    {
        ("trackrecord_capture.shell.edits", "_CHANGE_WITH"),
        ("trackrecord_capture.sources.codex.turns", "_NO_PATCH"),
        ("trackrecord_capture.sources.codex.turns", "_UNFIT"),
        ("trackrecord_capture.verdict.phrases", "_WRONG"),
    }
)
PIECES = ("a", "A", "1", "_", " ", "\n", " \n", "-", ".", "/", "a ", "a.", "1 ", "'", "\\", "一")
SHORT, LONG = 500, 4000


@cache
def modules() -> dict[str, Any]:
    """All modules of the product, by their names."""
    found = {}
    for package in map(importlib.import_module, PACKAGES):
        found[package.__name__] = package
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not NOT_IMPORTED.search(each.name):
                found[each.name] = importlib.import_module(each.name)
    return found


def within(value: Any, depth: int = 4) -> Iterator[re.Pattern[Any]]:
    """Yield the expressions in a value, also in tables and structs."""
    if isinstance(value, LazyRegex):
        value = value.compiled()
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, (tuple, list, set, frozenset)):
        for each in value:
            yield from within(each, depth - 1)
    elif depth and isinstance(value, dict):
        yield from within((*value.keys(), *value.values()), depth - 1)
    elif depth and not isinstance(value, type):
        names = getattr(value, "__dataclass_fields__", getattr(value, "__struct_fields__", ()))
        yield from within([getattr(value, name, None) for name in names], depth - 1)


@cache
def expressions() -> dict[tuple[Any, int], tuple[str, str]]:
    """Each expression, with the module and the name that it was found under first."""
    found: dict[tuple[Any, int], tuple[str, str]] = {}
    for module in modules().values():
        for name, value in vars(module).items():
            for each in within(value):
                found.setdefault((each.pattern, each.flags), (module.__name__, name))
    return found


@cache
def uses() -> dict[tuple[str, str], set[str]]:
    """By module and name, the methods of expressions that are called on what has it.

    A name without an underscore is one of all modules.
    """
    method = re.compile(r"\b(\w+)\.(match|fullmatch|search|subn?|split|findall|finditer)\b")
    found: dict[tuple[str, str], set[str]] = {}
    for module in modules().values():
        for name, used in method.findall(Path(module.__file__).read_text()):
            where = module.__name__ if name.startswith("_") else ""
            found.setdefault((where, name), set()).add(used)
    return found


def literals(parsed: Any) -> Iterator[str]:
    """Yield the literal texts of an expression."""
    run = ""
    for operation, given in parsed:
        if str(operation) == "LITERAL":
            run += chr(given)
            continue
        yield run
        run = ""
        for part in PARTS.get(str(operation), lambda _: ())(given):
            yield from literals(part)
    yield run


# By operation, what it is made of; of a set of characters, one of them.
PARTS: dict[str, Callable[[Any], Sequence[Any]]] = {
    "MAX_REPEAT": lambda given: [given[2]],
    "MIN_REPEAT": lambda given: [given[2]],
    "POSSESSIVE_REPEAT": lambda given: [given[2]],
    "SUBPATTERN": lambda given: [given[3]],
    "BRANCH": lambda given: given[1],
    "ASSERT": lambda given: [given[1]],
    "ASSERT_NOT": lambda given: [given[1]],
    "ATOMIC_GROUP": lambda given: [given],
    "IN": lambda given: [[each] for each in given if str(each[0]) == "LITERAL"][:1],
}


def ways(pattern: re.Pattern[Any], where: tuple[str, str]) -> list[Any]:
    """Return the ways in which the product uses an expression of a module and a name."""
    if where in MATCHED:
        return [pattern.match]
    module, name = where
    named = uses().get((module if name.startswith("_") else "", name), {"search", "match"})
    wanted = [getattr(pattern, each) for each in ("match", "fullmatch", "search") if each in named]
    if named - {"match", "fullmatch", "search"}:
        nothing = b"" if isinstance(pattern.pattern, bytes) else ""
        wanted.append(lambda text: pattern.sub(nothing, text))
    return wanted


def is_linear(pattern: re.Pattern[Any], where: tuple[str, str]) -> bool:
    is_bytes = isinstance(pattern.pattern, bytes)
    parsed = _parser.parse(
        pattern.pattern, pattern.flags & ~re.UNICODE if is_bytes else pattern.flags
    )
    pieces = dict.fromkeys((*PIECES, *list(dict.fromkeys(filter(None, literals(parsed))))[:16]))

    def text(piece: str, length: int) -> Any:
        made = repeated(piece, length)
        return made.encode() if is_bytes else made

    used = ways(pattern, where)
    return all(
        grows_by_at_most(LONG / SHORT, way, short=text(piece, SHORT), long=text(piece, LONG))
        for piece in pieces
        for way in used
    )


def test_they_are_found():
    """In all packages, also in tables."""
    names = set(expressions().values())
    assert len(names) > 200
    assert ("trackrecord.learning.text.redaction", "OPTIONS") in names


@pytest.mark.parametrize("package", PACKAGES)
def test_each_is_linear(package):
    """In a text of any one piece, among them those that stand in the expression."""
    slow = [
        where
        for (pattern, flags), where in expressions().items()
        if where[0].partition(".")[0] == package
        and where not in CUT
        and not is_linear(re.compile(pattern, flags), where)
    ]
    assert slow == []
