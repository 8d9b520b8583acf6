"""The purpose of a step of a command line: tests, a linter, a type check, a build, or another.

Known programs are in tables. Of a runner of tasks, as `make` is, the task decides; of a program
that no table knows, its subcommand, where that is a plain "test", "lint" or "build".
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

from trackrecord.learning.advice.runs.failures import is_wanted_failure
from trackrecord.learning.competences.episodes.checks import CHECKS, MAKES
from trackrecord.learning.text.words import words_of

from ..tables import Tables
from .edits import is_formatter, step_edits
from .names import LOOKS, SCRIPT_RUNNERS, TAKES_NAMES, TRIVIAL, leading_operands, step_name
from .programs import CHECKING, Purpose, purpose_by_words, purpose_of_program
from .scopes import TASK_RUNNERS
from .steps import ShellStep, script_of, steps_of


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TABLES: Final = Tables(__file__)
_NO_TASKS: Final = MAKES | _TABLES.words("no_tasks")
# Behind a check they only say of what, or where.
_QUALIFIERS: Final = frozenset({"dev", "docker", "prod", "release"})
# What only compiles tests: "build-tests", "test-compile".
_COMPILES: Final = re.compile(r"\A(?:build|compile)(?!.*and)|[-_:](?:compile|build)\Z")
_FIRST_WORD: Final = re.compile(r"[A-Za-z][a-z0-9]*")
_FORMATS: Final = _words("fmt format prettier black formatting reformat")
_RUNS: Final = _words("run start serve server dev preview exec up watch bootrun shell repl console")
_TOLD: Final = TASK_RUNNERS | _TABLES.words("told")
# They build if they are told nothing.
_BUILDERS: Final = frozenset({"make", "ninja", "hugo", "mage"})
_TEST_TASKS: Final = _TABLES.by_name("test_tasks")
_SKIPS_TESTS: Final = re.compile(r"-D(?:skipTests|maven\.test\.skip)(?:=true)?\Z")
_BY_SUBCOMMAND: Final = _TABLES.read("by_subcommand", dict[str, dict[str, Purpose]])
_BY_OPERAND: Final = _TABLES.words("by_operand")
_PLAIN: Final = _TABLES.read("plain", dict[str, Purpose])
# Their words say "check", but they look after something else.
_NEVER: Final = _words("git gh glab brew apt apt-get npm-check-updates hg svn yum dnf jj")
_INSTALLS: Final = _TABLES.words("installs")
_INSTALLERS: Final = _TABLES.words("installers")
_OTHERWISE: Final = _TABLES.phrases("otherwise")
_ONLY_TELLS: Final = _TABLES.words("only_tells")
_LISTS: Final = _TABLES.by_name("lists")
# It goes on until somebody stops it.
_WATCHES: Final = frozenset({"--watch", "--watchAll", "--watch-all", "--ui"})
_WITH_OPTION: Final = _TABLES.read("with_option", dict[str, dict[str, Purpose]])
# A script in the line itself that runs tests.
_TESTING: Final = re.compile(
    r"\bPkg\.test\(|\btestthat::test_|\bdevtools::(?:test|check)\(|\bunittest\.main\(|"
    r"\bpytest\.main\(|\bInvoke-Pester\b|\brequire\(?['\"]busted"
)
_SHELL_SCRIPT: Final = re.compile(r"\.(?:sh|bash|zsh|ps1|bat|cmd)\Z")
_TEST_FOLDERS: Final = frozenset({"test", "tests", "spec", "e2e"})
_RUNNERS_OF_ALL: Final = frozenset({"run", "index", "main", "all", "runner", "run-all"})
_SEARCHES: Final = _words("grep egrep fgrep rg ag ack find fd locate")
_READS: Final = LOOKS - _SEARCHES - {"mkdir", "tee", "kill", "top", "yes", "seq"}
_INTERPRETERS: Final = _TABLES.words("interpreters")


class OwnCheck(NamedTuple):
    """A check that a project names itself.

    Attributes:
        words: what its command begins with.
        purpose: what it is for.
    """

    words: tuple[str, ...]
    purpose: Purpose


OwnChecks = tuple[OwnCheck, ...]
_OWN: Final = re.compile(r"(test|type check|lint|build|check): (.*)", re.DOTALL)


@lru_cache(maxsize=8)
def own_checks(lines: tuple[str, ...]) -> OwnChecks:
    """Return the checks of a setting: lines as "./dev verify", or with a purpose "lint: ./dev ok".

    Without a purpose the line's own words say it, or it may be any.
    """
    found = []
    for each in lines:
        named = _OWN.match(each)
        steps = steps_of(named[2] if named else each)
        if not steps or not steps[-1].words:
            continue
        known = purpose_of(steps[-1])
        purpose = Purpose(named[1]) if named else known if known in CHECKING else Purpose.CHECK
        found.append(OwnCheck(steps[-1].words, purpose))
    return tuple(found)


# A step is asked for its purpose by the name, the checks and the edits of its line.
@lru_cache(maxsize=1024)
def purpose_of(step: ShellStep, own: OwnChecks = ()) -> Purpose:
    """Return what a step is for.

    Args:
        step: the step.
        own: the checks that the project names itself.
    """
    for each in own:
        if step.words[: len(each.words)] == each.words:
            return each.purpose
    name = step_name(step)
    if not name or name in TRIVIAL:
        return Purpose.OTHER
    program = step.words[0]
    if name in _SEARCHES or name == "git grep":
        return Purpose.SEARCH
    if name in LOOKS:
        return Purpose.READ if name in _READS else Purpose.OTHER
    if program in _NEVER or program in TAKES_NAMES:
        is_installed = program in _INSTALLERS and not _INSTALLS.isdisjoint(step.words[1:3])
        return Purpose.INSTALL if is_installed else Purpose.OTHER
    if _only_tells(name, step):
        return Purpose.OTHER
    if is_formatter(step):
        return Purpose.FORMAT if step_edits(step) else Purpose.LINT
    return _otherwise(name, step)


def _only_tells(name: str, step: ShellStep) -> bool:
    program, rest = step.words[0], step.words[1:]
    if any(each in _OTHERWISE for each in (name, *map(" ".join, (step.words[:2], step.words[:3])))):
        return True
    if not _WATCHES.isdisjoint(rest):
        return True
    tells = _ONLY_TELLS | _LISTS.get(program, frozenset())
    return not (tells - _WITH_OPTION.get(program, {}).keys()).isdisjoint(rest)


def _otherwise(name: str, step: ShellStep) -> Purpose:
    program, rest = step.words[0], step.words[1:]
    runner, _, told = name.partition(" ")
    if (by_option := _of_option(program, rest)) is not None:
        return by_option
    if (known := _BY_SUBCOMMAND.get(runner, {}).get(told)) is not None:
        is_fetched = runner == "go" and told == "install" and "@" in rest[-1]
        return Purpose.INSTALL if is_fetched else known
    if program in _INSTALLERS and told in _INSTALLS:
        return Purpose.INSTALL
    if runner in _TOLD or program in SCRIPT_RUNNERS:
        return _of_tasks(runner, told, step)
    if script := script_of(step):
        return _of_script(script, step)
    if (special := _SPECIAL.get(program)) is not None:
        return special(step)
    return _of_program(runner, told, step)


def _of_option(program: str, rest: tuple[str, ...]) -> Purpose | None:
    for option, purpose in _WITH_OPTION.get(program, {}).items():
        if option in rest:
            return purpose
    if program == "node" and "--run" in rest[:-1]:
        return _of_task(rest[rest.index("--run") + 1])
    if program in _INTERPRETERS and any(_TESTING.search(word) for word in rest[:8]):
        return Purpose.TEST
    return None


def _of_program(program: str, told: str, step: ShellStep) -> Purpose:
    # "ruff check" is what ruff does; "npm check" is a script.
    by_name = purpose_of_program(program) if program not in _BY_OPERAND else None
    if by_name is not None and words_of(told) & _NO_TASKS:
        return Purpose.OTHER  # `buf generate`, `ruff server`
    if by_name is not None and by_name is not Purpose.CHECK:
        return by_name
    if told:
        return _of_task(told) if program in _BY_OPERAND else _PLAIN.get(told, Purpose.OTHER)
    operand = next(iter(leading_operands(list(step.words[1:]))), "")
    if operand in _PLAIN and program not in _INTERPRETERS:
        return _PLAIN[operand]
    if by_name is not None:
        return by_name
    return Purpose.RUN if program in _INTERPRETERS else Purpose.OTHER


def _of_task(task: str) -> Purpose:
    """Return what a task, a subcommand or a script of a package is for, by its name."""
    words = words_of(task)
    others = words & _NO_TASKS
    if others and not (others <= _QUALIFIERS and _begins_with_check(task)):
        return Purpose.RUN if words & _RUNS else Purpose.OTHER
    purpose = purpose_by_words(words)
    if words & _FORMATS:
        return Purpose.LINT if purpose is not None else Purpose.FORMAT
    if purpose in (None, Purpose.CHECK) and words & CHECKS and {"type", "types"} & words:
        return Purpose.TYPE_CHECK
    if purpose is None:
        return Purpose.RUN if words & _RUNS else Purpose.OTHER
    return Purpose.BUILD if purpose is Purpose.TEST and _COMPILES.search(task) else purpose


def _begins_with_check(task: str) -> bool:
    """Return whether a task's name begins with its action: `build:docker`, not `docker:build`."""
    first = _FIRST_WORD.match(task)
    return first is not None and purpose_by_words(words_of(first[0])) is not None


def _of_tasks(runner: str, told: str, step: ShellStep) -> Purpose:
    """Return what the tasks are for that a runner is told: tests, if one of them is."""
    if "watch" in words_of(told):
        return Purpose.RUN
    # The environment of hatch stands in front of its script.
    tasks = [told, told.rpartition(":")[2]] if runner == "hatch" else [told]
    if runner in TASK_RUNNERS and runner not in ("mise", "meson"):
        tasks = _targets(runner, step) or tasks
    if tasks in ([""], ["all"]) and runner in _BUILDERS:
        return Purpose.BUILD
    if tasks == [""] and runner == "rake":
        return Purpose.CHECK
    runs_tests = _TEST_TASKS.get(runner, frozenset())
    if any(map(_SKIPS_TESTS.match, step.words)):
        return Purpose.BUILD if runs_tests.intersection(tasks) else _of_task(tasks[0])
    purposes = [Purpose.TEST if task in runs_tests else _of_task(task) for task in tasks]
    return min(purposes, key=list(Purpose).index)


def _targets(runner: str, step: ShellStep) -> list[str]:
    excluded = ("-x", "--exclude-task") if runner == "gradle" else ()
    words = list(step.words[1:])
    operands: list[str] = []
    at = 0
    while at < len(words):
        if words[at] in excluded or words[at] in _TASK_VALUED:
            at += 1
        elif found := _TARGET.match(words[at]):
            operands += found[1].split(",")
        elif runner == "sbt" and not words[at].startswith("-"):
            operands.append(words[at].rpartition("/")[2])
        elif not words[at].startswith("-") and "=" not in words[at] and "/" not in words[at]:
            task = words[at].lstrip(":")
            operands.append(task.rpartition(":")[2] if runner in _OF_PROJECTS else task)
        at += 1
    return [operand for operand in operands if operand not in ("run", "run-many", "affected")]


# What stands in front of the task is the project that it is of: ":app:test", "web:test".
_OF_PROJECTS: Final = frozenset({"gradle", "moon", "nx"})
_TARGET: Final = re.compile(r"--targets?=(\S+)\Z")
_TASK_VALUED: Final = _words("-C -f -d -t --file --makefile --directory --dir --justfile -j -P")


def _of_sessions(step: ShellStep) -> Purpose:
    """Return what tox or nox is for: tests, unless the session that is chosen is for another."""
    words = step.words
    for at, word in enumerate(words[:-1]):
        if word in ("-e", "-s", "--session", "--sessions", "--env"):
            purpose = _of_task(words[at + 1])
            return purpose if purpose in CHECKING else Purpose.TEST
    return Purpose.TEST


def _of_cmake(step: ShellStep) -> Purpose:
    rest = step.words
    if "--build" not in rest:
        return Purpose.OTHER
    targets = [rest[at + 1] for at, word in enumerate(rest[:-1]) if word in ("--target", "-t")]
    if not targets:
        return Purpose.BUILD
    return Purpose.TEST if words_of(targets[0]) & {"test", "check"} else _of_task(targets[0])


def _of_service(step: ShellStep) -> Purpose:
    """Return what a service is for that is run with the command of its own."""
    rest = step.words[1:]
    if "run" not in rest:
        return _of_program(*step_name(step).partition(" ")[::2], step)
    if "-d" in rest or "--detach" in rest or rest[:1] == ("run",):
        return Purpose.RUN
    purpose = _of_task(rest[-1])
    return purpose if purpose in CHECKING else Purpose.RUN


_SPECIAL: Final[dict[str, Callable[[ShellStep], Purpose]]] = {
    # `clojure -X:test`
    "clojure": lambda step: _of_task(" ".join(word.partition(":")[2] for word in step.words)),
    "cmake": _of_cmake,
    "docker": _of_service,
    "docker-compose": _of_service,
    "nox": _of_sessions,
    "podman": _of_service,
    "tox": _of_sessions,
    "xcodebuild": lambda step: Purpose.TEST if "test" in step.words else Purpose.BUILD,
}


def _of_script(script: str, step: ShellStep) -> Purpose:
    if is_wanted_failure("", " ".join(step.words)):
        return Purpose.RUN
    stem = script.partition(".")[0]
    words = words_of(script)
    purpose = purpose_by_words(words) if not words & MAKES else None
    if purpose is Purpose.BUILD and stem != "build" and not _SHELL_SCRIPT.search(script):
        purpose = None  # it may build anything
    if script.endswith((".t", ".bats")):
        return Purpose.TEST
    if purpose is None and stem in _RUNNERS_OF_ALL:
        path = next((word for word in step.words if word.endswith(script)), "")
        if not _TEST_FOLDERS.isdisjoint(path.split("/")[:-1]):
            return Purpose.TEST
    if purpose is None:
        at = next((at for at, word in enumerate(step.words) if word.endswith(script)), 0)
        purpose = _PLAIN.get("".join(step.words[at + 1 : at + 2]))  # `./x.py test`
    return purpose or Purpose.RUN
