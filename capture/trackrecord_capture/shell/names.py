"""Names of the commands of a line: "pytest", "cargo test", "npm build".

A name is a program, and for programs that do many things also what it is asked to do.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from trackrecord.learning.competences.episodes.checks import is_check

from ..tables import Tables
from .programs import purpose_of_program
from .steps import ShellStep, script_of
from .wrappers import operands_from

_TABLES: Final = Tables(__file__)
_ASKED: Final = _TABLES.words("asked")
_RUNS_SCRIPT: Final = _TABLES.by_name("runs_script")
_SAME: Final = _TABLES.read("same", dict[str, str])
_SEVERAL: Final = _TABLES.words("several")
_TWO_WORDS: Final = frozenset({("docker", "compose"), ("podman", "compose"), ("uv", "pip")})
_VALUED: Final = _TABLES.words("valued")
# Scripts of frameworks that are told what to do, as a program is.
CONSOLES: Final = frozenset({"manage.py", "artisan", "setup.py", "ace"})
# Runners of scripts that test by a command of their own, beside a script of that name.
OWN_TESTS: Final = frozenset({"bun test", "deno test", "hatch test"})
SCRIPT_RUNNERS: Final = _TABLES.words("script_runners")
# Subcommands that say what they do for whatever program: one that is not in the table above is
# named with them, too.
_PLAIN: Final = frozenset({"test", "tests", "lint", "check", "typecheck", "build", "compile"})
_OPERAND: Final = re.compile(r"[A-Za-z][\w.@:+-]{0,39}\Z")
_FILE: Final = re.compile(r"\.(?:py|js|ts|mjs|cjs|tsx|jsx|rb|sh|go|rs|ya?ml|json|toml|md|txt)\Z")
_PROGRAM: Final = re.compile(r"[\w.+@\[-]{1,64}\Z")

TRIVIAL: Final = _TABLES.words("trivial")
TAKES_NAMES: Final = _TABLES.words("takes_names")
"""Programs whose operands are names of files, hosts and the like: `mkdir test` is no test."""
LOOKS: Final = _TABLES.words("looks") | {f"git {each}" for each in _TABLES.words("git_looks")}


# A step is asked for its name by all that look at it in turn.
@lru_cache(maxsize=1024)
def step_name(step: ShellStep) -> str:
    """Return the name of one command; "" if it has none."""
    if not step.words or not _PROGRAM.match(step.words[0]):
        return ""
    name, rest = step.words[0], list(step.words[1:])
    script = script_of(step)
    if script in CONSOLES:
        name, rest = script, rest[rest.index(script) + 1 :] if script in rest else rest
    elif script and name in ("bash", "sh", "zsh") and _PROGRAM.match(script):
        return script
    if name not in _ASKED:
        first = next(iter(leading_operands(rest)), "")
        return f"{name} {first}" if first in _PLAIN and _has_subcommands(name) else name
    rest = _MEANT_OTHERWISE.get(name, list)(rest)
    asked = _asked(name, rest)
    whole = f"{name} {asked}" if asked else name
    return _SAME.get(whole, whole)


def told_name(step: ShellStep) -> str:
    """Return the name that agents read: with "run" for a script called as the runner's own test."""
    name, rest = step_name(step), list(step.words[1:])
    first = next(iter(leading_operands(rest)), "") if name in OWN_TESTS else ""
    return name.replace(" ", f" {first} ") if first in ("run", "task") else name


def _has_subcommands(program: str) -> bool:
    """Return whether a program that no table knows may be told what to do by its first operand."""
    if program in TAKES_NAMES or program in LOOKS or program in TRIVIAL:
        return False
    return purpose_of_program(program) is None


def _without_environment(words: list[str]) -> list[str]:
    if not {"-e", "--environment"} & set(words):
        return words
    at = next(at for at, word in enumerate(words) if word in ("-e", "--environment"))
    return words[:at] + words[at + 2 :]


# Words that stand for something else than they do for other programs.
_MEANT_OTHERWISE: Final[dict[str, Callable[[list[str]], list[str]]]] = {
    "pixi": _without_environment,
    # `pnpm -w test`: the option has no value there.
    "pnpm": lambda words: [word for word in words if word != "-w"],
    # `yarn workspace @shop/api test`
    "yarn": lambda words: words[2:] if words[:1] == ["workspace"] else words,
}


def _asked(name: str, rest: list[str]) -> str:
    operands = leading_operands(rest)
    if operands and operands[0] in _RUNS_SCRIPT.get(name, ()):
        if operands[:2] == ["workspaces", "foreach"] or operands[0] == "workspace":
            operands = operands[1:]
        if operands[1:2] == ["run"]:
            operands = operands[1:]
        operands = operands[1:] or operands[:1]
        if name in ("nx", "moon") and operands:
            operands = [operands[0].rpartition(":")[2]]
    if operands and (name, operands[0]) in _TWO_WORDS:
        return " ".join(operands[:2])
    if name in _SEVERAL:
        return next((operand for operand in operands if is_check(operand)), "") or "".join(
            operands[:1]
        )
    return "".join(operands[:1])


def leading_operands(words: list[str]) -> list[str]:
    """Return the leading operands that can be subcommands, targets or scripts."""
    found: list[str] = []
    at = 0
    while len(found) < 4:
        at += operands_from(words[at:], _VALUED)
        if at >= len(words):
            break
        if words[at].startswith("+") and words[at + 1 : at + 2]:  # `cargo +nightly test`
            at += 1
            continue
        word = words[at].lstrip(":+/").removeprefix("__.").rstrip(",")
        word = word.rpartition("//")[2].rpartition("#")[2]
        if not _OPERAND.match(word) or _FILE.search(word):
            break
        found.append(word)
        at += 1
    return found
