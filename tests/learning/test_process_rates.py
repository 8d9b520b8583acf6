"""Rates of a project's process, and the gate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from trackrecord.learning.outcomes.gate import CHECKS, BenchmarkRules, judge
from trackrecord.learning.outcomes.rates import (
    MOST_COUNTED,
    RATES,
    WORST_NAMED,
    ProcessFacts,
    SpreadCounter,
    TaskCount,
    changes,
    snapshot,
)

counts = st.none() | st.integers(0, 50)
facts = st.builds(
    ProcessFacts,
    st.booleans(),
    st.floats(0, 1),
    counts,
    counts,
    counts,
    counts,
    counts,
    counts,
)


def taken(*given_facts, proven=0):
    return snapshot(given_facts, touching_proven=proven, at=5.0)


def test_each_rate_is_what_its_name_says():
    """Three tasks, computed by hand."""
    run = taken(
        ProcessFacts(True, 1.0, reviews=4, rejections=1, retries=2, tool_calls=3),
        ProcessFacts(False, 0.25, reviews=6, rejections=2, test_fail_loops=3, tool_calls=0),
        ProcessFacts(True, 0.25, hard_limit_hits=6),
        proven=1,
    )
    assert run.outcomes == 3
    assert run.rejection_rate == pytest.approx(0.3)
    assert run.test_fail_loops == 1.0
    assert run.tool_calls == 1.5  # the third one tells nothing of its tools
    assert run.hard_limit_hits == 2.0
    assert run.retry_count == pytest.approx(2 / 3)
    assert run.success_rate == pytest.approx(2 / 3)
    assert run.mean_score == 0.5
    assert run.proven_share == pytest.approx(1 / 3)
    assert (run.totals.reviews, run.totals.rejections, run.totals.retries) == (10, 3, 2)
    assert (run.totals.tool_calls, run.totals.outcomes_with_tools) == (3, 2)


def test_a_rate_without_a_denominator_is_none():
    """Not 0: nothing was reviewed, nobody told of tools, or there are no outcomes at all."""
    nothing = taken()
    assert all(getattr(nothing, name) is None for name in RATES)
    silent = taken(ProcessFacts(True, 1.0))
    assert silent.rejection_rate is None
    assert silent.tool_calls is None
    assert silent.retry_count == 0.0


def test_a_rejection_is_a_review():
    """Also where only the rejection was told: no rate is above 1."""
    assert taken(ProcessFacts(True, 1.0, rejections=2)).rejection_rate == 1.0


@given(st.lists(facts, max_size=20), st.randoms())
def test_order_does_not_matter_and_rates_keep_to_their_bounds(given_facts, random):
    """Sums do not know it."""
    shuffled = list(given_facts)
    random.shuffle(shuffled)
    one = snapshot(given_facts, touching_proven=0, at=1.0)
    other = snapshot(shuffled, touching_proven=0, at=1.0)
    assert one.totals == other.totals
    for name in RATES:
        assert getattr(one, name) == pytest.approx(getattr(other, name))
    for name in ("rejection_rate", "success_rate", "mean_score"):
        value = getattr(one, name)
        assert value is None or 0 <= value <= 1 + 1e-9


def test_changes_between_runs():
    """None where one of them has no value."""
    before = taken(ProcessFacts(True, 1.0, retries=1))
    after = taken(ProcessFacts(False, 0.5, retries=4, reviews=1, rejections=1))
    found = changes(before, after)
    assert found["retry_count"] == 3.0
    assert found["success_rate"] == -1.0
    assert found["rejection_rate"] is None
    assert set(changes(None, after).values()) == {None}


def good(**more):
    return taken(ProcessFacts(True, 1.0, **{"reviews": 10, "rejections": 3, "retries": 3,
                                            "hard_limit_hits": 5, **more}))  # fmt: skip


def test_thresholds_are_inclusive():
    """What lies exactly on one passes; what lies beyond does not."""
    assert [(c.name, c.value, c.threshold, c.operator, c.passed)
            for c in judge(BenchmarkRules(), good())] == [
        ("rejection_rate", 0.3, 0.3, "<=", True),
        ("retry_count", 3.0, 3.0, "<=", True),
        ("hard_limit_hits", 5.0, 5.0, "<=", True),
        ("worst_retry_count", 3, 3.0, "<=", True),
        ("worst_hard_limit_hits", 5, 5.0, "<=", True),
        ("over_retry_count", 0.0, 0.0, "<=", True),
        ("over_hard_limit_hits", 0.0, 0.0, "<=", True),
    ]  # fmt: skip


def test_one_bad_task_among_fifty_fails_and_is_named():
    """The averages pass; the worst task and the share of such tasks do not."""
    fine = [ProcessFacts(True, 1.0, reviews=1, task_id=f"t{number}") for number in range(49)]
    bad = ProcessFacts(True, 1.0, retries=100, hard_limit_hits=200, task_id="bad")
    checks = {check.name: check for check in judge(BenchmarkRules(), taken(*fine, bad))}
    assert checks["retry_count"].passed
    assert checks["hard_limit_hits"].passed
    failed = {name for name, check in checks.items() if not check.passed}
    assert failed == {
        "worst_retry_count", "worst_hard_limit_hits", "over_retry_count", "over_hard_limit_hits",
    }  # fmt: skip
    assert checks["worst_retry_count"].tasks == (TaskCount("bad", 100),)
    assert checks["over_hard_limit_hits"].value == 0.02
    assert checks["over_hard_limit_hits"].tasks == (TaskCount("bad", 200),)
    tolerant = BenchmarkRules(over_retry_count_max=0.02)
    (share,) = judge(tolerant, taken(*fine, bad), ["over_retry_count"])
    assert share.passed
    assert share.tasks == (TaskCount("bad", 100),)


def test_a_run_of_an_earlier_version_is_no_pass():
    """It does not say what single tasks did."""
    old = structs.replace(good(), retries=None, limit_hits=None)
    checks = judge(BenchmarkRules(), old)
    assert [check.passed for check in checks] == [True] * 3 + [False] * 4
    assert [check.value for check in checks[3:]] == [None] * 4


@given(
    st.lists(st.tuples(st.sampled_from("abcdefghijklmnopqrstuvwxyzABCDEFG"), st.integers(0, 40))),
    st.integers(0, 41),
)
def test_a_spread_is_what_counting_by_hand_gives(counted, limit):
    """The shares, and the worst tasks, each with its highest count; whatever the order."""
    counter = SpreadCounter()
    for task_id, count in counted:
        counter.add(task_id, count)
    found = counter.spread()
    highest = {}
    for task_id, count in counted:
        highest[task_id] = max(count, highest.get(task_id, 0))
    by_hand = sorted(((-count, task) for task, count in highest.items() if count))
    assert found.worst == tuple(TaskCount(task, -count) for count, task in by_hand[:WORST_NAMED])
    assert found.highest == max((count for _, count in counted), default=None)
    assert found.over(limit) == sum(count > limit for _, count in counted)
    if counted:
        assert found.share_over(limit) == found.over(limit) / len(counted)


def test_counts_beyond_all_bounds_are_kept_bounded():
    """Each is over every limit that there can be; the worst keep their numbers."""
    counter = SpreadCounter()
    for number in range(3 * MOST_COUNTED):
        counter.add(f"t{number}", number)
    found = counter.spread()
    assert len(found.outcomes_by_count) == MOST_COUNTED + 2
    assert found.over(MOST_COUNTED) == 2 * MOST_COUNTED - 1
    assert found.highest == 3 * MOST_COUNTED - 1


@pytest.mark.parametrize(
    ("more", "failed"),
    [({"rejections": 4}, "rejection_rate"), ({"retries": 4}, "retry_count"),
     ({"hard_limit_hits": 6}, "hard_limit_hits")],
)  # fmt: skip
def test_each_threshold_fails_for_itself(more, failed):
    """And only it, with what is said of the only task."""
    checks = judge(BenchmarkRules(), good(**more))
    names = {failed, f"worst_{failed}", f"over_{failed}"} & set(CHECKS)
    assert {check.name for check in checks if not check.passed} == names


def test_no_data_is_not_a_pass():
    """No run, a run without outcomes, a rate without a denominator."""
    for nothing in (None, taken()):
        checks = judge(BenchmarkRules(), nothing)
        assert [check.name for check in checks] == list(CHECKS)
        assert not any(check.passed for check in checks)
        assert all(check.value is None for check in checks)
    unreviewed = judge(BenchmarkRules(), taken(ProcessFacts(True, 1.0)))
    assert [check.passed for check in unreviewed] == [False] + [True] * 6


@pytest.mark.parametrize(
    "wrong", [{"rejection_rate_max": 1.1}, {"retry_count_max": -1},
              {"hard_limit_hits_max": float("nan")}, {"rejection_rate_max": float("nan")},
              {"worst_retry_count_max": MOST_COUNTED + 1}, {"worst_hard_limit_hits_max": -1},
              {"over_retry_count_max": 1.1}, {"over_hard_limit_hits_max": float("nan")}],
)  # fmt: skip
def test_wrong_thresholds_are_refused(wrong):
    """When the rules are built."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        BenchmarkRules(**wrong)
