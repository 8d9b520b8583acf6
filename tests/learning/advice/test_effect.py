"""The effect of advice: whatever the order and number of deliveries, and said as it is."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from trackrecord.learning.advice.effect.comparison import (
    EffectReport,
    conclusion,
    effect_of,
)
from trackrecord.learning.advice.effect.sequence import interval_around, tasks_for
from trackrecord.learning.advice.effect.trials import Exposure, trials_of
from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.resources.reports.run_exposures import is_followed


def exposure(number, *, task=None, withheld=False, at=None, entries=("a",), holdout=0.5):
    return Exposure(
        exposure_id=f"e{number}",
        task_id=f"t{number}" if task is None else task,
        at=float(number) if at is None else at,
        is_withheld=withheld,
        holdout=holdout,
        entries=entries,
    )


def run(number, *, task=None, success=True, at=None, **more):
    return Run(
        outcome=number,
        task_id=f"t{number}" if task is None else task,
        ended_at=number + 1.0 if at is None else at,
        success=success,
        **more,
    )


def report_of(exposures, runs):
    return effect_of(trials_of(exposures, runs))


def fleet(tasks, *, given_rate, withheld_rate, seed=1, holdout=0.5, **more):
    """As many tasks, a share of them withheld, and how they ended."""
    chance = random.Random(seed)
    exposures, runs = [], []
    for number in range(tasks):
        withheld = chance.random() < holdout
        rate = withheld_rate if withheld else given_rate
        exposures.append(exposure(number, withheld=withheld, holdout=holdout))
        runs.append(run(number, success=chance.random() < rate, **more))
    return exposures, runs


tasks_of_a_fleet = some.lists(
    some.tuples(
        some.integers(0, 8),  # the task
        some.booleans(),
        some.integers(0, 500),  # when
        some.sampled_from([("a",), ("a", "b"), ()]),
        some.sampled_from([0.0, 0.5]),
    ),
    max_size=20,
)
ends_of_tasks = some.lists(
    some.tuples(some.integers(0, 8), some.booleans(), some.integers(0, 500)), max_size=20
)


@given(tasks_of_a_fleet, ends_of_tasks, some.randoms(use_true_random=False))
def test_order_and_doubling_make_no_difference(handed, ended, chance):
    """Of exposures and of outcomes alike: the report is the same to the last bit."""
    exposures = [
        exposure(number, task=f"t{task}", withheld=withheld, at=float(at), entries=entries)
        for number, (task, withheld, at, entries, _) in enumerate(handed)
    ]
    runs = [
        run(number, task=f"t{task}", success=success, at=float(at))
        for number, (task, success, at) in enumerate(ended)
    ]
    expected = report_of(exposures, runs)
    doubled_exposures, doubled_runs = exposures * 2, runs * 2
    chance.shuffle(doubled_exposures)
    chance.shuffle(doubled_runs)
    assert report_of(doubled_exposures, doubled_runs) == expected


def test_the_first_exposure_and_the_first_outcome_after_it_count():
    """A retry was assigned before; what ended before the exposure has nothing to do with it."""
    exposures = [
        exposure(1, task="t", at=1000.0),
        exposure(2, task="t", at=2000.0, withheld=True),
    ]
    runs = [
        run(1, task="t", at=500.0, success=False),
        run(2, task="t", at=1500.0, success=True),
        run(3, task="t", at=2500.0, success=False),
    ]
    (trial,) = trials_of(exposures, runs).ended
    assert (trial.is_given, trial.run.outcome) == (True, 2)


def test_what_has_no_other_side_is_counted_apart():
    """Exposures without an outcome, outcomes without an exposure, and tasks with no entry."""
    exposures = [
        exposure(1),
        exposure(2, withheld=True),
        exposure(3, withheld=True),
        exposure(4, entries=()),
    ]
    found = trials_of(exposures, [run(1), run(9), run(4)])
    assert [trial.run.task_id for trial in found.ended] == ["t1"]
    assert (found.open, found.empty) == ((0, 2), 1)


@pytest.mark.parametrize(
    ("given_rate", "withheld_rate", "verdict"),
    [(0.8, 0.5, "helps"), (0.5, 0.8, "hurts"), (0.6, 0.6, "no effect seen")],
)
def test_what_is_there_is_said(given_rate, withheld_rate, verdict):
    """That it hurts as readily as that it helps; and in the words, too."""
    exposures, runs = fleet(800, given_rate=given_rate, withheld_rate=withheld_rate)
    report = report_of(exposures, runs)
    assert report.success.verdict == verdict
    words = {"helps": "Advice helps", "hurts": "Advice hurts", "no effect seen": "No effect seen"}
    assert conclusion(report)[0].startswith(words[verdict])


def test_few_tasks_say_nothing():
    """However clear they look; and it says how many are needed."""
    exposures, runs = fleet(30, given_rate=1.0, withheld_rate=0.0)
    report = report_of(exposures, runs)
    assert report.success.verdict == "too few"
    assert "Too few tasks" in conclusion(report)[0]
    assert report.needed > 300
    assert conclusion(EffectReport())[0].startswith("Nothing was handed")


@pytest.mark.parametrize("seed", range(6))
def test_outcomes_that_one_arm_lacks_allow_no_verdict(seed):
    """Advice does nothing, and 30% of the tasks that fail with it never report: not that it helps.

    Nor is an entry called harmful where successes are missing. What both arms lack alike is no
    reason.
    """
    exposures, runs = fleet(2500, given_rate=0.65, withheld_rate=0.65, seed=seed)
    chance = random.Random(seed)
    withheld = {each.task_id for each in exposures if each.is_withheld}
    for wanted, entries in ((False, "helps"), (True, "hurts")):
        reported = [
            each
            for each in runs
            if each.success is not wanted
            or each.task_id in withheld
            or chance.random() < (0.7 if entries == "helps" else 0.6)
        ]
        report = report_of(exposures, reported)
        assert report.success.verdict == "outcomes missing"
        assert conclusion(report)[0].startswith("Nothing can be said: ")
    alike = report_of(exposures, [each for each in runs if chance.random() < 0.8])
    assert alike.success.verdict == "no effect seen"


def test_what_has_ended_before_a_holdout_began_lacks_nothing():
    """The tasks of today have not ended yet, with advice or without; those of last year have."""
    before = [exposure(number, holdout=0.0) for number in range(2000)]
    now = [exposure(number, withheld=number % 2 == 0) for number in range(2000, 2400)]
    runs = [run(number) for number in range(2000)]
    runs += [run(number, success=number % 3 > 0) for number in range(2000, 2400) if number % 5 > 1]
    found = trials_of([*before, *now], runs)
    assert found.open == (80, 80)
    assert not found.lack_unequally


def test_a_rare_failure_that_becomes_rarer_is_found():
    """From 90% to 98%, with a tenth of the tasks withheld: by the variance of each arm."""
    verdicts = [
        report_of(
            *fleet(3000, given_rate=0.98, withheld_rate=0.9, seed=seed, holdout=0.1)
        ).success.verdict
        for seed in range(10)
    ]
    assert verdicts.count("helps") >= 8


def test_so_many_tasks_show_a_difference_in_four_of_five_projects():
    """And not in every second one."""
    tasks = tasks_for(0.1, 0.48, 0.3)
    shown = [
        report_of(
            *fleet(tasks, given_rate=0.7, withheld_rate=0.6, seed=seed, holdout=0.3)
        ).success.verdict
        == "helps"
        for seed in range(100)
    ]
    assert 0.68 <= sum(shown) / 100 <= 0.92


def test_a_project_with_few_ids_that_recur_is_told_why_nothing_shows():
    """Each id counts once, however often it is worked on."""
    exposures = [
        exposure(number, task=f"nightly-{number % 12}", withheld=number % 2 == 0)
        for number in range(400)
    ]
    runs = [run(number, task=f"nightly-{number % 12}") for number in range(400)]
    said = " ".join(conclusion(report_of(exposures, runs)))
    assert "388 requests were for a task_id that had been handed advice before" in said
    once = fleet(30, given_rate=1.0, withheld_rate=0.0)
    assert "had been handed advice before" not in " ".join(conclusion(report_of(*once)))


def test_tasks_are_compared_within_their_kind():
    """Withheld tasks that happen to be easy do not make advice look bad."""
    exposures, runs = [], []
    for number in range(900):
        is_easy = number % 3 == 0
        withheld = number % 10 < (9 if is_easy else 1)
        exposures.append(exposure(number, withheld=withheld))
        success = number % 100 < (90 if is_easy else 30)
        runs.append(run(number, success=success, trigger="easy" if is_easy else "hard"))
    report = report_of(exposures, runs)
    crude = report.success.given.mean - report.success.withheld.mean
    assert crude < -0.3
    assert abs(report.success.difference) < 0.06
    assert set(report.kinds) == {"easy", "hard"}


def test_tasks_of_another_holdout_are_another_stratum():
    """Those from before the holdout began have nobody to be compared with."""
    before = [exposure(number, holdout=0.0) for number in range(100)]
    now = [exposure(number, withheld=number % 2 == 0) for number in range(100, 200)]
    runs = [run(number, success=number >= 100) for number in range(200)]
    report = report_of([*before, *now], runs)
    assert report.success.given.tasks == report.success.withheld.tasks == 50
    assert report.success.difference == 0


def test_each_measure_that_was_reported_is_compared():
    """The others are missing; a longer duration is not called a help."""
    chance = random.Random(3)
    exposures, runs = fleet(600, given_rate=0.7, withheld_rate=0.7)
    slower = [
        Run(
            outcome=each.outcome, task_id=each.task_id, ended_at=each.ended_at,
            success=each.success, error_count=1,
            duration_ms=chance.randint(900, 1100) + (0 if exposures[number].is_withheld else 500),
        )
        for number, each in enumerate(runs)
    ]  # fmt: skip
    report = report_of(exposures, slower)
    by_name = {each.measure.name: each for each in report.overall}
    assert set(by_name) == {"success", "errors", "duration"}
    assert by_name["duration"].verdict == "hurts"
    assert by_name["duration"].difference == pytest.approx(0.5, abs=0.05)
    assert by_name["errors"].verdict == "too few"  # nothing varies, so nothing can be said


@pytest.mark.parametrize(
    ("entry", "follows", "does_not"),
    [
        ("split", {"patterns": ("split",)}, {"patterns": ("other",)}),
        ("anti-split", {"patterns": ()}, {"patterns": ("split",)}),
        (
            "skill-1",
            {"steps": (RunStep("a"), RunStep("b"), RunStep("c"))},
            {"steps": (RunStep("a"),)},
        ),
        ("failing:a+b", {"steps": (RunStep("a"),)}, {"steps": (RunStep("b"), RunStep("a"))}),
    ],
)
def test_following(entry, follows, does_not):
    """A pattern is followed by naming it, a procedure by its tools; of a memory no run shows it."""
    tools_of = {"skill-1": frozenset("ab")}
    assert is_followed(entry, run(1, **follows), tools_of)
    assert not is_followed(entry, run(2, **does_not), tools_of)
    assert is_followed("memory:m", run(3), tools_of) is None


def test_the_interval_shrinks_with_tasks_and_is_wider_than_a_single_look_allows():
    """So that nobody is misled who looks often."""
    widths = [
        interval_around(0.1, 0.5 / tasks**0.5, 0.5).high for tasks in (100, 400, 1600, 100_000)
    ]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] - 0.1 > 1.96 * 0.5 / 100_000**0.5
    assert tasks_for(0.1, 0.5, 0.5) < tasks_for(0.1, 0.5, 0.1) < tasks_for(0.05, 0.5, 0.1)


def test_looking_after_every_batch_the_interval_covers_the_truth():
    """The planted effect at 0, + and −: few of many seeds ever miss it, at any look."""
    from benchmarks.worlds.fleet import FLEETS, rows

    small = [replace(fleet, tasks=1000, batch=50, holdout=0.3) for fleet in FLEETS[:3]]
    for row in rows(range(25), small):
        assert row["always_covered"] >= 22, row
        wrong = {"helps": "said_hurts", "hurts": "said_helps"}
        for word, other in wrong.items():
            if word in row["fleet"]:
                assert row[other] == 0, row
