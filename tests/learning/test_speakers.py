"""Whose word counts for how much: shares of sources, and what none of them decides alone."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.lessons.find import find_lessons
from trackrecord.learning.advice.lessons.rules import LessonRules
from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.competences.episodes.tally import Episode, EpisodeTally
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.competences.update import NoChange, RecordUpdate, Signature, follow
from trackrecord.learning.numbers.speaker_names import PERSON
from trackrecord.learning.numbers.speakers import CapRules, SpeakerCounts, cap_of, capped
from trackrecord.learning.patterns.antipatterns import AntiPatternRules
from trackrecord.learning.patterns.evidence import Evidence, heard
from trackrecord.learning.patterns.explanation import explain_pattern
from trackrecord.learning.patterns.maturity import Maturity, MaturityRules
from trackrecord.learning.patterns.standing import PatternFacts, Standing, standing_of

CAPS = CapRules()
NOW = 1_780_000_000.0
weights = st.lists(st.floats(0.02, 1e4), min_size=2, max_size=60)


def standing(**counts: tuple[int, int]) -> Standing:
    """The standing of a pattern, by the successes and failures that each source reports."""
    parts = [
        SpeakerCounts(
            helpful=won, harmful=lost, decayed_helpful=won, decayed_harmful=lost,
            speaker=PERSON if speaker == "person" else speaker, succeeded=won,
        )
        for speaker, (won, lost) in counts.items()
    ]  # fmt: skip
    won, lost = (sum(each[place] for each in counts.values()) for place in (0, 1))
    evidence = Evidence(won, 0, lost, won, lost, succeeded=won)
    facts = PatternFacts("plan", "named", "plan", None)
    return standing_of(MaturityRules(), AntiPatternRules(), facts, heard(CAPS, evidence, parts))


@given(weights)
def test_no_source_has_more_than_its_share(given):
    """Of what counts in the end; those below the cap keep all of theirs."""
    share = max(CAPS.source_share, 1.5 / len(given))
    cap = cap_of(CAPS, given)
    counts = [min(weight, cap) for weight in given]
    assert max(counts) <= share * sum(counts) * (1 + 1e-9) + 1e-9 or cap == float("inf")
    if max(given) <= share * sum(given) * (1 - 1e-9):
        assert counts == given


@given(weights, st.lists(st.floats(0.0, 1e-9), max_size=5))
def test_what_weighs_nothing_changes_no_share(given, dust):
    """What is left of a verdict that was taken back, or of one that is neutral."""
    assert cap_of(CAPS, [*given, *dust]) == cap_of(CAPS, given)


@given(weights)
def test_a_person_is_not_capped(given):
    """However few others there are."""
    parts = [
        SpeakerCounts(decayed_helpful=each, speaker=f"s{number}")
        for number, each in enumerate(given)
    ]
    said = SpeakerCounts(decayed_helpful=1e6, speaker=PERSON)
    assert said in capped(CAPS, [*parts, said])


@given(st.integers(1, 10_000))
def test_a_liar_makes_nothing_of_its_own_and_breaks_nothing_of_others(count):
    """However much it reports, beside two honest sources."""
    assert standing(liar=(count, 0), honest=(0, 0)).state is Maturity.CANDIDATE
    assert not standing(liar=(0, count), a=(4, 0), b=(4, 0)).is_inverted
    assert standing(liar=(0, count), a=(4, 0), b=(4, 0)).state is not Maturity.DEPRECATED


@given(st.integers(0, 10_000))
def test_a_liar_cannot_prevent_what_two_others_agree_on(count):
    """A pattern that fails for both of them stays deprecated, whatever a third one says."""
    assert standing(liar=(count, 0), a=(1, 3), b=(0, 4)).state is Maturity.DEPRECATED


def test_a_person_needs_nobody_to_agree():
    """One word is enough where it says the same as the sums."""
    assert standing(person=(0, 4), other=(1, 0)).state is Maturity.DEPRECATED


@pytest.mark.parametrize(
    ("speakers", "others_speak", "result"),
    [
        (["a"] * 4, False, RecordUpdate),
        (["a"] * 4, True, NoChange),
        (["a", "a", "b", "b"], True, RecordUpdate),
        ([PERSON] * 4, True, RecordUpdate),
    ],
)
def test_a_record_of_one_source(speakers, others_speak, result):
    """Where others speak, one source alone makes no competence record."""
    tally = EpisodeTally()
    for speaker in speakers:
        tally.add(Episode(("grep", "edit"), success=True, ended_at=NOW, speaker=speaker))
    signature = Signature("default", "edit+grep", tally, others_speak)
    assert isinstance(follow(CompetenceRules(), signature, None, NOW), result)


def run(number: int, speaker: str, tool: str, error: str | None = None) -> Run:
    """A run of one call."""
    return Run(
        outcome=number, task_id=f"t{number}", ended_at=NOW - number, success=error is None,
        steps=(RunStep(tool, error),), speaker=speaker, source=speaker,
    )  # fmt: skip


def test_a_lesson_of_one_source():
    """It is marked where others speak, and not where nobody else does or another one agrees."""
    failing = [run(number, "liar", "deploy", "no such host") for number in range(6)]
    (alone,) = find_lessons(failing, LessonRules(), now=NOW)
    assert not alone.is_of_one
    other = run(90, "honest", "read_file")
    (beside,) = find_lessons([*failing, other], LessonRules(), now=NOW)
    assert beside.is_of_one
    agreeing = msgspec.structs.replace(failing[0], outcome=91, task_id="t91", speaker="honest")
    (agreed,) = find_lessons([*failing, agreeing], LessonRules(), now=NOW)
    assert not agreed.is_of_one


def test_an_explanation_counts_by_source():
    """Who says what, and for how much it counts."""
    text = str(explain_pattern(MaturityRules(), AntiPatternRules(), standing(a=(4, 0), b=(300, 0))))
    assert "a 4 helpful and 0 harmful (counts for 4.00)" in text
    assert "b 300 helpful and 0 harmful (counts for 12.00)" in text
