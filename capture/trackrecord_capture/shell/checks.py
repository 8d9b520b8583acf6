"""Which steps of a command line verify earlier work, and what the line's exit status says of them.

Verifying are tests, builds, type checks and linters: by the words that recipes know checks by, and
by the few names and options below that no word gives away.
"""

from typing import Final

import msgspec

from trackrecord.learning.advice.failures import is_wanted_failure
from trackrecord.learning.competences.checks import is_check

from .edits import is_formatter, step_edits
from .names import LOOKS, TRIVIAL, step_name
from .steps import ShellStep, script_of, steps_of

# Programs that verify although no word of their name says so.
_VERIFYING_TEXT: Final = """
ansible-lint ava bandit bats behave biome busted c8 cc checkstyle clang clang++ clang-tidy clang++
cppcheck cpplint credo cypress depcheck detekt dialyzer dmypy g++ gcc gosec green hadolint html5lib
actionlint yamllint markdownlint markdownlint-cli2 import-linter javac karma knip ktlint
lint-imports luacheck make msbuild ninja nose2 nyc oxlint playwright pre-commit psalm py.test
py_compile compileall pycodestyle pydocstyle pyflakes robot rollup rustc semgrep slither sqlfluff
standard standardrb staticcheck stestr swiftc swiftlint tap trial trunk vulture webpack xcodebuild
xo zizmor
"""
_VERIFYING: Final = frozenset(_VERIFYING_TEXT.split())
# They verify with one of these options only.
_WITH_OPTION: Final = {
    "cmake": frozenset({"--build"}),
    "node": frozenset({"--check", "--test"}),
    "php": frozenset({"-l"}),
    "perl": frozenset({"-c"}),
    "bash": frozenset({"-n"}),
    "sh": frozenset({"-n"}),
}
# Their words say "check", but they look after something else.
_NEVER: Final = frozenset({"git", "gh", "glab", "brew", "apt", "apt-get", "npm-check-updates"})
_OTHERWISE: Final = frozenset({"ruff clean", "ruff rule", "cypress open", "playwright install"})
# With one of these, nothing is run.
_ONLY_TELLS: Final = frozenset({
    "--version", "--help", "-h", "-V", "--collect-only", "--co", "--fixtures", "--markers",
    "--listTests", "--list-tests", "--dry-run",
})  # fmt: skip
# What fails for reasons of its own says little of a check behind "&&".
_INSTALLS: Final = frozenset({"install", "i", "ci", "sync", "add", "up", "update", "upgrade"})


class ShellCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A verifying step of a command line.

    Attributes:
        name: what verifies: "pytest", "npm test".
        place: its position among the line's steps.
        passed_at_zero: whether exit status 0 of the line says that it passed.
        failed_otherwise: whether any other exit status says that it failed.
    """

    name: str
    place: int
    passed_at_zero: bool
    failed_otherwise: bool


def checks_of(line: str) -> tuple[ShellCheck, ...]:
    """Return the verifying steps of a command line, in order."""
    steps = steps_of(line)
    return tuple(
        ShellCheck(
            name=_name(step),
            place=place,
            passed_at_zero=_is_followed_by_and(steps, place),
            failed_otherwise=_is_followed_by_and(steps, place) and _is_alone_to_fail(steps, place),
        )
        for place, step in enumerate(steps)
        if _verifies(step)
    )


def _name(step: ShellStep) -> str:
    script = script_of(step)
    return script if script and script != "manage.py" else step_name(step)


def _verifies(step: ShellStep) -> bool:
    name = step_name(step)
    if not name or name in TRIVIAL or name in LOOKS or step.words[0] in _NEVER:
        return False
    if name in _OTHERWISE or not _ONLY_TELLS.isdisjoint(step.words[1:]):
        return False
    if is_formatter(step):
        return not step_edits(step)
    program, script = step.words[0], script_of(step)
    return (
        is_check(name)
        or program in _VERIFYING
        or not _WITH_OPTION.get(program, frozenset()).isdisjoint(step.words[1:])
        or (bool(script) and is_check(script) and not _is_reproduction(step))
    )


def _is_reproduction(step: ShellStep) -> bool:
    return is_wanted_failure("", " ".join(step.words))


def _is_followed_by_and(steps: tuple[ShellStep, ...], place: int) -> bool:
    """Whether the line can only end with 0 if this step did."""
    if any(step.is_hidden for step in steps[place:] if _counts(step)):
        return False
    return all(step.joined == "&&" for step in steps[place:-1])


def _counts(step: ShellStep) -> bool:
    return bool(step.words)


def _is_alone_to_fail(steps: tuple[ShellStep, ...], place: int) -> bool:
    """Whether no other step could well have failed in its place."""
    first = place
    while first > 0 and steps[first - 1].joined == "&&":
        first -= 1
    return not any(
        _fails_for_itself(step) for at, step in enumerate(steps) if at >= first and at != place
    )


def _fails_for_itself(step: ShellStep) -> bool:
    name = step_name(step)
    if not name or name in TRIVIAL or name in LOOKS or _verifies(step):
        return False
    return (
        step.words[0] == "git" or not _INSTALLS.isdisjoint(step.words[1:3]) or not step_edits(step)
    )
