"""Whose word counts for how much: shares of sources, and what none of them decides alone."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.lessons.find import find_lessons
from trackrecord.learning.advice.lessons.rules import LessonRules
from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.competences.episodes.tally import Episode, EpisodeTally
from trackrecord.learning.competences.record import Competence
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.competences.update import RecordUpdate, Signature, follow
from trackrecord.learning.explanation import explain_pattern
from trackrecord.learning.numbers.speaker_names import LOCAL, PERSON, TOKEN
from trackrecord.learning.numbers.speakers import (
    CapRules,
    SpeakerCounts,
    cap_of,
    may_be_quoted,
    shares,
)
from trackrecord.learning.patterns.evidence import Evidence, heard
from trackrecord.learning.patterns.maturity import AntiPatternRules, Maturity, MaturityRules
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
    said = {f"s{number}": (each, 0.0) for number, each in enumerate(given)}
    assert PERSON not in shares(CAPS, {**said, PERSON: (0.0, 1e6)})


def test_a_specialist_counts_in_full():
    """What one source alone tells of is not capped, whoever else speaks."""
    assert standing(ann=(45, 5)).state is Maturity.PROVEN
    assert standing(ann=(2, 8)).is_inverted


@pytest.mark.parametrize(
    ("won", "lost", "state"),
    [(2, 0, "candidate"), (3, 0, "established"), (5, 0, "proven"), (17, 3, "established"),
     (18, 3, "proven"), (6, 3, "deprecated")],
)  # fmt: skip
def test_a_fleet_that_only_publishes_has_the_usual_states(won, lost, state):
    """Where nothing is verified, claims count in full, of one source and of several."""
    halves = {"a": (won // 2, lost // 2), "b": (won - won // 2, lost - lost // 2)}
    assert claimed({"a": (won, lost)}).state == state
    assert claimed(halves).state == state
    verified = claimed({"a": (won, 0)}, SpeakerCounts(helpful=1, decayed_helpful=1.0, speaker="t"))
    assert verified.evidence.decayed_helpful == won / 2 + 1


def claimed(counts: dict[str, tuple[int, int]], *more: SpeakerCounts) -> Standing:
    """The standing of a pattern by what agents themselves claim, and more."""
    parts = [
        SpeakerCounts(
            helpful=won, harmful=lost, decayed_helpful=won, decayed_harmful=lost, speaker=speaker,
            succeeded=won, claimed_helpful=won, claimed_harmful=lost,
        )
        for speaker, (won, lost) in counts.items()
    ]  # fmt: skip
    won, lost = (sum(each[place] for each in counts.values()) for place in (0, 1))
    evidence = Evidence(won, 0, lost, won, lost, succeeded=won)
    facts = PatternFacts("plan", "named", "plan", None)
    known = heard(CAPS, evidence, [*parts, *more])
    return standing_of(MaturityRules(), AntiPatternRules(), facts, known)


@given(st.integers(0, 100))
def test_one_liar_of_ten_changes_nothing_that_nine_agree_on(lies):
    """What they trust is not warned of and stays recommended; what they warn of is warned of."""
    good = standing(liar=(0, lies), **{f"s{n}": (4, 0) for n in range(9)})
    assert good.state in (Maturity.PROVEN, Maturity.ESTABLISHED)
    assert not good.is_inverted
    bad = standing(liar=(lies, 0), **{f"s{n}": (1, 3) for n in range(9)})
    assert bad.is_inverted


def test_a_person_needs_nobody_to_agree():
    """One word is enough where it says the same as the sums."""
    assert standing(person=(0, 4), other=(1, 0)).state is Maturity.DEPRECATED


@pytest.mark.parametrize("speakers", [["a"] * 4, ["a", "a", "b", "b"], [PERSON] * 4])
def test_a_record_of_one_source(speakers):
    """One source is enough for a competence record, whoever else speaks."""
    record = followed([(speaker, True) for speaker in speakers])
    assert record.performance.success_count == 4


@given(st.integers(0, 100))
def test_one_liar_of_ten_does_not_silence_a_record(lies):
    """Its failures count for no more than its share of the record's numbers."""
    honest = [(f"s{n}", True) for n in range(9) for _ in range(4)]
    record = followed([*honest, *[("liar", False)] * lies])
    assert record.performance.success_count == 36
    assert record.performance.success_rate > 0.8


def followed(episodes: list[tuple[str, bool]]) -> Competence:
    """The record that follows from who succeeded with its tools, and who did not."""
    tally = EpisodeTally()
    for speaker, success in episodes:
        tally.add(Episode(("grep", "edit"), success=success, ended_at=NOW, speaker=speaker))
    change = follow(CompetenceRules(), Signature("default", "edit+grep", tally), None, NOW)
    assert isinstance(change, RecordUpdate)
    return change.record


@pytest.mark.parametrize(
    ("tellers", "rivals", "everyone", "told"),
    [
        ({"a"}, {"a"}, {"a"}, True),
        ({"a"}, {"a"}, {"a", "b"}, False),
        ({"a", "b"}, {"a", "b"}, {"a", "b"}, False),
        ({LOCAL}, {LOCAL, "a"}, {LOCAL, "a"}, True),
        ({LOCAL}, {LOCAL, f"{TOKEN}ci"}, {LOCAL, f"{TOKEN}ci"}, False),
        ({LOCAL, f"{TOKEN}ci"}, {LOCAL, f"{TOKEN}ci"}, {LOCAL, f"{TOKEN}ci"}, True),
        ({PERSON}, {PERSON, LOCAL}, {PERSON, LOCAL}, True),
    ],
)
def test_words_come_from_who_is_known(tellers, rivals, everyone, told):
    """From a known speaker, two where several known ones tell the like, or the only one ever."""
    assert may_be_quoted(tellers, rivals, everyone) is told


def run(number: int, speaker: str, tool: str, error: str | None = None) -> Run:
    """A run of one call."""
    return Run(
        outcome=number, task_id=f"t{number}", ended_at=NOW - number, success=error is None,
        steps=(RunStep(tool, error),), speaker=speaker, source=speaker,
    )  # fmt: skip


def test_a_lesson_of_one_source():
    """It is marked where others call its tool, and not where nobody does or another one agrees."""
    failing = [run(number, "liar", "deploy", "no such host") for number in range(6)]
    (alone,) = find_lessons(failing, LessonRules(), now=NOW)
    assert not alone.is_of_one
    elsewhere = run(80, "honest", "read_file")
    (specialist,) = find_lessons([*failing, elsewhere], LessonRules(), now=NOW)
    assert not specialist.is_of_one
    other = run(90, "honest", "deploy")
    (beside,) = find_lessons([*failing, other], LessonRules(), now=NOW)
    assert beside.is_of_one
    agreeing = msgspec.structs.replace(failing[0], outcome=91, task_id="t91", speaker="honest")
    (agreed,) = find_lessons([*failing, agreeing], LessonRules(), now=NOW)
    assert not agreed.is_of_one


def test_an_explanation_counts_by_source():
    """Who says what, and for how much it counts."""
    disputed = standing(a=(4, 0), b=(0, 300))
    text = str(explain_pattern(MaturityRules(), AntiPatternRules(), disputed))
    assert "a 4 helpful and 0 harmful (counts for 4.00)" in text
    assert "b 0 helpful and 300 harmful (counts for 12.00)" in text
