"""The steps of a command line: the commands that are run in the end, in order."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import msgspec

from .command_line import LONGEST, ShellCommand, commands_of
from .wrappers import operands_from, program, unwrapped, without_assignments

_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish"})
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
        writes: the files that its output is redirected to.
        reads: the text of its heredocs.
        joined: the operator between it and the next step.
        is_hidden: whether the line's exit status cannot be its own: its output is piped, or it
            stands in front of "||" or "&", or in a loop or a condition.
    """

    words: tuple[str, ...]
    writes: tuple[str, ...] = ()
    reads: str = ""
    joined: str = ""
    is_hidden: bool = False


# A line is asked for its name, its checks and its edits in turn.
@lru_cache(maxsize=128)
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
            fails_at_once |= any(_is_switch(word, "e") for word in words[1:])
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
    run = unwrapped(words)
    nested = _nested(run) if depth < _DEEPEST else ""
    if not nested:
        if run or command.writes:
            yield ShellStep(
                words=tuple(run),
                writes=tuple(command.writes),
                reads=command.reads,
                joined=joined,
                is_hidden=is_hidden,
            )
        return
    *before, last = tuple(_steps(nested, depth + 1)) or (ShellStep(words=tuple(run)),)
    for step in before:
        yield msgspec.structs.replace(step, is_hidden=step.is_hidden or is_hidden)
    yield msgspec.structs.replace(
        last,
        joined=joined,
        is_hidden=last.is_hidden or is_hidden,
        writes=(*last.writes, *command.writes),
    )


def _plain(words: list[str]) -> tuple[list[str], bool]:
    """Return a command without reserved words, and whether there were any."""
    is_compound = False
    while words and words[0] in _COMPOUND:
        words, is_compound = words[1:], True
    if words and words[0] in _NO_COMMAND:
        return [], True
    return words, is_compound


def _is_switch(word: str, letter: str) -> bool:
    return bool(_SWITCH.match(word)) and letter in word


def _nested(words: list[str]) -> str:
    """Return the line that a shell, `eval` or `ssh` is given; "" for any other command."""
    if not words:
        return ""
    name, rest = words[0], words[1:]
    if name in _SHELLS or name == "su":
        return _line_of(rest)
    if name == "eval":
        return " ".join(rest)
    if name == "nix-shell" or (name == "nix" and rest[:1] in (["develop"], ["shell"])):
        return _behind_option(rest)
    if name == "ssh":
        return " ".join(rest[operands_from(rest, _SSH_VALUED) + 1 :])
    return ""


def _behind_option(words: list[str]) -> str:
    """Return the line that is one word behind "--run", or the words behind "-c"."""
    for place, word in enumerate(words):
        if word in ("--run", "--command", "-c"):
            rest = words[place + 1 :]
            return rest[0] if word == "--run" and rest else " ".join(rest)
    return ""


def _line_of(words: list[str]) -> str:
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
    at = operands_from(list(rest), frozenset({"-X", "-W", "-r", "--require", "--import"}))
    if at >= len(rest) or any(word in ("-c", "-e", "-") for word in rest[:at]):
        return ""
    # They also run scripts of the package by their names, and have subcommands.
    return "" if is_runner and not _FILE.search(rest[at]) else program(rest[at])


_SCRIPT_RUNNERS: Final = frozenset({"bun", "deno"})
_FILE: Final = re.compile(r"[./]")
_INTERPRETERS: Final = _SHELLS | {
    "python", "node", "ruby", "perl", "php", "tsx", "ts-node", "deno", "bun", "source", ".",
}  # fmt: skip
