"""Find the checks in a command line, their scope, and the way to read their results.

Verifying are tests, builds, type checks and linters: by the words that recipes know checks by, and
by the few names and options below that no word gives away. Of a runner of tasks, as make is, the
task decides.
"""

from typing import Final

import msgspec

from trackrecord.learning.advice.runs.failures import is_wanted_failure
from trackrecord.learning.competences.episodes.checks import CHECKS, MAKES, is_check
from trackrecord.learning.text.words import words_of

from .edits import is_formatter, step_edits
from .names import CONSOLES, LOOKS, TRIVIAL, step_name
from .scopes import TASK_RUNNERS, CheckScope, joined_folder, scope_of
from .statuses import printed_status, shown_lines
from .steps import ShellStep, script_of, steps_of

# Programs that verify although no word of their name says so.
_VERIFYING_TEXT: Final = """
ansible-lint ava bandit bats behave biome busted c8 cc checkstyle clang clang++ clang-tidy clang++
cppcheck cpplint credo cypress depcheck detekt dialyzer dmypy doctest g++ gcc ginkgo gosec gotestsum
green hadolint html5lib actionlint yamllint markdownlint markdownlint-cli2 import-linter javac karma
knip ktlint lint-imports luacheck msbuild nose2 nyc oxlint pest playwright pre-commit prek
prove psalm py.test py_compile compileall pycodestyle pydocstyle pyflakes robot rollup rustc semgrep
slither sqlfluff standard standardrb staticcheck stestr swiftc swiftlint tap tape tflint trial trunk
vue-tsc vulture webpack xcodebuild xo zizmor
"""
_VERIFYING: Final = frozenset(_VERIFYING_TEXT.split())
# Words of subcommands and tasks that verify, beside those of tools.
_TASKS: Final = CHECKS | {
    "all", "analyse", "analyze", "ci", "cov", "coverage", "credo", "e2e", "integration",
    "precommit", "presubmit", "qa", "quality", "runtest", "smoke", "spec", "specs", "types",
    "typing", "unit",
}  # fmt: skip
# Subcommands of other programs, beside those that recipes know.
_SUBCOMMANDS: Final = frozenset({"analyse", "analyze", "credo", "runtest", "spec"})
# A task with such a word does something else, though it be for tests.
_NO_TASKS: Final = MAKES | {
    "clean", "data", "deploy", "deps", "dev", "down", "env", "image", "images", "init", "install",
    "list", "publish", "push", "release", "serve", "server", "setup", "snapshot", "snapshots",
    "start", "up", "watch",
}  # fmt: skip
# Programs that verify if what they are told to do does.
_TOLD: Final = TASK_RUNNERS | {"artisan", "devbox", "dune", "manage.py", "rails", "rush", "rushx"}
# They build if they are told nothing.
_BUILD: Final = frozenset({"make", "ninja"})
# Runners of a package's scripts: one after another they run the same.
_SCRIPT_RUNNERS: Final = frozenset({
    "npm", "pnpm", "yarn", "bun", "rushx", "composer", "deno", "pdm", "hatch", "rye", "pixi",
})  # fmt: skip
_OWN_TESTS: Final = {"bun": "test", "deno": "test", "hatch": "test"}
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
_OTHERWISE: Final = frozenset({
    "ruff clean", "ruff rule", "cypress open", "playwright install", "playwright codegen",
    "playwright show-report", "vitest list", "vitest init", "pre-commit install",
    "pre-commit autoupdate", "pre-commit uninstall", "pre-commit clean", "pre-commit gc",
    "prek install", "prek autoupdate", "jest init", "pytest list",
})  # fmt: skip
# With one of these, nothing is run.
_ONLY_TELLS: Final = frozenset({
    "--version", "--help", "-h", "-V", "--collect-only", "--co", "--fixtures", "--markers",
    "--listTests", "--list-tests", "--dry-run", "--list", "-list", "--listenvs", "--init",
    "--show-only", "--no-run", "--setup-plan", "--print-config", "--showConfig", "--show-settings",
})  # fmt: skip
_LISTS: Final = {
    "tox": frozenset({"-l", "-a", "list", "l", "config", "devenv"}), "nox": frozenset({"-l"}),
    "ctest": frozenset({"-N"}), "make": frozenset({"-n", "-p", "-q", "--just-print"}),
    "just": frozenset({"-l", "-n", "--summary", "--show"}), "task": frozenset({"-l", "-a", "-n"}),
    "rake": frozenset({"-T", "-n"}), "dotnet": frozenset({"-t"}),
}  # fmt: skip
# What fails for reasons of its own says little of a check behind "&&".
_INSTALLS: Final = frozenset({"install", "i", "ci", "sync", "add", "up", "update", "upgrade"})
# Tests, by words of their names; all other checks build or look at the text.
_TESTS_TEXT: Final = """
ava bats behave busted cov coverage ctest cypress doctest e2e ginkgo gotestsum green integration
jest junit karma minitest mocha nextest nose2 nosetests nox pest phpunit playwright prove py.test
pytest robot rspec runtest spec specs stestr tap tape test tests tox trial unit unittest verify
vitest 测试
"""
_TESTS: Final = frozenset(_TESTS_TEXT.split())
_JOINT: Final = frozenset({"all", "check", "ci", "qa", "quality", "presubmit", "precommit"})
# Programs that are not named after a task run others', of these languages; "" runs any.
_RUNS_OTHERS: Final = {
    "script": frozenset({
        "jest", "vitest", "mocha", "ava", "node", "bun", "eslint", "tsc", "vue-tsc", "biome",
        "prettier", "oxlint", "stylelint", "next", "vite", "svelte-check", "playwright", "cypress",
        "script", "turbo", "nx",
    }),
    "tox": frozenset({"pytest", "unittest", "mypy", "ruff", "flake8", "pylint"}),
    "nox": frozenset({"pytest", "unittest", "mypy", "ruff", "flake8", "pylint"}),
}  # fmt: skip
_RUNS_ANY: Final = frozenset({"make", "just", "task", "mise", "poe", "invoke", "moon", "rake"})


class ShellCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A verifying step of a command line.

    Attributes:
        name: what verifies: "pytest", "npm test".
        place: its position among the line's steps.
        scope: what it runs on.
        of_tests: whether it runs tests, and does not only build or look at the text.
        passed_at_zero: whether exit status 0 says that it passed.
        failed_otherwise: whether any other exit status says that it failed.
        status: the expression by which the line prints that status, as `echo "exit: $?"` does; ""
            if the line ends with it.
        tail: how many lines at the end of its output are shown at most; None if all are, 0 if
            another part of it is.
    """

    name: str
    place: int
    scope: CheckScope
    of_tests: bool
    passed_at_zero: bool
    failed_otherwise: bool
    status: str = ""
    tail: int | None = None


def checks_of(line: str, folder: str = "") -> tuple[ShellCheck, ...]:
    """Return the verifying steps of a command line, in order.

    Args:
        line: the command line.
        folder: where it is run; "" if unknown.
    """
    steps = steps_of(line)
    found = []
    for place, step in enumerate(steps):
        if step.words[:1] == ("cd",) and len(step.words) > 1:
            folder = joined_folder(folder, step.words[1])
        if _verifies(step):
            status = printed_status(steps, place)
            own = steps[: status.end + 1]
            is_own = status.is_of_pipe or _is_followed_by_and(own, place)
            found.append(
                ShellCheck(
                    name=_name(step),
                    place=place,
                    scope=_scope(step, folder),
                    of_tests=_is_of_tests(step),
                    passed_at_zero=is_own,
                    failed_otherwise=is_own and _is_alone_to_fail(own, place),
                    status=status.pattern,
                    tail=shown_lines(steps, place),
                )
            )
    return tuple(found)


def runs_also(check: ShellCheck, other: ShellCheck) -> bool:
    """Return whether a check is a project's own task that may well run the other one, too."""
    runner, name = check.scope.program.partition(" ")[0], other.scope.program.partition(" ")[0]
    if not check.scope.is_whole or (check.of_tests is not other.of_tests and not _is_joint(check)):
        return False
    return runner in _RUNS_ANY or name in _RUNS_OTHERS.get(runner, ())


def _is_joint(check: ShellCheck) -> bool:
    return bool(words_of(check.name) & _JOINT)


def _name(step: ShellStep) -> str:
    script = script_of(step)
    return script if script and script not in CONSOLES else step_name(step)


def _is_of_tests(step: ShellStep) -> bool:
    words = {*words_of(_name(step)), step.words[0]}
    if step.words[0] in TASK_RUNNERS:
        words |= {word for operand in step.words[1:] for word in words_of(operand)}
    return bool(words & _TESTS) or "--test" in step.words


def _scope(step: ShellStep, folder: str) -> CheckScope:
    program, rest = step.words[0], step.words[1:]
    script = script_of(step)
    if program == "node" and "--run" in rest[:-1]:
        at = rest.index("--run")
        return scope_of("script", rest[at + 2 :], folder, task=rest[at + 1])
    if script in CONSOLES:
        at = next(place for place, word in enumerate(step.words) if word.endswith(script))
        return scope_of(step_name(step), step.words[at + 1 :], folder)
    if script:
        return scope_of(script, tuple(word for word in rest if script not in word), folder)
    name = step_name(step)
    task = name.partition(" ")[2]
    if program in _SCRIPT_RUNNERS and task and not _is_own_test(step, task):
        at = next((place for place, word in enumerate(rest) if word == task), len(rest) - 1)
        before, behind = rest[:at], rest[at + 1 :]
        words = tuple(word for word in before if word not in ("run", "run-script", "task"))
        return scope_of("script", (*words, *behind), folder, task=task)
    is_runner = program in TASK_RUNNERS
    return scope_of(program if is_runner else name, rest, folder)


def _is_own_test(step: ShellStep, task: str) -> bool:
    """Return whether it is the runner's own test command, and no script of the package."""
    return _OWN_TESTS.get(step.words[0]) == task and not {"run", "task"} & set(step.words[1:3])


def _verifies(step: ShellStep) -> bool:
    name = step_name(step)
    if not name or name in TRIVIAL or name in LOOKS or step.words[0] in _NEVER:
        return False
    program, rest = step.words[0], step.words[1:]
    if name in _OTHERWISE or " ".join(step.words[:2]) in _OTHERWISE or _only_tells(program, rest):
        return False
    if is_formatter(step):
        return not step_edits(step)
    if name.partition(" ")[0] in _TOLD or program in _SCRIPT_RUNNERS:
        return _runs_checks(step, name)
    script = script_of(step)
    return (
        (is_check(name) and not words_of(name) & {"watch"})
        or program in _VERIFYING
        or name.partition(" ")[2] in _SUBCOMMANDS
        or not _WITH_OPTION.get(program, frozenset()).isdisjoint(rest)
        or (
            program == "node"
            and "--run" in rest[:-1]
            and _is_checking(rest[rest.index("--run") + 1])
        )
        or (bool(script) and is_check(script) and not _is_reproduction(step))
    )


def _only_tells(program: str, rest: tuple[str, ...]) -> bool:
    return not (_ONLY_TELLS | _LISTS.get(program, frozenset())).isdisjoint(rest)


def _runs_checks(step: ShellStep, name: str) -> bool:
    runner, _, task = name.partition(" ")
    operands = [word for word in step.words[1:] if not word.startswith("-") and "=" not in word]
    if runner in _SCRIPT_RUNNERS:
        return _is_checking(task) and name != "npm ci"
    if not task and not operands:
        return runner in _BUILD
    return any(_is_checking(word) for word in (task, *operands))


def _is_checking(task: str) -> bool:
    words = words_of(task)
    return bool(words & _TASKS) and not words & _NO_TASKS


def _is_reproduction(step: ShellStep) -> bool:
    return is_wanted_failure("", " ".join(step.words))


def _is_followed_by_and(steps: tuple[ShellStep, ...], place: int) -> bool:
    """Return whether the line can only end with 0 if this step did."""
    if any(step.is_hidden for step in steps[place:] if _counts(step)):
        return False
    return all(step.joined == "&&" for step in steps[place:-1])


def _counts(step: ShellStep) -> bool:
    return bool(step.words)


def _is_alone_to_fail(steps: tuple[ShellStep, ...], place: int) -> bool:
    """Return whether this step alone is likely to have failed."""
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
