"""The scope of a check, so that a narrower check never replaces a wider one.

A scope is a set of targets (folders, files, single tests, packages, or the tasks of a runner) and a
set of filters, as `-k cart` is. Without targets a check runs on all of its folder. Only options
known to choose what is run are filters; how results are shown, or in how many processes it runs,
changes nothing.
"""

import posixpath
import re
from typing import Final

import msgspec

from trackrecord.learning.text.words import words_of

from ..tables import Tables

_TABLES: Final = Tables(__file__)
_ACTIONS: Final = _TABLES.words("actions")
_CHOOSES: Final = _TABLES.words("chooses")
_CHOOSES_NOT: Final = _TABLES.words("chooses_not")
_WIDENS: Final = frozenset({"--workspace", "--all", "--all-targets", "--all-features"})
_SHORT: Final = _TABLES.by_name("short")
_SHORT_OF_OTHERS: Final = frozenset({"-k", "-m", "-t", "-g", "-p", "-e", "-n", "-run"})
_FLAGS: Final = _TABLES.words("flags")
_VALUED: Final = _TABLES.words("valued")
_FOLDERS: Final = frozenset({"-C", "--prefix", "--cwd", "--dir", "--directory", "--test-dir"})
_ASSIGNED: Final = re.compile(r"[A-Za-z_]\w{0,63}=")
_NUMBER: Final = re.compile(r"\d+\Z")
# Everything behind one of these belongs to what stands before it.
_PARTS: Final = ("/", "::", ":", "#", "[", ".")
_EXACT: Final = "="
TASK_RUNNERS: Final = _TABLES.words("task_runners")
# A task that runs others on its way.
_RUNS_ALSO: Final = {
    "mvn": ("compile", "test-compile", "test", "package", "integration-test", "verify", "install"),
    "gradle": ("test", "check", "build"),
}
# They look at the folder that they are started in, and not at those below it.
_OF_FOLDER: Final = frozenset({"go", "cargo", "ctest", "cmake", "tox", "nox"})
# Their operands are parts of names.
_BY_NAME: Final = frozenset({"cargo"})


class CheckScope(msgspec.Struct, frozen=True, kw_only=True):
    """The targets that a check runs on.

    Attributes:
        program: what verifies; scopes of different programs have nothing in common.
        targets: paths, tests, packages or tasks; each includes what lies within it.
        filters: the options that choose among them.
        is_whole: whether it runs on all that its program would run on in its folder.
    """

    program: str
    targets: frozenset[str]
    filters: frozenset[str] = frozenset()
    is_whole: bool = False

    def covered_by(self, wider: "CheckScope") -> frozenset[str]:
        """Return those of its targets on which the other one runs as much, or more."""
        if wider.program != self.program or not wider.filters <= self.filters:
            return frozenset()
        return frozenset(
            mine for mine in self.targets if any(_includes(each, mine) for each in wider.targets)
        )


def _includes(wide: str, narrow: str) -> bool:
    if wide == narrow or wide in (".", "/"):
        return True
    if wide.startswith(_EXACT):
        return False
    narrow = narrow.removeprefix(_EXACT)
    if wide == narrow:
        return True
    return narrow.startswith(wide) and narrow.startswith(_PARTS, len(wide))


def scope_of(program: str, words: tuple[str, ...], folder: str, *, task: str = "") -> CheckScope:
    """Return the scope of a check.

    Args:
        program: the name that it is known by: "pytest", "cargo test", "script".
        words: the words behind the program's name.
        folder: where it runs; "" if unknown.
        task: the one task that a script runner runs; its operands are those of the script.
    """
    reader = _ScopeReader(program, folder)
    reader.read(words, skipped=len(program.split()) - 1)
    return reader.scope(task)


class _ScopeReader:
    def __init__(self, program: str, folder: str) -> None:
        self._program = program
        self._name = program.partition(" ")[0]
        self._folder = folder
        self._is_wide = False
        self._filters: set[str] = set()
        self._operands: list[str] = []

    def read(self, words: tuple[str, ...], skipped: int) -> None:
        at = 0
        while at < len(words):
            word = words[at]
            following = words[at + 1] if at + 1 < len(words) else ""
            at += 1
            if word.startswith("-") and len(word) > 1:
                at += self._option(word, following)
            elif skipped and not self._operands and word in self._program:
                skipped -= 1
            elif _ASSIGNED.match(word) or word.startswith("+"):
                self._filters.add(word)
            elif not _NUMBER.match(word):
                self._operands.append(word)

    def _option(self, word: str, following: str) -> int:
        """Take an option, and return how many words of value it has."""
        key, is_joined, value = word.partition("=")
        if key in _FOLDERS:
            self._folder = joined_folder(self._folder, value if is_joined else following)
            return 0 if is_joined else 1
        if key in _WIDENS and (self._name == "cargo" or key != "--workspace"):
            self._is_wide = True
            return 0
        if self._chooses(key):
            is_flag = bool(is_joined) or key in _FLAGS or key.startswith("-D")
            self._filters.add(word if is_flag else f"{key}={following}")
            return 0 if is_flag else 1
        return 1 if key in _VALUED and not is_joined and not following.startswith("-") else 0

    def _chooses(self, key: str) -> bool:
        if key.startswith("-D"):
            return "test" in key.lower()
        if not key.startswith("--") and key not in _FLAGS:
            return key in _SHORT.get(self._name, _SHORT_OF_OTHERS)
        if key in _FLAGS:
            return key.startswith("--") or key in _SHORT.get(self._name, _SHORT_OF_OTHERS)
        words = words_of(key)
        return bool(words & _CHOOSES) and not words & _CHOOSES_NOT

    def scope(self, task: str) -> CheckScope:
        program, operands = self._program, self._operands
        if task:
            program = f"{program} {task}@{self._folder}"
        elif self._name in TASK_RUNNERS:
            return self._tasks()
        elif operands and operands[0] in _ACTIONS:
            program, operands = f"{program} {operands[0]}", operands[1:]
        filters = self._filters
        if self._name in _BY_NAME and operands:
            filters, operands = filters | set(operands), []
        targets = {self._target(each) for each in operands} or {self._all()}
        return CheckScope(
            program=program,
            targets=frozenset(targets),
            filters=frozenset(filters),
            is_whole=not operands and not filters,
        )

    def _tasks(self) -> CheckScope:
        order = _RUNS_ALSO.get(self._name, ())
        tasks = {each.lstrip(":") for each in self._operands} - {"run", "run-many", "affected"}
        for task in [each for each in tasks if each in order]:
            tasks.update(order[: order.index(task)])
        where = f"@{self._folder}" if self._folder else ""
        targets = {_EXACT + each + where for each in tasks or {""}}
        return CheckScope(
            program=self._name,
            targets=frozenset(targets),
            filters=frozenset(self._filters),
            is_whole=not self._filters,
        )

    def _all(self) -> str:
        folder = self._folder or "."
        is_tree = self._name not in _OF_FOLDER or self._is_wide
        return folder if is_tree else f"{_EXACT}{folder}"

    def _target(self, operand: str) -> str:
        if operand.startswith(("//", "@", "~", "$")):
            return operand.removesuffix("/...").removesuffix("...") or "/"
        if self._name == "go" and not operand.endswith("..."):
            return _EXACT + joined_folder(self._folder, operand)
        return joined_folder(self._folder, operand.removesuffix("..."))


def joined_folder(folder: str, path: str) -> str:
    """Return a path as seen from where a folder is seen from."""
    if not path or path.startswith(("$", "~")):
        return path or folder
    return posixpath.normpath(posixpath.join(folder, path))
