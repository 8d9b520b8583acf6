"""The corpus of verdicts: no failing check, and none that checked nothing, is ever a success."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import pytest

from tests.capture.verdict_corpus import CheckOutput, forms_of, lines_in, outputs_in
from trackrecord_capture.agent_run import AgentRun, RunCall
from trackrecord_capture.call_fields import main_step
from trackrecord_capture.shell.checks import checks_of
from trackrecord_capture.shell.programs import CHECKING, Purpose
from trackrecord_capture.shell.purposes import purpose_of
from trackrecord_capture.verdict.verdict import verdict_of

FILES: Final = ("outputs.txt", "held_out.txt")
# The exit status of these forms of a command line is the check's own.
OWN_STATUS: Final = frozenset({
    "plain", "in a folder", "sh -c", "2>&1", "pipefail", "status told", "status of the pipe",
})  # fmt: skip


def _run(*calls: RunCall) -> AgentRun:
    return AgentRun(
        agent="claude-code", session="s", prompt="p", captured_from="transcript", started_at=1.0,
        ended_at=9.0, folder="/src/shop", instruction="Fix the cart", calls=calls,
    )  # fmt: skip


def _edit() -> RunCall:
    return RunCall(tool="Edit", edits=("/src/shop/cart.py",), ok=True)


def _shell(command: str, exit_code: int | None, result: str, **given: Any) -> RunCall:
    ok = None if exit_code is None else exit_code == 0
    fields: dict[str, Any] = {"ok": ok, "exit_code": exit_code, "result": result}
    return RunCall(tool="Bash", command=command, **(fields | given))


def _verdict(check: CheckOutput) -> bool | None:
    call = _shell(check.line, check.exit_code, check.output)
    return verdict_of(_run(_edit(), call)).success


def _measured(checks: Iterable[CheckOutput]) -> Counter[tuple[str, bool | None]]:
    return Counter((check.ending, _verdict(check)) for check in checks)


def _wrong(checks: Iterable[CheckOutput], verdict: bool, *endings: str) -> list[str]:
    return [
        f"{check.tool}, {check.ending}, {check.form}: {check.line}"
        for check in checks
        if check.ending in endings and _verdict(check) is verdict
    ]


@pytest.mark.parametrize("file", FILES)
def test_no_check_is_falsely_green(file: str):
    """However a check is run, its failure is no success, and neither is one that checked nothing.

    At most 1% may be, of which so far none is.
    """
    checks = [form for check in outputs_in(file) for form in forms_of(check)]
    bad = [check for check in checks if check.ending != "passed"]
    assert len(bad) > 500
    assert _wrong(checks, True, "failed", "nothing", "cut") == []


@pytest.mark.parametrize("file", FILES)
def test_no_check_is_falsely_red(file: str):
    """A check that passed is no failure; one that was cut off or found nothing to check is none."""
    checks = [form for check in outputs_in(file) for form in forms_of(check)]
    assert _wrong(checks, False, "passed", "cut") == []


def test_most_endings_are_recognised():
    """Where the exit status is a check's own every ending is known; else more than half are."""
    checks = [form for file in FILES for check in outputs_in(file) for form in forms_of(check)]
    own = _measured(check for check in checks if check.form in OWN_STATUS)
    other = _measured(check for check in checks if check.form not in OWN_STATUS)
    assert own["passed", None] == own["failed", None] == 0
    assert other["passed", True] > 1.5 * other["passed", None]
    assert other["failed", False] > 4 * other["failed", None]


def test_command_lines_that_check():
    """Checks are known behind wrappers and launchers, by the task that a runner is told."""
    lines = lines_in("checking_lines.txt")
    assert len(lines) == 171
    assert [line for line in lines if not checks_of(line)] == []


def test_command_lines_that_do_not():
    """A runner that does something else, and a check that is only installed or listed, are none."""
    lines = lines_in("other_lines.txt")
    assert len(lines) == 130
    assert [line for line in lines if checks_of(line)] == []


def _measured_purposes(file: str) -> list[tuple[str, str, str]]:
    """Return command lines with what each is for, "-" if it checks nothing, and what is read."""
    rows = (line.split("\t", 1) for line in lines_in(file))
    return [(wanted, _purpose(line), line) for wanted, line in rows]


def _purpose(line: str) -> str:
    step = main_step(line)
    purpose = Purpose.OTHER if step is None else purpose_of(step)
    return purpose if purpose in CHECKING else "-"


@pytest.mark.parametrize(
    ("file", "counts"), [("purposes.txt", (502, 245)), ("more_purposes.txt", (164, 156))]
)
def test_what_command_lines_are_for(file: str, counts: tuple[int, int]):
    """Of lines written before the rules were, 94% are known for checks, and of others hardly any.

    Nearly all of them are known for what they check, too. When the second list was written, to see
    what the rules know that were made with the first one in view, it was 143 of 164, and 1 of 153.
    """
    measured = _measured_purposes(file)
    checks = [each for each in measured if each[0] != "-"]
    others = [each for each in measured if each[0] == "-"]
    assert (len(checks), len(others)) == counts
    assert len([each for each in checks if each[1] == "-"]) <= 0.06 * len(checks)
    assert len([each for each in others if each[1] != "-"]) <= 0.01 * len(others)
    assert len([each for each in checks if each[1] not in ("-", each[0])]) <= 0.02 * len(checks)


P, F, EDIT, KILLED = "pass", "fail", "edit", "killed"
_PRINTED: Final = {P: ("3 passed in 0.1s", 0), F: ("1 failed, 2 passed in 0.1s", 1)}


def _story(told: str) -> bool | None:
    """Return the verdict on a run: its calls, as "edit; F pytest tests/a; P pytest tests/b"."""
    calls = []
    for part in told.split(" >> "):
        ending, _, line = part.partition(" ")
        if ending == EDIT:
            calls.append(_edit())
        elif ending == KILLED:
            calls.append(_shell(line, 143, ""))
        else:
            is_test = "test" in line and "--" not in line
            code = 0 if ending == P else 1
            printed = "3 passed in 0.1s" if ending == P else "1 failed, 2 passed in 0.1s"
            calls.append(_shell(line, code, printed if is_test else ""))
    return verdict_of(_run(*calls)).success


@pytest.mark.parametrize(
    "told",
    [
        "edit >> fail pytest tests/a >> pass pytest tests/b",
        "edit >> fail pytest >> pass pytest tests/test_a.py",
        "edit >> fail pytest >> pass pytest -k cart",
        "edit >> fail pytest >> pass pytest -m 'not slow'",
        "edit >> fail pytest >> pass pytest --lf",
        "edit >> fail pytest >> pass pytest --deselect tests/test_a.py::test_x",
        "edit >> fail pytest >> pass pytest --ignore=tests/a",
        "edit >> fail pytest tests >> pass pytest tests/test_a.py::test_x",
        "edit >> fail pytest tests/test_a.py >> pass pytest tests/test_a.py::TestCart",
        "edit >> fail pytest tests/test_a.py::test_x >> pass pytest tests/test_a.py::test_y",
        "edit >> fail pytest tests/a tests/b >> pass pytest tests/a",
        "edit >> fail pytest -k cart >> pass pytest -k price",
        "edit >> fail pytest >> pass cd tests/a && pytest",
        "edit >> fail python -m unittest >> pass python -m unittest tests.test_a",
        "edit >> fail python -m unittest discover >> pass python -m unittest discover -p 'test_a*'",
        "edit >> fail npx jest >> pass npx jest src/a.test.ts",
        "edit >> fail npx jest >> pass npx jest -t cart",
        "edit >> fail npx jest >> pass npx jest --testPathPattern cart",
        "edit >> fail npx jest >> pass npx jest --testPathPattern=cart",
        "edit >> fail npx jest >> pass npx jest --onlyChanged",
        "edit >> fail npx vitest run >> pass npx vitest run src/a.test.ts",
        "edit >> fail npx vitest run >> pass npx vitest run --project web",
        "edit >> fail npx mocha >> pass npx mocha --grep cart",
        "edit >> fail npm test >> pass npm test -- src/a.test.ts",
        "edit >> fail npm test >> pass npm test -- -t cart",
        "edit >> fail npm test >> pass npm run test:unit",
        "edit >> fail npm test >> pass npm run lint",
        "edit >> fail npm test -w web >> pass npm test -w api",
        "edit >> fail pnpm --filter web test >> pass pnpm --filter api test",
        "edit >> fail cd web && npm test >> pass cd api && npm test",
        "edit >> fail node --test >> pass node --test --test-name-pattern=cart",
        "edit >> fail bun test >> pass bun test src/a.test.ts",
        "edit >> fail deno test >> pass deno test --filter cart",
        "edit >> fail go test ./... >> pass go test ./cart",
        "edit >> fail go test ./... >> pass go test -run TestTotal ./...",
        "edit >> fail go test ./... >> pass go test -short ./...",
        "edit >> fail go test ./cart >> pass go test ./price",
        "edit >> fail go test ./cart/... >> pass go test ./cart",
        "edit >> fail go test ./... >> pass go test",
        "edit >> fail cargo test >> pass cargo test cart",
        "edit >> fail cargo test >> pass cargo test -p price",
        "edit >> fail cargo test >> pass cargo test --lib",
        "edit >> fail cargo test >> pass cargo check",
        "edit >> fail cargo test --workspace >> pass cargo test",
        "edit >> fail ./gradlew test >> pass ./gradlew test --tests CartTest",
        "edit >> fail ./gradlew test >> pass ./gradlew :cart:test",
        "edit >> fail ./gradlew build >> pass ./gradlew test",
        "edit >> fail mvn verify >> pass mvn test",
        "edit >> fail mvn test >> pass mvn test -Dtest=CartTest",
        "edit >> fail mvn test >> pass mvn test -pl cart",
        "edit >> fail dotnet test >> pass dotnet test --filter Cart",
        "edit >> fail ctest >> pass ctest -R cart",
        "edit >> fail bundle exec rspec >> pass bundle exec rspec spec/cart_spec.rb:4",
        "edit >> fail vendor/bin/phpunit >> pass vendor/bin/phpunit --testsuite unit",
        "edit >> fail mix test >> pass mix test test/cart_test.exs",
        "edit >> fail bazel test //... >> pass bazel test //cart:all",
        "edit >> fail swift test >> pass swift test --filter Cart",
        "edit >> fail make test >> pass make lint",
        "edit >> fail make test >> pass make",
        "edit >> fail make test >> pass make test TESTS=tests/a",
        "edit >> fail make test >> pass make clean",
        "edit >> fail just test >> pass just lint",
        "edit >> fail make test lint >> pass make lint",
        "edit >> fail tox >> pass tox -e lint",
        "edit >> fail nox >> pass nox -s lint",
        "edit >> fail mypy src >> pass mypy src/cart.py",
        "edit >> fail ruff check . >> pass ruff check src/cart.py",
        "edit >> fail ruff check . >> pass ruff check . --select F",
        "edit >> fail npx eslint . >> pass npx eslint src/cart.ts",
        "edit >> fail npx tsc --noEmit >> pass npx tsc --noEmit -p web",
        "edit >> fail npx playwright test >> pass npx playwright test cart.spec.ts",
        "edit >> fail npx cypress run >> pass npx cypress run --spec cypress/e2e/cart.cy.js",
        "edit >> fail pytest >> pass mypy .",
        "edit >> pass pytest >> fail mypy .",
        "edit >> pass pytest tests/a >> fail pytest tests/b",
        "edit >> fail pytest >> pass pytest tests/a >> pass pytest tests/b",
        "edit >> fail pytest >> killed pytest",
    ],
)
def test_what_failed_is_not_cleared_by_less(told: str):
    """Behind a wider check only one at least as wide clears it: the run failed."""
    assert _story(told) is False


@pytest.mark.parametrize(
    "told",
    [
        "edit >> fail pytest tests/a >> pass pytest",
        "edit >> fail pytest tests/a >> pass pytest tests",
        "edit >> fail pytest tests/test_a.py::test_x >> pass pytest tests/test_a.py",
        "edit >> fail pytest -k cart >> pass pytest",
        "edit >> fail pytest tests/a tests/b >> pass pytest tests/a >> pass pytest tests/b",
        "edit >> fail pytest -q >> pass uv run pytest -x -v --tb=short -n 4",
        "edit >> fail cd tests && pytest test_a.py >> pass pytest tests/test_a.py",
        "edit >> fail cd /src/shop && pytest >> pass pytest",
        "edit >> fail npx jest -t cart >> pass npx jest",
        "edit >> fail npm test -- src/a.test.ts >> pass npm test",
        "edit >> fail npm test >> pass pnpm test",
        "edit >> fail npm run test >> pass npm test --silent",
        "edit >> fail go test ./cart >> pass go test ./...",
        "edit >> fail go test -run TestTotal ./cart >> pass go test ./cart",
        "edit >> fail cargo test cart >> pass cargo test",
        "edit >> fail cd crates/cart && cargo test >> pass cargo test --workspace",
        "edit >> fail ./gradlew test >> pass ./gradlew build",
        "edit >> fail mvn test >> pass mvn -q verify",
        "edit >> fail bazel test //cart:all >> pass bazel test //...",
        "edit >> fail tox -e py312 >> pass tox -e py312 -- -q",
        "edit >> fail make lint >> pass make test lint",
        "edit >> fail mypy src/cart.py >> pass mypy src",
        "edit >> fail npx eslint src/cart.ts >> pass npx eslint src",
        "edit >> pass pytest tests/a >> pass pytest tests/b",
        "edit >> pass pytest >> killed pytest tests/slow",
        "fail pytest tests/a >> edit >> pass pytest",
        "fail pytest tests/test_a.py >> edit >> pass make test",
        "fail npx vitest run src/a.test.ts >> edit >> pass npm test",
        "fail npx eslint src/a.ts >> edit >> pass npm run lint",
        "fail pytest >> pass pytest >> edit >> pass pytest tests/a",
        "edit >> pass make test >> pass make clean",
    ],
)
def test_what_failed_is_cleared_by_as_much(told: str):
    """The same again, and whatever includes it, clears a failure: the run succeeded."""
    assert _story(told) is True


@pytest.mark.parametrize(
    "told",
    [
        "fail pytest >> edit >> pass pytest tests/a",
        "fail pytest tests/a >> edit >> pass pytest tests/b",
        "fail pytest >> edit >> pass ruff check .",
        "fail npm test >> edit >> pass npm run build",
        "fail pytest >> edit >> pass npm test",
        "fail go test ./... >> edit >> pass go test -run TestTotal ./cart",
        "edit >> pass make clean",
        "edit >> pass make install",
        "edit >> pass npm run dev",
        "edit >> pass npm ci",
        "edit >> pass just run",
        "edit >> killed pytest",
        "pass pytest >> edit",
    ],
)
def test_what_proves_nothing(told: str):
    """A failure not run again as widely, and what is no check, are no success and no failure."""
    assert _story(told) is None
