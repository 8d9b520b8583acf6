"""Explaining a record: its numbers, its score, and what would change them."""

from dataclasses import replace

import pytest

from tests.learning.test_following import RULES, created, tally
from trackrecord.learning.competences.record import Performance, Relation
from trackrecord.learning.competences.rules import Status
from trackrecord.learning.explanation import explain_competence
from trackrecord.learning.numbers.decay import DAY


def test_an_active_record():
    """Performance, salience as of now, status, and the parts of its score."""
    record = created(tally(True, True, False))
    explained = explain_competence(RULES, record, now=100.0 + 30 * DAY)
    text = "\n".join(explained.because)
    assert "2 of 3 uses succeeded" in text
    assert "success rate 0.6667" in text
    assert "salience 0.500 now: 1.000 stored, halved every 30 days" in text
    assert "status active" in text
    score = (0.8 + 2 / 3 + 0.5) / 3
    assert f"score {score:.4f} without a task" in text
    assert "confidence 0.8000, success 0.6667 and recency 0.5000" in text
    assert "a success makes the rate 3/4, a failure 2/4" in explained.to_change


def test_a_contested_record_says_by_what():
    """What agents or people wrote stands there as data, on one line."""
    record = replace(
        created(tally(True, True)),
        status=Status.CONTESTED,
        relations=(Relation("contested_by", "run\n# 7"),),
    )
    explained = explain_competence(RULES, record, now=100.0)
    assert "status contested: contested_by run # 7" in explained.because
    assert "a record that supersedes it would settle that it is contested" in explained.to_change


@pytest.mark.parametrize("status", [Status.RETRACTED, Status.SUPERSEDED])
def test_what_was_given_up_is_no_candidate(status):
    """And nothing brings it back."""
    explained = explain_competence(
        RULES, replace(created(tally(True, True)), status=status), now=100.0
    )
    assert f"not a candidate for selection: it is {status}" in explained.because
    assert "nothing brings it back: new evidence is only counted" in explained.to_change


def test_without_any_use():
    """A fork has not been tried; a pinned record does not decay."""
    record = created(tally(True, True))
    pinned = replace(record.lifecycle, pinned=True)
    untried = replace(record, performance=Performance(), lifecycle=pinned)
    text = "\n".join(explain_competence(RULES, untried, now=9e9).because)
    assert "success rate 0.5000: nothing is known of its use" in text
    assert "salience 1.000 now: 1.000 stored, pinned" in text
