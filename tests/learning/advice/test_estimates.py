"""Estimates: an answer for everything, the same whatever the order, told in words and numbers."""

from dataclasses import asdict

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.estimates.estimates import Level, estimate
from trackrecord.learning.advice.estimates.wording import sentence, why
from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.numbers.wilson import wilson_interval

NOW = 1_790_000_000.0
DAY = 86_400.0
HALF_LIFE = 90.0


def run(number, tools="", *, success=True, age=0.0, **fields):
    """A run of a task of its own, with one letter for each tool."""
    return Run(
        outcome=number,
        task_id=fields.pop("task_id", f"t{number}"),
        ended_at=NOW - age * DAY,
        success=success,
        steps=tuple(map(RunStep, tools)),
        **fields,
    )


def many(first, tools, successes, runs, **fields):
    """So many runs with the same tools."""
    return [
        run(first + number, tools, success=number < successes, **fields) for number in range(runs)
    ]


def estimates(runs, now=NOW):
    return estimate(runs, now=now, half_life_days=HALF_LIFE)


RUNS = st.lists(
    st.builds(
        dict,
        tools=st.sampled_from(["", "a", "ab", "c"]),
        success=st.booleans(),
        age=st.sampled_from([0.0, 3.0, 90.0, 1e5, -5.0]),
        task_id=st.sampled_from(["one", "two", "three"]),
        trigger=st.sampled_from(["", "red", "blue"]),
        patterns=st.sampled_from([(), ("p",), ("p", "q")]),
    ),
    max_size=25,
)


def told(runs):
    """All that is estimated of runs, as data."""
    found = estimates(runs)
    parts = [found.project]
    parts += [found.kind(position) for position in range(len(found.kinds.names))]
    for signature, cells in found.counts.by_procedure_and_kind.items():
        parts += [found.procedure(signature), *(found.procedure(signature, each) for each in cells)]
    parts += [found.pattern(slug) for slug in found.counts.by_pattern]
    return found.kinds.names, [asdict(part) for part in parts]


@given(RUNS, st.randoms(use_true_random=False))
def test_neither_order_nor_number_of_deliveries_matters(given_runs, chance):
    """To the last digit; rows of outcomes are given in the order of delivery."""
    runs = [run(number, **fields) for number, fields in enumerate(given_runs)]
    shuffled = runs * 2
    chance.shuffle(shuffled)
    assert told(shuffled) == told(runs)
    other_rows = list(range(len(runs)))
    chance.shuffle(other_rows)
    renumbered = [
        msgspec.structs.replace(each, outcome=row)
        for each, row in zip(runs, other_rows, strict=True)
    ]
    assert told(renumbered) == told(runs)


@given(RUNS)
def test_every_estimate_is_a_rate_within_its_interval(given_runs):
    """Whatever the ages are, also of runs that end in the future."""
    found = estimates([run(number, **fields) for number, fields in enumerate(given_runs)])
    for signature in (*found.counts.by_procedure, "never+seen"):
        for kind in (None, *range(len(found.kinds.names))):
            part = found.procedure(signature, kind)
            low, high = part.posterior.interval
            assert 0.0 <= low <= part.posterior.mean <= high <= 1.0
            assert 0.0 <= part.order_key <= 1.0
            assert sentence(part)
            assert why(part)


def test_what_was_never_seen_has_the_base_rate():
    """Of the kind of task where that is known, else of the project; never 0.5."""
    found = estimates([*many(0, "a", 1, 20, trigger="hard"), *many(50, "b", 1, 20, trigger="odd")])
    unknown = found.procedure("never")
    assert (unknown.level, unknown.tally.runs) == (Level.PROJECT, 40)
    assert unknown.posterior.mean == pytest.approx(2.5 / 41)
    at_hard = found.procedure("never", found.kinds.position_for(trigger="hard"))
    assert (at_hard.level, at_hard.tally.runs) == (Level.KIND, 20)
    assert sentence(at_hard).startswith("no run of it is on record; such tasks succeed in 5%")
    assert sentence(estimates([]).procedure("a")) == "no run is on record yet"


def test_two_of_two_easy_tasks_do_not_outrank_nine_of_ten_hard_ones():
    """Although such tasks succeed anyway: the rate that is told is higher, the place is not."""
    found = estimates(
        [
            *many(0, "a", 2, 2, trigger="easy"), *many(20, "x", 30, 30, trigger="easy"),
            *many(60, "b", 9, 10, trigger="hard"), *many(80, "x", 2, 30, trigger="hard"),
        ]
    )  # fmt: skip
    assert found.procedure("a").posterior.mean > found.procedure("b").posterior.mean
    assert found.procedure("a").order_key < found.procedure("b").order_key


def test_age_weighs_once_and_draws_expect_what_it_took():
    """A run of one half-life ago counts half; what faded moves the prior, and weighs no more."""
    (tally,) = estimates([run(0, "a", age=HALF_LIFE)]).counts.by_procedure.values()
    assert (tally.runs, tally.decayed_runs, tally.decayed_successes) == (1, 0.5, 0.5)
    found = estimates([*many(0, "a", 2, 20, age=1e4), *many(50, "b", 16, 20)])
    forgotten, known = (found.procedure(each).drawn for each in "ab")
    usual = 16.5 / 21
    assert (forgotten.a + forgotten.b, forgotten.mean) == pytest.approx((3.0, (2 + 3 * usual) / 23))
    assert (known.a, known.b) == pytest.approx((16 + 3 * usual, 4 + 3 * (1 - usual)))


def test_success_at_easy_tasks_is_not_expected_at_hard_ones():
    """What was seen elsewhere is carried to a kind of task with the difficulty of both."""
    found = estimates(
        [
            *many(0, "a", 18, 20, trigger="easy"), *many(50, "b", 17, 20, trigger="easy"),
            *many(100, "b", 4, 20, trigger="hard"), *many(150, "c", 5, 20, trigger="hard"),
        ]
    )  # fmt: skip
    easy, hard = (found.kinds.position_for(trigger=each) for each in ("easy", "hard"))
    at_hard = found.procedure("a", hard)
    assert at_hard.level is Level.PROCEDURE
    assert 0.2 < at_hard.posterior.mean < 0.4
    assert found.procedure("a", easy).posterior.mean > 0.8
    assert found.procedure("a", easy).level is Level.PROCEDURE_IN_KIND


def test_recommended_is_what_does_better_than_such_tasks_do_otherwise():
    """Giving up mostly succeeds where everything does; reading succeeds more where little does."""
    runs = [
        *many(0, "g", 18, 20, trigger="easy"), *many(50, "x", 19, 20, trigger="easy"),
        *many(100, "r", 12, 20, trigger="hard"), *many(150, "x", 2, 20, trigger="hard"),
    ]  # fmt: skip
    found = estimates(runs)
    assert found.procedure("g").posterior.mean > found.procedure("r").posterior.mean
    assert not found.procedure("g").is_worth_recommending
    assert found.procedure("r").is_worth_recommending
    alone = estimates(many(0, "a", 7, 10)).procedure("a")
    assert not alone.effect.is_known
    said = why(alone)
    assert "nothing else was tried at comparable tasks, so its effect is not known" in said
    # Nobody knows how such tasks go otherwise: the project's rate is expected, not seen.
    assert any(line.startswith("without it, such tasks are expected to") for line in said)


def test_a_procedure_that_nobody_tried_is_not_set_against_others():
    """The rate of a kind of task is drawn towards the project's; no effect is talked of."""
    found = estimates([*many(0, "a", 7, 10, trigger="easy"), *many(20, "b", 2, 10, trigger="hard")])
    first, counts, expected = why(found.procedure("new", found.kinds.position_for(trigger="hard")))
    assert "no run of it is on record; such tasks succeed in" in first
    assert "level of the kind: 2 of 10 runs succeeded" in counts
    assert expected.startswith(
        "other tasks of the project succeed in 68%; that weighs as much as 3 runs"
    )


def test_what_is_good_at_one_kind_of_task_and_bad_at_another_is_told_by_kind():
    """Over all tasks both procedures are level; a kind of one procedure keeps the effect of all."""
    found = estimates(
        [
            *many(0, "a", 18, 20, trigger="red"), *many(20, "b", 6, 20, trigger="red"),
            *many(40, "a", 6, 20, trigger="blue"), *many(60, "b", 18, 20, trigger="blue"),
            *many(80, "a", 5, 5, trigger="green"),
        ]
    )  # fmt: skip
    red, blue, green = (found.kinds.position_for(trigger=each) for each in ("red", "blue", "green"))
    whole, at_red, at_blue = (found.procedure("a", kind) for kind in (None, red, blue))
    assert whole.effect.difference == pytest.approx(0.0, abs=0.02)
    assert at_red.effect.difference == pytest.approx(0.5, abs=0.1)
    assert at_red.effect.low > 0.2
    assert (at_red.is_worth_recommending, at_blue.is_harmful) == (True, True)
    assert at_red.posterior.mean > 0.75 > 0.45 > at_blue.posterior.mean
    assert not found.procedure("a", green).effect.is_known
    alone = estimates([*many(0, "a", 18, 20), *many(20, "b", 6, 20)])
    assert alone.procedure("a", alone.kinds.other).effect == alone.procedure("a").effect


@pytest.mark.parametrize("tried", [1, 2, 10, 40])
@pytest.mark.parametrize("all_succeeded", [True, False])
def test_a_prior_never_counts_the_same_runs(tried, all_succeeded):
    """Where nothing else is known, a rate is as unsure of what did not happen as Wilson's is."""
    successes = tried * all_succeeded
    found = estimates(many(0, "a", successes, tried, patterns=["plan"]))
    least, most = wilson_interval(successes, tried - successes)
    for each in (found.procedure("a"), found.pattern("plan"), found.pattern("plan", 0)):
        assert each.usual == 0.5
        low, high = each.posterior.interval
        assert low <= least + 0.05 if all_succeeded else high >= most - 0.05


def test_a_task_whose_runs_all_did_the_same_is_compared_within_its_kind():
    """Together they count as one run; without a kind there is nothing to compare them with."""

    def repeated(first, procedure, tasks, won, **more):
        """Two runs of each task, which overlap in time."""
        return [
            run(first + 2 * task + each, procedure, success=task < won,
                task_id=f"{procedure}{first}-{task}", **more)
            for task in range(tasks)
            for each in range(2)
        ]  # fmt: skip

    runs = [
        *repeated(0, "a", 40, 32, trigger="red"), *repeated(200, "b", 40, 16, trigger="red"),
        *many(400, "c", 9, 9, trigger="blue"),
    ]  # fmt: skip
    effect = estimates(runs).of_procedures.overall["a"]
    assert effect.difference == pytest.approx(0.4, abs=0.05)
    assert effect.low > 0.1
    once = [each for each in runs if each.outcome % 2 == 0 or each.trigger == "blue"]
    alone = estimates(once).of_procedures.overall["a"]
    assert effect.weight <= alone.weight == pytest.approx(20.0)
    unknown = [*repeated(0, "a", 40, 32), *repeated(200, "b", 40, 16)]
    assert not estimates(unknown).of_procedures.overall["a"].is_known


def test_the_sentence_says_what_was_counted():
    """A rate, its interval, the runs behind it, and the difference at equal tasks."""
    found = estimates([*many(0, "a", 14, 18), *many(50, "b", 5, 20)])
    assert sentence(found.procedure("a")) == (
        "succeeds in 70% of runs (53 to 85%, from 18 runs of 18 tasks); "
        "50 points above what such tasks do otherwise (+27 to +73)"
    )
    assert "14 of 18 runs succeeded; weighed by age, 14.00 of 18.00" in why(found.procedure("a"))[1]
