"""Joining entries of one outcome: a function of their set, each part from the best entry."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.errors import InvalidOutcome
from trackrecord.wire.join import OutcomeEntry, join
from trackrecord.wire.outcome import decode_outcome, decode_reported

NOW = 1_780_000_000.0
CALLS = [{"tool": "edit"}, {"tool": "test"}]


def entry(success: bool | None = True, *, at: float = NOW, **fields: object) -> OutcomeEntry:
    """An entry about the outcome `o`."""
    given = {
        "outcome_id": "o", "task_id": "t", "success": success, "timestamp": at, "reporter": "ci",
        **fields,
    }  # fmt: skip
    body = json.dumps({name: value for name, value in given.items() if value is not ...})
    return OutcomeEntry(body.encode(), at + 1)


def joined(*entries: OutcomeEntry) -> dict:
    return json.loads(join(entries).body)


_entries = st.lists(
    st.builds(
        entry,
        st.sampled_from([True, False, None]),
        at=st.sampled_from([NOW, NOW + 5, NOW + 9]),
        outcome_source=st.sampled_from(["evaluator", "explicit", "tests", "heuristic"]),
        captured_from=st.sampled_from(
            [None, "transcript", "plugin", "hooks", "traces", "repository"]
        ),
        tool_graph=st.sampled_from([..., [], CALLS, CALLS[:1]]),
        failure_mode=st.sampled_from([..., None, "timeout", "crash"]),
        criteria=st.sampled_from([..., {"no_bugs": "helpful"}]),
        strategy=st.sampled_from([..., "file-based"]),
        commits=st.sampled_from([..., ["a" * 40], ["b" * 40, "c" * 40]]),
        own=st.sampled_from([..., 1, 2]),
    ),
    min_size=1,
    max_size=8,
)


_SPEAKERS = st.sampled_from(["mine", "theirs", "third"])
_words = st.lists(
    st.builds(
        lambda reporter, success, at, kind, tells: entry(
            success, at=at, outcome_source=kind, reporter=reporter,
            **({"strategy": f"of {reporter}"} if tells and reporter == "mine" else {}),
        ),
        _SPEAKERS,
        st.sampled_from([True, False, None]),
        st.sampled_from([NOW, NOW + 5, NOW + 9]),
        st.sampled_from(["evaluator", "explicit", "tests", "heuristic"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=8,
)  # fmt: skip


@given(_entries | _words, st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_makes_a_difference(entries, chance):
    """The same record from the same set."""
    shuffled = entries + chance.sample(entries, chance.randint(0, len(entries)))
    chance.shuffle(shuffled)
    assert join(shuffled) == join(entries)


@given(_entries | _words, st.randoms(use_true_random=False))
def test_what_is_forgotten_would_have_added_nothing(entries, chance):
    """One by one, with only what was kept so far, or all at once."""
    kept = ()
    for each in chance.sample(entries, len(entries)):
        found = join([*kept, each])
        kept = found.entries
    # The order may decide which of two entries is kept that say the same.
    assert (found.body, found.owner) == (join(entries).body, join(entries).owner)
    assert join(kept).body == found.body


def test_a_verdict_on_half_of_a_run_does_not_outlive_the_rest():
    """What was read again later is known better, also where it proves nothing any more."""
    half = entry(
        False, outcome_source="heuristic", captured_from="transcript", tool_graph=CALLS[:1]
    )
    whole = entry(None, at=NOW + 9, captured_from="transcript", tool_graph=CALLS)
    assert joined(half, whole)["success"] is None
    green = entry(True, outcome_source="tests", captured_from="transcript", tool_graph=CALLS[:1])
    assert joined(green, whole)["success"] is None
    # What a person said stays, and so does what only amends the run.
    said = entry(False, at=NOW, outcome_source="explicit", captured_from="transcript")
    assert joined(half, whole, said)["success"] is False


def test_the_last_word_of_a_repository_counts():
    """A revert that was reverted takes nothing with it."""
    run = entry(True, outcome_source="tests", captured_from="transcript", tool_graph=CALLS)
    reverted = entry(False, at=NOW + 1, outcome_source="explicit", captured_from="repository")
    stands = entry(None, at=NOW + 2, captured_from="repository")
    assert joined(run, reverted)["success"] is False
    assert joined(run, reverted, stands) == joined(run)
    again = entry(False, at=NOW + 3, outcome_source="explicit", captured_from="repository")
    assert joined(run, reverted, stands, again)["success"] is False


def _outcome(entry: OutcomeEntry):
    return decode_outcome(entry.body)


@given(_entries)
def test_the_record_is_an_outcome(entries):
    """It is as valid as what it is made of."""
    outcome = decode_outcome(join(entries).body)
    known = {decode_outcome(each.body).success for each in entries}
    assert outcome.success in known
    # Only what was captured can lose to what knows more of the run and has no verdict.
    said = [each for each in map(_outcome, entries) if each.captured_from is None]
    assert outcome.success is not None or all(each.success is None for each in said)
    assert outcome.outcome_id == "o"
    if outcome.success is not False:
        assert outcome.failure_mode is None


def test_verdicts_by_rank():
    """Evaluator, a person's word, tests, a guess, none; of two alike the later one."""
    ranked = [
        entry(None, at=NOW + 9, outcome_source="evaluator", grounds=[{"kind": "none"}]),
        entry(True, at=NOW + 8, outcome_source="heuristic", grounds=[{"kind": "guess"}]),
        entry(False, at=NOW + 7, outcome_source="tests", grounds=[{"kind": "check"}]),
        entry(True, at=NOW + 6, outcome_source="explicit", grounds=[{"kind": "word"}]),
        entry(False, at=NOW + 5, outcome_source="evaluator", grounds=[{"kind": "score"}]),
        entry(True, at=NOW + 5.5, outcome_source="evaluator", grounds=[{"kind": "later"}]),
    ]
    for count in range(1, len(ranked) + 1):
        best = json.loads(ranked[count - 1].body)
        found = joined(*ranked[:count])
        for name in ("success", "outcome_source", "grounds"):
            assert found[name] == best[name]


def test_what_the_calls_prove_is_taken_from_who_has_most_of_them():
    """A trace that lost the last edit proves nothing; what somebody said still counts."""
    trace = entry(
        True, at=NOW + 9, outcome_source="tests", captured_from="traces", tool_graph=CALLS
    )
    whole = entry(None, captured_from="transcript", tool_graph=[*CALLS, {"tool": "edit"}])
    assert joined(trace)["success"] is True
    assert joined(trace, whole)["success"] is None
    seen = entry(None, at=NOW + 9, captured_from="traces", grounds=[{"kind": "nothing seen"}])
    checked = entry(
        None, captured_from="transcript", tool_graph=CALLS, grounds=[{"kind": "no check"}]
    )
    assert joined(seen, checked)["grounds"] == [{"kind": "no check"}]
    reverted = entry(False, outcome_source="heuristic")
    assert joined(trace, reverted)["success"] is True
    assert joined(trace, reverted, whole)["success"] is False
    scored = entry(True, outcome_source="evaluator", captured_from="traces", tool_graph=CALLS)
    assert joined(trace, reverted, whole, scored)["outcome_source"] == "evaluator"


def test_traces_never_replace_a_recording():
    """A recording without calls is of a run without calls: a trace's may be another turn's."""
    recorded = entry(
        None, at=NOW, captured_from="transcript", instruction="And of Spain?",
        grounds=[{"kind": "nothing seen"}],
    )  # fmt: skip
    trace = entry(
        True, at=NOW + 9, outcome_source="tests", captured_from="traces", tool_graph=CALLS,
        files_touched=["a.py"], error_count=2, cost={"usd": 0.5},
    )  # fmt: skip
    found = joined(recorded, trace)
    assert (found["success"], found["grounds"]) == (None, [{"kind": "nothing seen"}])
    assert found["captured_from"] == "transcript"
    assert not {"tool_graph", "files_touched", "error_count"} & found.keys()
    assert found["cost"] == {"usd": 0.5}
    reverted = entry(
        False, captured_from="transcript", instruction=..., tool_graph=..., source="codex"
    )
    assert joined(reverted, trace)["tool_graph"] == CALLS


def test_an_amendment_changes_the_verdict_and_nothing_else():
    """When the task ended, its calls and its text stay, whichever of the two came first."""
    told = {"tool_graph": CALLS, "instruction": "mend it", "duration_ms": 9, "own": [1]}
    outcome = entry(True, outcome_source="tests", criteria={"no_bugs": "helpful"}, **told)
    later = entry(False, at=NOW + 99, grounds=[{"kind": "revert"}], failure_mode="reverted")
    found = joined(later, outcome)
    assert {name: found[name] for name in told} == told
    assert (found["success"], found["timestamp"]) == (False, NOW)
    assert (found["failure_mode"], found["grounds"]) == ("reverted", [{"kind": "revert"}])
    assert found["criteria"] == {"no_bugs": "helpful"}
    assert "outcome_source" not in found


def test_how_it_failed_is_told_of_failures_only():
    """A success has no kind of failure; a second failure keeps that of the first."""
    failed = entry(False, outcome_source="tests", failure_mode="assertion")
    assert "failure_mode" not in joined(failed, entry(True, at=NOW + 1))
    assert joined(failed, entry(False, at=NOW + 1))["failure_mode"] == "assertion"


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"captured_from": "transcript", "tool_graph": CALLS[:1]}, {"captured_from": "plugin"}),
        ({"captured_from": "plugin"}, {"captured_from": "hooks"}),
        ({"captured_from": "hooks"}, {"captured_from": "traces"}),
        ({"captured_from": "traces"}, {}),
        ({"tool_graph": CALLS}, {"captured_from": "transcript", "tool_graph": []}),
        ({"tool_graph": CALLS}, {"tool_graph": CALLS[:1]}),
        ({"captured_from": "hooks", "tool_graph": CALLS}, {"captured_from": "hooks",
                                                           "tool_graph": CALLS[:1]}),
        ({"captured_from": "hooks", "at": NOW + 1}, {"captured_from": "hooks"}),
        ({"at": NOW}, {"at": NOW + 1}),
        ({"at": NOW + 1}, {"at": NOW, "tool_graph": ..., "duration_ms": ...}),
    ],
)  # fmt: skip
def test_who_tells_of_the_run(better, worse):
    """The more detailed source, then the one with more calls, then the moment."""
    told = {"tool_graph": CALLS, "duration_ms": 1}
    if "tool_graph" not in better | worse:
        better, worse = told | better, told | worse
    good, bad = entry(**{"duration_ms": 1, **better}), entry(**{"duration_ms": 2, **worse})
    found = joined(good, bad)
    assert found["duration_ms"] == 1
    assert found["timestamp"] == better.get("at", NOW)
    assert found.get("tool_graph") == (better if "tool_graph" in better | worse else told).get(
        "tool_graph"
    )


def test_what_the_best_one_lacks_comes_from_the_next():
    """Field by field; commits are put together."""
    best = entry(captured_from="transcript", tool_graph=CALLS, commits=["a" * 40])
    rest = entry(captured_from="hooks", instruction="mend it", source="x", commits=["b" * 40])
    found = joined(best, rest)
    assert (found["instruction"], found["source"]) == ("mend it", "x")
    assert found["captured_from"] == "transcript"
    assert found["commits"] == ["a" * 40, "b" * 40]
    assert len(joined(best, *(entry(commits=[f"{n:040}"]) for n in range(200)))["commits"]) == 100


def test_an_entry_without_a_moment_ended_when_it_was_received():
    """Which a later copy of it does not move."""
    early = OutcomeEntry(entry(timestamp=..., tool_graph=CALLS).body, NOW + 3)
    late = OutcomeEntry(early.body, NOW + 50)
    assert joined(late, early, entry(False, at=NOW + 60))["timestamp"] == NOW + 3


@given(_words)
def test_no_other_speaker_outranks_the_owners_tests(entries):
    """Whatever others say how often, and whenever it arrives; who amended is named."""
    tested = entry(True, outcome_source="tests", reporter="mine", strategy="of mine")
    own = [each for each in entries if b'"mine"' in each.body]
    assert joined(tested, *entries)["success"] == joined(tested, *own)["success"]
    assert "amended_by" not in joined(tested, *entries)


def test_another_speaker_fills_what_the_owner_does_not_know():
    """As an evaluator does: the record says whose word it is, and keeps the owner's fields."""
    run = entry(None, outcome_source=..., reporter="mine", strategy="plan", source="agent-a")
    other = {"reporter": "theirs", "source": "judge", "commits": ["c" * 40], "metadata": {"x": 1}}
    found = joined(entry(True, outcome_source="evaluator", **other), run)
    assert (found["success"], found["outcome_source"]) == (True, "evaluator")
    assert (found["source"], found["amended_by"]) == ("agent-a", "@token:theirs")
    assert found.keys().isdisjoint(("commits", "metadata"))
    assert decode_outcome(json.dumps(found).encode()).speaker == "@token:theirs"


def test_a_person_outranks_tests():
    """An amendment by hand counts as the owner's own, and the record names the person."""
    run = entry(True, outcome_source="tests", strategy="plan")
    found = joined(run, entry(False, reporter=..., judged_by="mia", at=NOW + 1))
    assert (found["success"], found["judged_by"]) == (False, "mia")


@pytest.mark.parametrize("field", ["judged_by", "amended_by"])
def test_judgements_cannot_be_reported(field):
    """Only the store says who judged: an entry that claims it is refused."""
    with pytest.raises(InvalidOutcome, match="trackrecord amend"):
        decode_reported(entry(**{field: "mia"}).body)
