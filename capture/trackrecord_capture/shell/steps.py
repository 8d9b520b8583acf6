"""The steps of a command line: the commands that are run in the end, in order."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import msgspec

from .command_line import LONGEST, ShellCommand, commands_of
from .wrappers import operands_from, program, unwrapped, without_assignments

_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish"})
# The line is run elsewhere, where other programs are installed.
_REMOTE: Final = frozenset({"ssh", "su"})
_SEVERAL_WORDS: Final = re.compile(r"\S\s+\S")
_DEEPEST: Final = 4
# Words in front of a command that make it a part of a compound one.
_COMPOUND: Final = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!"})
_NO_COMMAND: Final = frozenset({"for", "select", "case", "function", "done", "fi", "esac"})
_SSH_VALUED_TEXT: Final = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w"
_SSH_VALUED: Final = frozenset(_SSH_VALUED_TEXT.split())
_SWITCH: Final = re.compile(r"-[a-zA-Z]*o?[a-zA-Z]*\Z")


class ShellStep(msgspec.Struct, frozen=True, kw_only=True):
    """One command that is run in the end.

    Attributes:
        words: its words; the first is the program's plain name.
        launchers: what starts it, from the outside in: "docker compose exec", "uv run". Wrappers
            that only time or limit it are left out.
        writes: the files that its output is redirected to.
        reads: the text of its heredocs.
        joined: the operator between it and the next step.
        is_hidden: whether the line's exit status cannot be its own: its output is piped, or it
            stands in front of "||" or "&", or in a loop or a condition.
    """

    words: tuple[str, ...]
    launchers: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    reads: str = ""
    joined: str = ""
    is_hidden: bool = False


# A line is asked for its name, its checks and its edits in turn.
@lru_cache(maxsize=1024)
def steps_of(line: str) -> tuple[ShellStep, ...]:
    """Return the steps of a command line, those of a nested `bash -c "…"` among them."""
    return tuple(_steps(line, 0))


def _steps(line: str, depth: int) -> Iterator[ShellStep]:
    commands = commands_of(line)
    is_cut = len(line) > LONGEST
    fails_at_once, fails_in_pipe = False, False
    for command in commands:
        words, is_compound = _plain(command.words)
        if words[:1] == ["set"]:
            fails_at_once |= any(_SWITCH.match(word) and "e" in word for word in words[1:])
            fails_in_pipe |= "pipefail" in words
        is_hidden = is_compound or is_cut or command.hidden or (command.piped and not fails_in_pipe)
        # After "set -e" a ";" goes on only after a success, as "&&" does.
        joined = "&&" if fails_at_once and command.joined == ";" else command.joined
        if fails_in_pipe and joined == "|":
            joined = "&&"
        yield from _inner(command, words, joined, is_hidden=is_hidden, depth=depth)


def _inner(
    command: ShellCommand, words: list[str], joined: str, *, is_hidden: bool, depth: int
) -> Iterator[ShellStep]:
    if depth < _DEEPEST and (line := _substituted(words)):
        yield from _assigned(line, joined, is_hidden=is_hidden, depth=depth)
        return
    run, launchers = unwrapped(words)
    nested = _nested(run) if depth < _DEEPEST else ""
    if not nested:
        if run or command.writes:
            yield ShellStep(
                words=tuple(run),
                launchers=launchers,
                writes=tuple(command.writes),
                reads=command.reads,
                joined=joined,
                is_hidden=is_hidden,
            )
        return
    *before, last = tuple(_steps(nested, depth + 1)) or (ShellStep(words=tuple(run)),)
    if run[0] in _REMOTE:
        launchers = (*launchers, run[0])
    for step in before:
        yield msgspec.structs.replace(
            step,
            launchers=(*launchers, *step.launchers),
            is_hidden=step.is_hidden or is_hidden,
        )
    yield msgspec.structs.replace(
        last,
        launchers=(*launchers, *last.launchers),
        joined=joined,
        is_hidden=last.is_hidden or is_hidden,
        writes=(*last.writes, *command.writes),
    )


def _substituted(words: list[str]) -> str:
    """Return the line whose output a variable is set to: `out=$(pytest -q)`; "" if there is none.

    The exit status is that line's.
    """
    found = _SUBSTITUTED.fullmatch(words[-1]) if words else None
    if found is None or without_assignments(words):
        return ""
    return found[1] if found[1] is not None else found[2]


_SUBSTITUTED: Final = re.compile(r"[A-Za-z_]\w{0,127}\+?=(?:\$\((?!\()(.*)\)|`(.*)`)", re.DOTALL)
# No file: of what is kept in a variable, no more is seen than is printed later.
_VARIABLE: Final = "&variable"


def _assigned(line: str, joined: str, *, is_hidden: bool, depth: int) -> Iterator[ShellStep]:
    steps = tuple(_steps(line, depth + 1))
    for place, step in enumerate(steps, start=1):
        yield msgspec.structs.replace(
            step,
            writes=(*step.writes, _VARIABLE),
            joined=joined if place == len(steps) else step.joined,
            is_hidden=step.is_hidden or is_hidden,
        )


def _plain(words: list[str]) -> tuple[list[str], bool]:
    """Return a command without reserved words, and whether there were any."""
    is_compound = False
    while words and words[0] in _COMPOUND:
        words, is_compound = words[1:], True
    if words and words[0] in _NO_COMMAND:
        return [], True
    return words, is_compound


def _nested(words: list[str]) -> str:
    """Return the line that a shell, `eval` or `ssh` is given; "" for any other command."""
    if not words:
        return ""
    name, rest = words[0], words[1:]
    if _SEVERAL_WORDS.search(name) and not name.startswith(("/", "$")):
        return name  # `rtk test "cargo test"`, `script -qc "pytest -q" /dev/null`
    if name in _SHELLS or name in ("su", "runuser"):
        return _line_of(rest)
    if name == "eval":
        return " ".join(rest)
    if name == "ssh":
        return " ".join(rest[operands_from(rest, _SSH_VALUED) + 1 :])
    return ""


def _line_of(words: list[str]) -> str:
    if len(words) > 1 and not words[0].startswith("-") and words[1] in ("-c", "--command"):
        words = words[1:]  # `su postgres -c "…"`
    for place, word in enumerate(words):
        if word == "--command" or (_SWITCH.match(word) and "c" in word):
            options = without_assignments(words[place + 1 :])
            prefix = "set -o pipefail; " if "pipefail" in words[: place + 1] else ""
            return prefix + options[0] if options else ""
        if not word.startswith(("-", "+")) and word not in ("pipefail", "errexit"):
            break
    return ""


def script_of(step: ShellStep) -> str:
    """Return the script that an interpreter is given, or that is run by its own name."""
    if not step.words:
        return ""
    if step.words[0].endswith((".py", ".sh", ".js", ".ts", ".rb", ".pl", ".mjs", ".bash")):
        return program(step.words[0])
    if step.words[0] not in _INTERPRETERS:
        return ""
    rest = step.words[1:]
    is_runner = step.words[0] in _SCRIPT_RUNNERS
    if is_runner and rest[:1] == ("run",):
        rest = rest[1:]
    at = operands_from(list(rest), _VALUED)
    if at >= len(rest) or not _INLINE.isdisjoint(rest[:at]):
        return ""
    # They also run scripts of the package by their names, and have subcommands.
    return "" if is_runner and not _FILE.search(rest[at]) else program(rest[at])


_SCRIPT_RUNNERS: Final = frozenset({"bun", "deno"})
_VALUED: Final = frozenset({"-X", "-W", "-r", "--require", "--import"})
_INLINE: Final = frozenset({"-", "-c", "-e", "-p", "-pe", "--eval", "--print"})
_FILE: Final = re.compile(r"[./]")
_INTERPRETERS: Final = _SHELLS | {
    "python", "node", "ruby", "perl", "php", "tsx", "ts-node", "deno", "bun", "source", ".",
}  # fmt: skip
