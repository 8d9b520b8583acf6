"""Wrappers: commands that run another command, and how to find it among their words."""

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from ..tables import Tables, entries

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w{0,127}(?:\[[^\]]{0,64}\])?\+?=")
_VERSION: Final = re.compile(r"(?<=[a-z])-?\d[\d.]*\Z")
_VERSIONED: Final = frozenset({"python", "pythonw", "pip", "pypy", "node", "ruby", "php", "lua"})
_TABLES: Final = Tables(__file__)
_ALIASES: Final = _TABLES.read("aliases", dict[str, str])


class Wrapper(msgspec.Struct, frozen=True):
    """The syntax of a wrapper, for looking through it.

    Attributes:
        valued: its options whose value is a word of its own.
        operands: how many of its own operands stand before the command.
        dashes: whether the command only begins behind "--".
        behind: the option or the word that the command stands behind; "" if there is none.
        is_neutral: whether a command that starts without it starts with it, too, and the other way
            round: it only times, limits or repeats the command.
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0
    dashes: bool = False
    behind: frozenset[str] = frozenset()
    is_neutral: bool = False


def _in_table(told: dict[str, Any]) -> Wrapper:
    options = {name: told[name].split() for name in ("valued", "behind") if name in told}
    return msgspec.convert(told | options, Wrapper)


# By the wrapper's own words.
WRAPPERS: Final = {
    tuple(name.split()): _in_table(told)
    for told in _TABLES.read("wrappers", list[dict[str, Any]])
    for name in entries(told["names"])
}
_LONGEST_KEY: Final = max(map(len, WRAPPERS))
_GLOBAL_VALUED: Final = _TABLES.words("global_valued")
_PYTHON_VALUED: Final = frozenset({"-X", "-W"})
_MOST_LAYERS: Final = 8


# The same few programs, asked for by every layer of a command.
@lru_cache(maxsize=1024)
def program(word: str) -> str:
    """Return a program's plain name: without its path, its version and ".exe"."""
    folder, _, name = word.replace("\\", "/").rstrip("/").rpartition("/")
    name = name.removesuffix(".exe")
    plain = _VERSION.sub("", name)
    if plain in _VERSIONED:
        name = plain
    if name == "test" and folder and folder not in _OF_SYSTEM:  # a script of the project's own
        return name
    return _ALIASES.get(name, name)


_OF_SYSTEM: Final = frozenset({"/bin", "/usr/bin"})


class Unwrapped(NamedTuple):
    """A command without what is wrapped around it.

    Attributes:
        words: the command that is run in the end, its program's plain name first.
        launchers: what starts it, from the outside in: "uv run", "python -m", ".venv/bin".
    """

    words: list[str]
    launchers: tuple[str, ...] = ()


def unwrapped(words: list[str]) -> Unwrapped:
    """Return the command that is run in the end, and the wrappers around it."""
    launchers: list[str] = []
    for _ in range(_MOST_LAYERS):
        words = without_assignments(words)
        if not words:
            return Unwrapped([], tuple(launchers))
        launcher, inner = _inside(words)
        if not inner or _is_script(words, inner):
            break
        if launcher:
            launchers += [*_folder_of(words[0]), launcher]
        words = inner
    return Unwrapped([program(words[0]), *words[1:]], (*launchers, *_folder_of(words[0])))


def _folder_of(word: str) -> list[str]:
    """Return the folder that a program is started from; none if it is found on the PATH."""
    folder = word.replace("\\", "/").rpartition("/")[0]
    if not folder or folder in _OF_SYSTEM or len(folder) > _LONGEST_FOLDER:
        return []
    # What lies above it differs from one machine to the next.
    return ["/".join(folder.split("/")[-2:]) if folder.startswith(("/", "~", "$")) else folder]


_LONGEST_FOLDER: Final = 128


def _is_script(words: list[str], inner: list[str]) -> bool:
    """Return whether a runner's argument is a script of the project, not a program."""
    if inner[0] == "test" and words[0].rpartition("/")[2] in _WITH_TESTS:
        return True
    first = next((word for word in inner if not word.startswith("+")), "")
    return words[1:2] == ["run"] and (first == "test" or ":" in first)


# "test" is a command of their own.
_WITH_TESTS: Final = frozenset({"ddev", "lando", "sail"})


def without_assignments(words: list[str]) -> list[str]:
    """Return a command without the variables that are set in front of it."""
    first = 0
    while first < len(words) and _ASSIGNMENT.match(words[first]):
        first += 1
    return words[first:]


def operands_from(words: list[str], valued: frozenset[str]) -> int:
    """Return where options end and operands begin; behind "--" everything is an operand."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        if words[at] == "--":
            return at + 1
        at += 2 if words[at] in valued else 1
    return at


def _inside(words: list[str]) -> tuple[str, list[str]]:
    """Return the outermost wrapper, "" if it changes nothing, and the command in it, [] if none."""
    name = program(words[0])
    if name == "python" or (words[0].startswith("$") and words[1:2] == ["-m"]):
        return "python -m", _module(words[1:])
    if name in _RUNS_PACKAGE and (package := _package(name, words[1:])):
        return f"{name} run", package
    key, rest = _wrapper([name, *words[1:]])
    if not key or (name in _ASKS and rest[:1] and rest[0] in _ASKS[name]):
        return "", []
    wrapper, launcher = WRAPPERS[key], " ".join(key)
    if key in _RUNS_MODULE and (module := _module(rest)):
        return launcher, module
    return "" if wrapper.is_neutral else launcher, _behind(wrapper, rest)


_RUNS_MODULE: Final = frozenset({("coverage", "run"), ("uv", "run"), ("slipcover",)})
# With these options a wrapper only says what a program is.
_ASKS: Final = {"command": frozenset({"-v", "-V", "-pv"})}
_RUNS_PACKAGE: Final = frozenset({"go", "deno"})
_PACKAGE_NAME: Final = re.compile(
    r"(?:npm:)?(?:[\w.@-]+/)*?([\w.-]{2,64})(?:/v\d+)?(?:@[\w.^~-]+)?\Z"
)


def _package(name: str, words: list[str]) -> list[str]:
    """Return the program of a package that `go run` or `deno run` fetches: `go run x/y/z@v1`."""
    if words[:1] != ["run"]:
        return []
    at = 1 + operands_from(words[1:], frozenset())
    address = words[at] if at < len(words) else ""
    is_package = address.startswith("npm:") if name == "deno" else "@" in address
    found = _PACKAGE_NAME.match(address) if is_package else None
    return [found[1], *words[at + 1 :]] if found else []


def _wrapper(words: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Find the longest wrapper at the beginning of the words; options may come in between."""
    known = ((words[0],), words[1:]) if (words[0],) in WRAPPERS else ((), [])
    if words[0] not in _FIRST_WORDS:
        return known
    key, at = [words[0]], 1
    while len(key) < _LONGEST_KEY:
        at += operands_from(words[at:], _GLOBAL_VALUED)
        if at >= len(words):
            break
        key.append(words[at])
        at += 1
        if tuple(key) in WRAPPERS and words[at:]:
            return tuple(key), words[at:]
    return known


_FIRST_WORDS: Final = frozenset(key[0] for key in WRAPPERS if len(key) > 1)


def _behind(wrapper: Wrapper, rest: list[str]) -> list[str]:
    if wrapper.dashes:
        return rest[rest.index("--") + 1 :] if "--" in rest else []
    if wrapper.behind:
        place = next((at for at, word in enumerate(rest) if word in wrapper.behind), len(rest))
        return rest[place + 1 :]
    rest = rest[operands_from(rest, wrapper.valued) :]
    rest = without_assignments(rest)[wrapper.operands :]
    return rest[1:] if rest[:1] == ["--"] else rest


def _module(words: list[str]) -> list[str]:
    """Return the module after "-m", if only options come before it."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-m":
            return words[at + 1 :]
        if words[at] == "-c":
            return []
        at += 2 if words[at] in _PYTHON_VALUED else 1
    return []
