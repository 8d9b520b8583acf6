"""The verdict on a run, rule by rule."""

import math
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.capture.made_runs import edit, run_of, shell
from trackrecord_capture.agent_run import RunCall, Signal, SignalKind, SubAgent
from trackrecord_capture.verdict.phrases import CORRECTIONS, goes_on, only_looks, says_wrong
from trackrecord_capture.verdict.summaries import summary_of
from trackrecord_capture.verdict.verdict import verdict_of

_run = partial(run_of, instruction="Fix the tests")

PASS = shell("pytest -q", 0, "3 passed in 0.1s")
FAIL = shell("pytest -q", 1, "1 failed, 2 passed in 0.1s")
EDIT = edit("/src/shop/a.py")
MISSED = edit("/src/shop/a.py", ok=False)


@pytest.mark.parametrize(
    ("calls", "success"),
    [
        ((FAIL, EDIT, PASS), True),
        ((FAIL, EDIT, FAIL), False),
        ((PASS, EDIT), None),
        ((EDIT,), None),
        ((), None),
        ((FAIL,), False),
        ((PASS,), True),
        ((EDIT, FAIL, PASS), True),
        ((EDIT, PASS, shell("mypy .", 1, "Found 2 errors in 1 file")), False),
        ((EDIT, shell("mypy .", 1, "Found 2 errors"), PASS), False),
        ((EDIT, shell("mypy .", 1), EDIT, shell("mypy ."), PASS), True),
        ((EDIT, PASS, shell("sed -i s/a/b/ x.py")), None),
        ((shell("sed -i s/a/b/ x.py && pytest"),), True),
        ((shell("pytest && sed -i s/a/b/ x.py"),), None),
        ((EDIT, shell("ruff check --fix .")), True),
        ((EDIT, PASS, shell("ruff check --fix .")), None),
        ((EDIT, shell("cd /src/other && pytest -q", 0, "3 passed in 0.1s")), None),
        ((EDIT, edit("/src/other/b.py"), shell("cd /src/other && pytest", 0, "ok 1")), True),
        (
            (
                shell("ruff check .", 1, "Found 87 errors."), EDIT, PASS,
                shell("ruff check .", 1, "Found 87 errors."),
            ),
            True,
        ),
        (
            (
                shell("ruff check .", 1, "Found 87 errors."), EDIT, PASS,
                shell("ruff check .", 1, "Found 88 errors."),
            ),
            False,
        ),
        ((EDIT, shell("./bin/shop-test --port 80", 0, "listening")), None),
        ((EDIT, shell("./bin/shop-test", 1, "2 passed, 1 failed")), False),
        ((EDIT, shell("pytest -q", 1, "cannot read the settings of the shop")), None),
        ((EDIT, shell("cd web && npm test", 1, "bash: line 1: cd: web: No such file")), None),
        ((EDIT, shell("go test ./... | tee log", 0, "ok  \tshop\t0.1s\n...\n</cut>")), None),
        ((EDIT, PASS, shell("cat a.py"), shell("git commit -m x")), True),
        ((EDIT, PASS, MISSED), True),
        ((EDIT, PASS, edit("/tmp/notes.md")), True),  # noqa: S108 - no file is made
        ((EDIT, PASS, edit("/home/u/.claude/plans/x.md")), True),
        ((EDIT, shell("pytest 2>&1 | tee out.txt", 0, "4 passed in 1s")), True),
        ((EDIT, shell("set -o pipefail; pytest | tee out.txt", 0)), True),
        ((EDIT, shell("cat a | tee b.py", 0), shell("ls")), None),
        ((EDIT, shell("pytest | head -1", 0, "x"), shell("mypy .")), None),
        ((EDIT, shell("pytest", 143), shell("mypy .")), None),
        ((EDIT, shell("pytest", 127, "pytest: command not found"), shell("mypy .")), True),
        ((EDIT, shell("mypy . && pytest", 1, "Found 2 errors in 1 file")), False),
        (
            (
                EDIT,
                shell("pytest && mypy .", 1, "3 passed in 1s\nFound 1 error"),
                shell("mypy ."),
            ),
            True,
        ),
        (
            (EDIT, shell("npm run lint && npm test", 1, "1 failed, 2 passed"), shell("npm test")),
            True,
        ),
        ((EDIT, shell("npm test", 0, "Tests: 1 failed, 2 passed, 3 total")), None),
        ((EDIT, shell("make lint", 1, "Found 9 errors."), shell("ruff check a.py")), True),
        ((EDIT, shell("npm test; ls", 0, "Tests: 1 failed, 2 passed")), False),
        (
            (EDIT, shell("pytest; mypy . | tail -1", 0, "Success: no issues found in 3 files")),
            None,
        ),
        (
            (EDIT, shell("pytest | tail -1; mypy .", 0, "Success: no issues found in 3 files")),
            None,
        ),
        ((EDIT, shell("mypy . | tail -1; pytest -q", 1, "error: boom\n3 passed in 1s")), False),
        ((EDIT, shell("bun run test", 0, "error: boom\n 3 pass\n 0 fail")), True),
        ((EDIT, PASS, shell("pytest", 137)), True),
        ((EDIT, shell("pytest", None, "3 passed")), None),
        ((EDIT, shell("python repro_test.py", 1)), None),
        ((EDIT, RunCall(tool="run_tests", ok=True, result="2 failed, 1 passed")), False),
        ((EDIT, RunCall(tool="run_tests", ok=True, result="fine")), True),
        ((EDIT, RunCall(tool="run_tests", ok=False, error="boom")), False),
        ((EDIT, RunCall(tool="run_tests", result="3 passed")), True),
        ((EDIT, RunCall(tool="run_tests")), None),
    ],
)  # fmt: skip
def test_the_last_checks_after_the_last_edit_decide(
    calls: tuple[RunCall, ...], success: bool | None
):
    """Each check's last result behind the last edit counts; one that failed is a failure."""
    verdict = verdict_of(_run(*calls))
    assert verdict.success is success
    assert verdict.outcome_source == (None if success is None else "tests")
    assert verdict.grounds


def test_the_grounds_name_the_command_and_its_words():
    """What decided comes first, with the position of its call."""
    ground = verdict_of(_run(FAIL, EDIT, PASS)).grounds[0]
    assert (ground.kind, ground.says, ground.call) == (
        "check passed", "pytest -q: 3 passed in 0.1s", 2,
    )  # fmt: skip
    assert verdict_of(_run(PASS, EDIT)).grounds[0].kind == "check before the last edit"
    assert verdict_of(_run(EDIT)).grounds[0].kind == "no check"
    assert verdict_of(_run()).grounds[0].kind == "nothing seen"


def test_who_only_asks_gets_no_failure():
    """A check that fails says nothing of an agent that was asked whether it passes."""
    asked = {"instruction": "Do the tests pass?"}
    assert verdict_of(_run(FAIL, **asked)).success is None
    assert verdict_of(_run(PASS, **asked)).success is True
    assert verdict_of(_run(EDIT, FAIL, **asked)).success is False


def test_a_sub_agent_whose_errand_is_hidden_gets_no_failure():
    """Nobody knows whether it was to change anything; once it did, the check counts."""
    red = shell("pytest -q", 1, "2 failed")
    assert verdict_of(_run(red, instruction="", parent="codex:t:1")).success is None
    assert verdict_of(_run(EDIT, red, instruction="", parent="codex:t:1")).success is False
    assert verdict_of(_run(red, instruction="")).success is False


def _sub_agent(errand: str = "Mend the price", **given: Any) -> RunCall:
    sub_agent = SubAgent(starts=True, errand=errand, **given)
    return RunCall(tool="Agent", ok=True, sub_agent=sub_agent, started_at=1.0)


_WAIT = RunCall(tool="wait_agent", ok=True, sub_agent=SubAgent())
_NOT_STARTED = msgspec.structs.replace(_sub_agent(), ok=False)
_LATER = msgspec.structs.replace(PASS, started_at=9.0)


@pytest.mark.parametrize(
    ("calls", "success"),
    [
        ((EDIT, PASS, _sub_agent()), None),
        ((EDIT, FAIL, _sub_agent()), None),
        ((EDIT, _sub_agent(), PASS), True),
        ((_sub_agent(), FAIL), False),
        ((EDIT, PASS, _sub_agent(kind="Explore")), True),
        ((EDIT, PASS, _sub_agent("Look what the cart does")), True),
        ((EDIT, PASS, _sub_agent("Look at the cart. " * 30)), None),
        ((EDIT, PASS, _NOT_STARTED), True),
        # It may change something until somebody has waited for it.
        ((_sub_agent(), PASS, _WAIT), None),
        ((_sub_agent(), _WAIT, PASS), True),
        ((_sub_agent(kind="explore"), PASS, _WAIT), True),
        # In the background it may until it ends, and nobody knows when the others do.
        ((_sub_agent(ended_at=5.0), PASS), None),
        ((_sub_agent(ended_at=5.0), _LATER), True),
        ((_sub_agent(ended_at=math.inf), _LATER), None),
    ],
)
def test_a_sub_agent_may_have_edited(calls: tuple[RunCall, ...], success: bool | None):
    """What was checked before a sub-agent worked proves nothing, unless it was only to look."""
    assert verdict_of(_run(*calls)).success is success


def test_who_only_asks_gets_no_failure_for_a_sub_agents_sake():
    """That a sub-agent may have edited does not mean that the run did."""
    run = _run(_sub_agent(), FAIL, instruction="Do the tests pass?")
    assert verdict_of(run).success is None


def _sign(kind: SignalKind, **given: Any) -> Signal:
    return Signal(kind=kind, **given)


FOLLOWED = SignalKind.FOLLOWED_BY


@pytest.mark.parametrize(
    ("calls", "signs", "success", "source"),
    [
        ((EDIT,), (_sign(SignalKind.INTERRUPTED),), False, "heuristic"),
        ((EDIT,), (_sign(SignalKind.INTERRUPTED), _sign(FOLLOWED, says="continue")), None, None),
        ((EDIT,), (_sign(SignalKind.REJECTED, call=0),), False, "heuristic"),
        ((MISSED, EDIT), (_sign(SignalKind.REJECTED, call=0),), None, None),
        ((FAIL,), (_sign(SignalKind.INTERRUPTED),), False, "heuristic"),
        ((EDIT, FAIL), (_sign(SignalKind.INTERRUPTED),), False, "tests"),
        ((EDIT,), (_sign(SignalKind.UNDONE),), False, "explicit"),
        ((EDIT,), (_sign(SignalKind.CRASHED),), False, "heuristic"),
        ((EDIT,), (_sign(FOLLOWED, says="No, that's wrong."),), False, "explicit"),
        ((EDIT,), (_sign(FOLLOWED, says="还是报错"),), False, "explicit"),
        ((EDIT,), (_sign(FOLLOWED, says="thanks, works great"),), None, None),
        ((EDIT,), (_sign(FOLLOWED, says="no problem, now add docs"),), None, None),
        ((EDIT, PASS), (_sign(FOLLOWED, says="No, undo that"),), False, "explicit"),
        ((EDIT, PASS), (_sign(SignalKind.UNDONE),), False, "explicit"),
        ((EDIT, PASS), (_sign(SignalKind.INTERRUPTED),), True, "tests"),
        ((EDIT, FAIL), (_sign(SignalKind.CONFIRMED, success=True),), True, "explicit"),
        ((EDIT, FAIL), (_sign(SignalKind.EVALUATED, success=True),), True, "evaluator"),
        ((EDIT, PASS), (_sign(SignalKind.EVALUATED, success=None),), True, "tests"),
        (
            (EDIT, PASS),
            (_sign(SignalKind.EVALUATED, success=False), _sign(SignalKind.CONFIRMED, success=True)),
            False,
            "evaluator",
        ),
        (
            (),
            (_sign(SignalKind.CONFIRMED, success=True), _sign(SignalKind.CONFIRMED, success=False)),
            False,
            "explicit",
        ),
        ((EDIT, FAIL), (_sign(SignalKind.API_FAILED),), None, None),
        ((EDIT, PASS), (_sign(SignalKind.API_FAILED),), True, "tests"),
        ((EDIT,), (_sign(SignalKind.API_FAILED), _sign(SignalKind.INTERRUPTED)), None, None),
        (
            (EDIT, shell("pytest", 1, started_at=8.0)), (_sign(SignalKind.API_FAILED, at=5.0),),
            False, "tests",
        ),
    ],
)  # fmt: skip
def test_the_higher_rank_decides(
    calls: tuple[RunCall, ...], signs: tuple[Signal, ...], success: bool | None, source: str | None
):
    """Evaluator, a person's word, tests, what looks like it; an API's failure blames nobody."""
    verdict = verdict_of(_run(*calls, signs=signs))
    assert (verdict.success, verdict.outcome_source) == (success, source)


@given(st.lists(st.sampled_from([PASS, FAIL, EDIT, shell("ls"), shell("pytest|tail")])))
def test_nothing_before_the_last_edit_matters(calls: list[RunCall]):
    """A run's verdict is that of its part from the last edit on."""
    run = _run(*calls, instruction="")
    if EDIT in calls:
        last = len(calls) - 1 - calls[::-1].index(EDIT)
        assert verdict_of(run).success is verdict_of(_run(*calls[last:])).success


_LISTS = sorted((Path(__file__).parent / "next_prompts").glob("*.txt"))
_FEWEST_EACH = 50
_LEAST_PRECISION = 0.95
_LEAST_RECALL = 0.9


def _prompts(path: Path, mark: str) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix(mark) for line in lines if line.startswith(mark)]


@pytest.mark.parametrize("path", _LISTS, ids=[path.stem for path in _LISTS])
def test_corrections_are_told_from_harmless_prompts(path: Path):
    """In each language at least 95 % of what passes for a correction is one."""
    wrong, harmless = _prompts(path, "! "), _prompts(path, ". ")
    assert min(len(wrong), len(harmless)) >= _FEWEST_EACH
    found = [prompt for prompt in wrong if says_wrong(prompt)]
    alarms = [prompt for prompt in harmless if says_wrong(prompt)]
    assert len(found) >= _LEAST_PRECISION * (len(found) + len(alarms)), alarms
    assert len(found) >= _LEAST_RECALL * len(wrong), sorted({*wrong} - {*found})


def test_there_is_a_list_for_each_language_of_the_table():
    """No language is in the table without being measured."""
    assert [path.stem for path in _LISTS] == sorted(CORRECTIONS)


def test_prompts_that_only_go_on_or_look():
    """They blame nobody."""
    for prompt in (
        "continue",
        "继续",
        "go on",
        "ok, weiter",
        "continúa",
        "vas-y",
        "続けてください",
        "continue from where you left off",
        "请继续执行",
    ):
        assert goes_on(prompt), prompt
    assert not goes_on("continue with the other file")
    assert not goes_on("continue where the export broke")
    assert only_looks("run the tests")
    assert only_looks("跑一下测试")
    assert not only_looks("run the tests and fix them")


@pytest.mark.parametrize(
    ("output", "passed"),
    [
        ("=== 3 failed, 2 passed in 0.1s ===", False), ("12 passed", True),
        ("Tests:       1 failed, 2 passed, 3 total", False), ("Ran 3 tests\n\nOK", True),
        ("Ran 3 tests\n\nFAILED (failures=1)", False), ("ok  \tpkg/a\t0.01s", True),
        ("--- FAIL: TestX\nFAIL\tpkg", False), ("test result: ok. 3 passed; 0 failed;", True),
        ("Success: no issues found in 3 source files", True), ("Found 3 errors.", False),
        ("src/a.ts(1,2): error TS2304: x", False), ("BUILD SUCCESS", True),
        ("5 passing (3s)\n 0 failing", True), ("3 examples, 0 failures", True),
        ("no tests ran in 0.1s", None), ("12 passed, 1 warning, 0 errors", True),
    ],
)  # fmt: skip
def test_the_words_by_which_tools_end(output: str, passed: bool | None):
    """Failure wins over success, and what did not run is neither."""
    summary = summary_of(output)
    assert summary is not None
    assert summary.passed is passed


def test_an_output_without_such_words():
    """Nothing is guessed."""
    assert summary_of("hello\nworld") is None
