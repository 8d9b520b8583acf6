"""The corpus of verdicts: no failing check, and none that checked nothing, is ever a success."""

from collections import Counter
from typing import Final

import pytest

from tests.capture.made_runs import edit, run_of, shell
from tests.capture.verdict_corpus import CheckOutput, forms_of, lines_in, outputs_in
from trackrecord_capture.call_fields import main_step
from trackrecord_capture.shell.checks import checks_of
from trackrecord_capture.shell.programs import CHECKING, Purpose
from trackrecord_capture.shell.purposes import purpose_of
from trackrecord_capture.verdict.checks import results_by_call
from trackrecord_capture.verdict.verdict import verdict_of

FILES: Final = ("outputs.txt", "held_out.txt", "recorded.jsonl", "more_outputs.jsonl")
# Of runners that no rule was written for.
UNSEEN: Final = "unseen.jsonl"
NO_FAILURE: Final = frozenset({"passed", "cut", "not started", "hidden"})
STARTED: Final = frozenset({"passed", "failed", "cut", "hidden"})
# The exit status of these forms of a command line is the check's own.
OWN_STATUS: Final = frozenset({
    "plain", "in a folder", "sh -c", "2>&1", "pipefail", "status told", "status of the pipe",
})  # fmt: skip


def _result(check: CheckOutput) -> tuple[bool | None, str | None]:
    """Return the verdict on a run that ended with a check, and whether that is said to start."""
    run = run_of(edit(), shell(check.line, check.exit_code, check.output))
    states = [result.state for result in results_by_call(run).get(1, [])]
    return verdict_of(run).success, states[-1] if states else None


def _results(file: str) -> list[tuple[CheckOutput, bool | None, str | None]]:
    checks = (form for check in outputs_in(file) for form in forms_of(check))
    return [(check, *_result(check)) for check in checks]


@pytest.fixture(scope="module")
def results() -> dict[str, list[tuple[CheckOutput, bool | None, str | None]]]:
    """The results of every file."""
    return {file: _results(file) for file in (*FILES, UNSEEN)}


def test_the_corpus_is_wide():
    """More than 400 outputs of more than 40 runners, half of them printed by the real ones."""
    sizes = {file: len(outputs_in(file)) for file in FILES}
    assert sum(sizes.values()) >= 400
    assert sizes["recorded.jsonl"] >= sum(sizes.values()) / 2
    assert len({check.tool for file in FILES for check in outputs_in(file)}) >= 40


@pytest.mark.parametrize("file", [*FILES, UNSEEN])
def test_how_checks_ended(file: str, results):
    """However a check is run, neither its failure nor one that checked nothing is a success.

    Of those that passed, were cut off, did not start or are hidden at most 1% count as failures.
    """
    found = results[file]
    green = [check for check, verdict, _ in found if verdict and check.ending != "passed"]
    assert green == []
    innocent = [each for each in found if each[0].ending in NO_FAILURE and _is_of_tests(each[0])]
    red = [check for check, verdict, _ in innocent if verdict is False]
    assert len(red) <= 0.01 * len(innocent)


def test_tests_that_did_not_start(results):
    """Nine in ten are found where the status is their own; hardly anything else counts as such."""
    found = [each for some in results.values() for each in some if _is_of_tests(each[0])]
    own = [each for each in found if each[0].form in OWN_STATUS]
    stuck = [state == "not started" for check, _, state in own if check.ending == "not started"]
    assert len(stuck) > 500
    assert sum(stuck) >= 0.9 * len(stuck)
    others = [(check, state) for check, _, state in found if check.ending in STARTED]
    wrong = [check for check, state in others if state == "not started"]
    assert len(wrong) <= 0.01 * len(others)


def _is_of_tests(check: CheckOutput) -> bool:
    return any(each.of_tests for each in checks_of(check.line))


def test_most_endings_are_recognised(results):
    """Where the exit status is a check's own every ending is known; else more than half are."""
    ends = [(each, found) for file in FILES for each, found, _ in results[file]]
    own = Counter((each.ending, found) for each, found in ends if each.form in OWN_STATUS)
    other = Counter((each.ending, found) for each, found in ends if each.form not in OWN_STATUS)
    assert own["passed", None] == own["failed", None] == 0
    assert other["passed", True] > 1.25 * other["passed", None]
    assert other["failed", False] > 2 * other["failed", None]


def test_command_lines_that_check():
    """Checks are known behind wrappers and launchers, by the task that a runner is told."""
    lines = lines_in("checking_lines.txt")
    assert len(lines) == 176
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


P, EDIT, KILLED = "pass", "edit", "killed"


def _story(told: str) -> bool | None:
    """Return the verdict on a run: its calls, as "edit >> fail pytest tests/a >> pass pytest"."""
    calls = []
    for part in told.split(" >> "):
        ending, _, line = part.partition(" ")
        if ending == EDIT:
            calls.append(edit())
        elif ending == KILLED:
            calls.append(shell(line, 143, ""))
        else:
            is_test = "test" in line and "--" not in line
            code = 0 if ending == P else 1
            printed = "3 passed in 0.1s" if ending == P else "1 failed, 2 passed in 0.1s"
            calls.append(shell(line, code, printed if is_test else ""))
    return verdict_of(run_of(*calls)).success


@pytest.mark.parametrize(
    ("file", "verdict"), [("not_cleared", False), ("cleared", True), ("proves_nothing", None)]
)
def test_what_clears_a_failure(file: str, verdict: bool | None):
    """The same again, or whatever includes it; less, or what is no check, proves nothing."""
    wrong = [told for told in lines_in(f"{file}.txt") if _story(told) is not verdict]
    assert wrong == []
