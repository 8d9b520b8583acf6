"""Find the steps of a command line that change files of the work.

Programs are in small tables; of runners of tasks and of programs with subcommands the word decides
that they are told, as "fmt" or "generate", and of linters and the like the option, as "--fix".
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import filterfalse, pairwise
from typing import Final

from trackrecord.learning.text.words import words_of

from ..tables import Tables
from .names import LOOKS, TAKES_NAMES, TRIVIAL, leading_operands, step_name
from .scopes import TASK_RUNNERS
from .steps import ShellStep, script_of, steps_of
from .wrappers import unwrapped

_TABLES: Final = Tables(__file__)
CHANGES: Final = _TABLES.words("changes")
_CHANGING: Final = _TABLES.words("changing")
_LOOKING: Final = _TABLES.words("looking")
_PACKAGE_MANAGERS: Final = _TABLES.words("package_managers")
# More than one word is a task, or a program's own word.
_RUNS_OTHERS: Final = TASK_RUNNERS | {"pnpm", "yarn"}
_ADDS: Final = _TABLES.words("adds")
# They change the manifest if they are told a package.
_INSTALLS: Final = frozenset({"install", "i"})
_GROUPS: Final = frozenset({"pub", "workspace", "workspaces"})
_AUDIT_FIX: Final = ["audit", "fix"]
_OF_SCRIPTS: Final = frozenset({"bun", "npm", "pipenv", "pnpm"})
_OUTSIDE: Final = TAKES_NAMES | TRIVIAL | LOOKS | _TABLES.words("outside")
_WRITING: Final = _TABLES.words("writing")
# Short ones, behind the name of the program.
_IN_PLACE: Final = re.compile(
    r"(?:g?sed|ruby) -[a-zA-Z]*i|perl -(?![MI])[a-zA-Z0-9]*i|g?awk -?i?inplace\Z|find -delete\Z"
    r"|(?:yq|autoflake|comby) -i(?:n-place)?\Z|tar (?:-?[a-wyzA-Z]*x[a-zA-Z]*\Z|--extract)"
    r"|(?:rubocop|standardrb) -[aA]\Z|(?:2to3|codespell|golines|gofmt|goimports|gofumpt|shfmt) -w\Z"
    r"|(?:jest|vitest|ncu|npm-check-updates) -u\Z|(?:ast-grep|sg) -U\Z"
)
_FORMATTERS: Final = _TABLES.phrases("formatters")
_ONLY_CHECKS: Final = re.compile(
    r"\S+ (?:-?-check|(?:--diff|--dry-run|--list-different|--verify-no-changes|--lint|--test"
    r"|--set-exit-if-changed|check|lint)\Z)|(?:gofmt|goimports|gofumpt|shfmt) -[ld]\Z"
    r"|(?:isort|prettier|stylua) -c\Z|prettier -l\Z|clang-format -n\Z|yapf -d\Z"
)
# Options by which a download is given the name of its file, or takes the one of its address.
_NAMES_FILE: Final = {
    "curl": re.compile(r"-[a-zA-Z]*[oOJ]\Z|--output|--remote-name"), "wget": re.compile(""),
}  # fmt: skip
_TO_FILE: Final = re.compile(r"-[a-zA-Z]*[oOP]\Z|--output")
# Without these words; `wget -qO-` prints what it fetches.
_FETCHES: Final = re.compile(r"(?!-[a-zA-Z]*O-|--spider)")
_GIT: Final = _TABLES.words("git")
_GIT_VALUED: Final = frozenset({"-C", "-c", "--git-dir", "--work-tree"})
_GIT_KEEPS: Final = _TABLES.by_name("git_keeps")
_RESETS: Final = frozenset({"--hard", "--merge", "--keep"})
# A script that is given in the line itself, and writes.
_WRITES: Final = re.compile(
    r"\bopen\([^\n)]{0,200},\s*(?:mode\s*=\s*)?[rbf]{0,2}['\"][rb]?[wax]|\.write_(?:text|bytes)\("
    r"|\bwriteFile(?:Sync)?\(|\bFile\.write\(|\bfs\.(?:write|append|rename|unlink|rm)"
    r"|\bos\.(?:remove|rename|replace|unlink)\(|\bshutil\.(?:move|copy|rmtree)|\bfile_put_contents\("
)
_LONGEST_SCRIPT: Final = 64 * 1024
_INLINE: Final = frozenset({"python", "node", "ruby", "perl", "php", "bun", "deno"})
_NO_FILE: Final = re.compile(r"/dev/|&|\d+\Z|-\Z")


# The first edit of a run, the last one and all of them are sought in turn.
@lru_cache(maxsize=1024)
def edits_of(line: str) -> tuple[tuple[int, str], ...]:
    """Return which steps of a command line change files, and the files.

    Each is the position of a step and a file as the line names it; "" stands for files that the
    line does not name. A program of which nothing is known changes none.
    """
    return tuple(
        (place, file)
        for place, step in enumerate(steps_of(line))
        for file in (*filterfalse(_NO_FILE.match, step.writes), *step_edits(step))
    )


def is_formatter(step: ShellStep) -> bool:
    """Return whether a step runs a program that formats files or checks their format."""
    return not _FORMATTERS.isdisjoint((step.words[0], " ".join(step.words[:2])))


def step_edits(step: ShellStep) -> tuple[str, ...]:
    """Return the files that a step's own command changes, as `edits_of` does."""
    if not step.words:
        return ()
    name, rest = step.words[0], step.words[1:]
    if name in CHANGES:
        return () if name == "sd" and "-p" in rest else _files(rest)
    if name in _NAMES_FILE:
        return tuple(_downloaded(name, rest))
    if name == "git":
        return ("",) if _git_changes(list(rest)) else ()
    if not _changes(step):
        return ()
    is_outside = _edits_in_place(step) and rest[-1].startswith(("/", "~"))
    return rest[-1:] if is_outside else ("",)


def _edits_in_place(step: ShellStep) -> bool:
    """Return whether a program has the short option with which it changes files."""
    return any(_IN_PLACE.match(f"{step.words[0]} {word}") for word in step.words[1:])


def _changes(step: ShellStep) -> bool:
    """Return whether a step changes files of which it names none."""
    name, rest = step.words[0], step.words[1:]
    if _edits_in_place(step) or (name == "find" and any(map(step_edits, _executed(rest)))):
        return True
    if name in _OUTSIDE:
        return False
    if _writes(rest) or (name in _INLINE and _script_writes(step)):
        return True
    if is_formatter(step):
        return not any(_ONLY_CHECKS.match(f"{name} {word}") for word in rest)
    return _is_told_to(step)


def _writes(rest: tuple[str, ...]) -> bool:
    """Return whether a program has a long option with which it writes files."""
    options = (words_of(word) for word in rest if word.startswith("--") and word[:5] != "--no-")
    return any(words & _WRITING and not words & _LOOKING for words in options)


def _is_told_to(step: ShellStep) -> bool:
    """Return whether a task, a subcommand, a script or the program is one that changes files."""
    operands = leading_operands(list(step.words[1:]))
    if step.words[0] in _PACKAGE_MANAGERS and _manages(step.words[0], operands):
        return True
    is_several = step.words[0] in _RUNS_OTHERS or operands[:1] == ["mod"]
    told = [script_of(step), step_name(step), *operands[: None if is_several else 1]]
    # "Format-Table" is of another kind of shell.
    words = words_of(" ".join(told)) if told[1][:1].islower() else frozenset[str]()
    is_only_check = any(word[:1] == "-" and _ONLY_CHECKS.match(f"- {word}") for word in step.words)
    return bool(words & _CHANGING) and not words & _LOOKING and not is_only_check


def _manages(program: str, operands: list[str]) -> bool:
    """Return whether a package manager changes what the project needs."""
    if operands and operands[0] in _INSTALLS:
        return program in _OF_SCRIPTS and len(operands) > 1
    is_grouped = operands[:1] and operands[0] in _GROUPS
    return not _ADDS.isdisjoint(operands[: 3 if is_grouped else 1]) or operands[:2] == _AUDIT_FIX


def _executed(words: tuple[str, ...]) -> Iterator[ShellStep]:
    """Yield the commands that `find` runs."""
    for at, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok"):
            yield ShellStep(words=tuple(unwrapped(list(words[at + 1 :])).words))


def _downloaded(name: str, rest: tuple[str, ...]) -> Iterator[str]:
    """Yield the files that are fetched; "" for one that is named after its address."""
    if all(map(_FETCHES.match, rest)) and any(map(_NAMES_FILE[name].match, rest)):
        named = [
            file
            for option, file in pairwise(rest)
            if _TO_FILE.match(option) and not (name == "curl" and option.endswith("O"))
        ]
        yield from (file for file in named or [""] if not _NO_FILE.match(file))


def _files(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if word and not word.startswith("-")) or ("",)


def _git_changes(rest: list[str]) -> bool:
    asked, options = git_command(rest)
    if asked == "reset":
        return not _RESETS.isdisjoint(options)
    return asked in _GIT and _GIT_KEEPS.get(asked, frozenset()).isdisjoint(options)


def git_command(rest: list[str]) -> tuple[str, list[str]]:
    """Return the subcommand of git, and the words after it."""
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        at += 2 if rest[at] in _GIT_VALUED else 1
    return (rest[at], rest[at + 1 :]) if at < len(rest) else ("", [])


def _script_writes(step: ShellStep) -> bool:
    given = step.reads
    for place, word in enumerate(step.words[1:-1], start=1):
        if word in ("-c", "-e", "--eval"):
            given += step.words[place + 1]
    return bool(_WRITES.search(given[:_LONGEST_SCRIPT]))
