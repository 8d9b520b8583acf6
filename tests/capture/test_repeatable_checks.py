"""The checks of a call as others may repeat them: kind, state, and the line that runs one alone."""

import pytest

from tests.capture.made_runs import run_of, shell
from trackrecord.process.machines import this_machine
from trackrecord_capture.outcome import outcome_of
from trackrecord_capture.verdict.repeatable import checks_by_call

FOLDER = "/home/someone/shop"
PASSED = "===== 41 passed in 3.21s ====="
FAILED = "===== 2 failed, 39 passed in 3.21s ====="


def checks(command, *, ok=True, result="", folder=""):
    """The checks of one call of a shell."""
    error = "" if ok else result
    call = shell(command, int(not ok), result, error=error, folder=folder)
    return checks_by_call(run_of(call, folder=FOLDER)).get(0, [])


@pytest.mark.parametrize(
    ("command", "result", "ok", "state"),
    [
        ("uv run pytest -q", PASSED, True, "passed"),
        ("uv run pytest -q | tail -1", PASSED, True, "passed"),
        ("uv run pytest -q", FAILED, False, "ran"),
        ("rtk bun run test", "error: unrecognized subcommand 'bun'", False, "not started"),
        ("python -m pytest", "/usr/bin/python: No module named pytest", False, "not started"),
        ("npx vitest run 2>&1 | tail -3", "sh: vitest: command not found", True, "not started"),
        ("pytest", "E  OperationalError: Connection refused", False, "not started"),
        ("pnpm test", "Expected version: >=20\nGot: 14.16.0", False, "not started"),
        ("pytest -q | grep -i price", "test_price_is_not_found: not found", True, None),
        ("npm run lint && npm test", "x Formatter would print something else", False, None),
        ("bun run lint", "x Formatter would have printed something else", False, None),
    ],
)
def test_states(command, result, ok, state):
    """What a check found is its result; one that is not known is left open."""
    assert checks(command, result=result, ok=ok)[0].state == state


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("npm test 2>&1 | tail -5", "npm test"),
        (f"cd {FOLDER} && npm test", "npm test"),
        ("cd web && npm test", "cd web && npm test"),
        ("source .venv/bin/activate && pytest -q", "source .venv/bin/activate && pytest -q"),
        ("CI=1 npm test", "CI=1 npm test"),
        ("npm test; git push", "npm test"),
        ("npx jest 'src/**/*.ts'", "npx jest 'src/**/*.ts'"),
        (f"{FOLDER}/node_modules/.bin/jest src", "node_modules/.bin/jest src"),
        (
            'export FNM_DIR="$HOME/.fnm" && . "$FNM_DIR/env.sh" && fnm use 22 > /dev/null && npm t',
            'export FNM_DIR="$HOME/.fnm" && . "$FNM_DIR/env.sh" && fnm use 22 && npm t',
        ),
        # What it may need, what would not be the same, and what must not be told.
        ("rm -rf dist && npm test", ""),
        ("cd /elsewhere && npm test", ""),
        ("npm test -- $FILES", ""),
        ('npm test -- "$(git diff --name-only)"', ""),
        ("/home/someone/else/run-tests.sh", ""),
        ("pytest D:/shop/tests", ""),
        ("DB_PASSWORD=hunter2xyz npm test", ""),
        ("npm test -- " + "a" * 300, ""),
        ("cat > a.py <<'EOF'\nx\nEOF\nnpm test", ""),
        ("bash -c 'rm -rf dist; npm test'", ""),
    ],
)
def test_the_line_that_runs_a_check_alone(command, line):
    """Without what shows its output or comes behind; nothing where more than it is needed."""
    assert [check.line for check in checks(command, result="1 passing")] == [line]


def test_each_check_of_a_line_is_known_by_itself():
    """What stands behind one that failed is not known to have run."""
    found = checks("npm run lint && npm run typecheck && npm test", ok=False,
                   result="npm error Missing script: \"lint\"")  # fmt: skip
    assert [(check.kind, check.state, check.line) for check in found] == [
        ("lint", "not started", "npm run lint"),
        ("type check", None, "npm run typecheck"),
        ("test", None, "npm test"),
    ]


def test_a_folder_above_is_where_lines_start():
    """An agent that was started in a part of a repository runs its checks above it, too."""
    web = f"{FOLDER}/web"
    run = run_of(
        *(shell("npm test", 0, "1 passing", folder=at) for at in (FOLDER, web)), folder=web
    )
    lines = [check.line for found in checks_by_call(run).values() for check in found]
    assert lines == ["npm test", "cd web && npm test"]


def test_an_outcome_has_them_and_the_machine():
    """The machine's and the user's names stand in no outcome, only a digest of them."""
    run = run_of(shell("npm test", 0, "1 passing"), folder=FOLDER)
    fields = outcome_of(run, machine=this_machine())
    (call,) = fields["tool_graph"]
    assert call["checks"] == [
        {"kind": "test", "state": "passed", "line": "npm test", "is_whole": True}
    ]
    assert fields["metadata"]["machine"] == this_machine()
    assert len(this_machine()) == 16
    assert "machine" not in outcome_of(run)["metadata"]
