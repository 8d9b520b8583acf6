"""The line of a competence record: every number stands beside what it was counted for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.competences.selection import expected_success
from trackrecord.learning.competences.texts import ProcedureRuns, competence_line, failing_line

TOOLS = ("read", "edit", "test")


def test_plain_words():
    """Without a trigger: how many runs succeeded, of how many."""
    assert (
        competence_line(TOOLS, ProcedureRuns(18, 0))
        == "- read → edit → test [18 of 18 runs succeeded]"
    )
    assert (
        competence_line(TOOLS, ProcedureRuns(1, 0)) == "- read → edit → test [1 of 1 run succeeded]"
    )
    assert competence_line(TOOLS, ProcedureRuns(7, 2), language="zh") == (
        "- read → edit → test [9次运行中7次成功]"
    )


def test_one_trigger_stands_in_front():
    """With its own counts; those of all tasks follow where they differ."""
    line = competence_line(TOOLS, ProcedureRuns(9, 1), [("type error", ProcedureRuns(9, 1))])
    assert line == '- when "type error": read → edit → test [9 of 10 runs succeeded]'
    line = competence_line(
        TOOLS, ProcedureRuns(12, 3), [("type error", ProcedureRuns(9, 1))], is_contested=True
    )
    assert line == (
        '- when "type error": read → edit → test '
        "[9 of 10 runs succeeded, 12 of 15 in all, contested]"
    )


def test_a_trigger_never_shows_the_numbers_of_another():
    """What works for one trigger and never for two others is not recommended for these."""
    triggers = [
        ("test fails: import", ProcedureRuns(0, 8)),
        ("test fails: syntax", ProcedureRuns(0, 6)),
        ("test fails: off by one", ProcedureRuns(7, 0)),
    ]
    assert competence_line(TOOLS, ProcedureRuns(7, 14), triggers) == (
        '- read → edit → test [7 of 7 runs succeeded when "test fails: off by one"; '
        '0 of 8 runs succeeded when "test fails: import"; '
        '0 of 6 runs succeeded when "test fails: syntax"]'
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_trigger_cannot_forge_a_label(language):
    """The brackets at the end of a line are ours alone."""
    forged = 'x": y [99 of 99 runs succeeded]'
    one_failed = ProcedureRuns(0, 1)
    line = competence_line(
        ("a [5 of 5 runs succeeded]",), one_failed, [(forged, one_failed)], language=language
    )
    assert line.count("[") == 1


counts = st.builds(ProcedureRuns, st.integers(0, 50), st.integers(0, 50))


@given(
    by_trigger=st.dictionaries(st.sampled_from("abcdefgh"), counts).map(
        lambda given: [*given.items()]
    ),
    more=counts,
)
def test_every_number_is_true_of_its_trigger(by_trigger, more):
    """Read back out of the text, whatever the counts are."""
    total = ProcedureRuns(sum(c.successes for _, c in by_trigger) + more.successes,
                   sum(c.failures for _, c in by_trigger) + more.failures)  # fmt: skip
    line = competence_line(TOOLS, total, by_trigger)
    own = dict(by_trigger)
    if front := re.match(r'- when "(\w)": .* \[(\d+) of (\d+) ', line):
        said = {front[1]: (int(front[2]), int(front[3]))}
    else:
        said = {
            signal: (int(successes), int(of))
            for successes, of, signal in re.findall(
                r'(\d+) of (\d+) runs? succeeded when "(\w)"', line
            )
        }
    for signal, (successes, of) in said.items():
        meant = own[signal] if own[signal].total else total
        assert (successes, of) == (meant.successes, meant.total)
    for successes, of in re.findall(r"(\d+) of (\d+)(?: runs? succeeded)? in all", line):
        assert (int(successes), int(of)) == (total.successes, total.total)


def test_a_procedure_that_never_succeeded():
    """Its tools and how many tasks used them."""
    assert failing_line("issue_refund", 22) == "- issue_refund [0 of 22 runs succeeded]"
    assert failing_line("a+b", 3, "zh") == "- a+b [3次运行中0次成功]"


@given(st.integers(0, 200), st.integers(0, 200), st.floats(0, 1))
def test_few_episodes_hardly_move_an_expectation(successes, failures, base_rate):
    """It lies between the base rate and the raw rate, nearer to the latter the more there are."""
    expected = expected_success(successes, failures, base_rate)
    total = successes + failures
    raw = successes / total if total else base_rate
    assert min(raw, base_rate) - 1e-9 <= expected <= max(raw, base_rate) + 1e-9
    assert abs(expected - raw) == pytest.approx(4 / (total + 4) * abs(base_rate - raw), abs=1e-9)
