"""Evaluation: measures that are what they are called, and tasks that are left out as a whole."""

import math
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.evaluation.evaluate import evaluate_runs, evaluation_document
from trackrecord.learning.advice.evaluation.measures import (
    Calibration,
    Prediction,
    auc,
    log_loss,
    over_splits,
    over_tasks,
)
from trackrecord.learning.advice.evaluation.recommendations import (
    Gold,
    choose_by_seed,
    recommendation_quality,
    specific_tools,
)
from trackrecord.learning.advice.evaluation.splits import by_run, by_task
from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.rules_bundle import Rules
from trackrecord.resources.figures.evaluation import advising

RULES = CompetenceRules()
PREDICTIONS = st.lists(
    st.builds(
        Prediction,
        st.sampled_from(["t1", "t2", "t3"]),
        st.sampled_from(["x", "y"]),
        st.sampled_from([0.0, 0.2, 0.25, 0.5, 0.99, 1.0]),
        st.booleans(),
    ),
    max_size=20,
)


def run(number, task, tools, success=True, *, text="", source=""):
    """One run."""
    return Run(
        outcome=number,
        task_id=task,
        ended_at=1.0,
        success=success,
        instruction=text,
        source=source,
        steps=tuple(RunStep(tool) for tool in tools),
    )


@given(PREDICTIONS)
def test_auc_counts_pairs_of_a_success_and_a_failure(predictions):
    """Of one source; equal probabilities count half."""
    pairs = [
        (one.probability > other.probability) + (one.probability == other.probability) / 2
        for one in predictions
        for other in predictions
        if one.success and not other.success and one.source == other.source
    ]
    expected = sum(pairs) / len(pairs) if pairs else None
    assert auc(predictions) == (None if expected is None else pytest.approx(expected))


def test_log_loss_by_hand():
    """Certainty that proves wrong costs much, and never infinitely much."""
    said = [Prediction("t", "", 0.8, True), Prediction("t", "", 0.8, False)]
    assert log_loss(said) == pytest.approx(-(math.log(0.8) + math.log(0.2)) / 2)
    assert log_loss([Prediction("t", "", 0.0, True)]) == pytest.approx(-math.log(1e-6))
    assert log_loss([]) is None


def test_calibration_error_by_hand():
    """Ten bins of equal width, each weighted by its predictions."""
    said = [
        Prediction("t1", "", 0.92, True),
        Prediction("t2", "", 0.98, False),
        Prediction("t3", "", 0.1, False),
        Prediction("t4", "", 1.0, False),
    ]
    found = Calibration(said)
    # |(1 − .92) + (0 − .98) + (0 − 1)| + |0 − .1|, of four
    assert found.error(Counter(found.tasks)) == pytest.approx((1.9 + 0.1) / 4)
    assert Calibration([]).error(Counter()) is None
    assert Calibration([]).floor(Random(1)) is None


def test_the_floor_is_the_error_of_a_perfect_judge():
    """As high as its own error where runs of one task end alike, and lower with more tasks."""

    def judged(tasks, seed):
        draw = Random(seed)
        said = []
        for task in range(tasks):
            probability = draw.random()
            success = draw.random() < probability
            said += [Prediction(f"t{task}", "", probability, success)] * 4
        found = Calibration(said)
        return found.error(Counter(found.tasks)), found.floor(Random(seed)).value

    few = [judged(40, seed) for seed in range(20)]
    errors, floors = (sum(each[part] for each in few) / 20 for part in (0, 1))
    assert floors == pytest.approx(errors, rel=0.2)
    assert judged(400, 1)[1] < 0.5 * floors


def test_spreads():
    """A standard deviation; what was measured once has none."""
    assert over_splits([1.0, None, 3.0]) == (2.0, pytest.approx(math.sqrt(2)))
    assert over_splits([1.0]) == (1.0, 0.0)
    assert over_splits([None]) is None
    value, spread = over_tasks(["a", "b"], lambda times: times["a"] / 2, Random(1))
    assert value == 0.5
    assert 0.2 < spread < 0.5


def test_splits_leave_out_whole_tasks_or_single_runs():
    """Each run is on one side; the order of the runs makes no difference."""
    runs = [run(n, f"t{n // 3}", []) for n in range(30)]
    for known, asked in by_task(runs, 5, Random(1)):
        assert not {each.task_id for each in known} & {each.task_id for each in asked}
        assert sorted(each.outcome for each in (*known, *asked)) == list(range(30))
        assert len({each.task_id for each in known}) == 7
    assert [len(known) for known, _ in by_run(runs, 5, Random(1))] == [21] * 5
    backwards = list(by_task(runs[::-1], 3, Random(1)))
    for one, other in zip(by_task(runs, 3, Random(1)), backwards, strict=True):
        assert [each.outcome for each in one.asked] == sorted(e.outcome for e in other.asked)


def test_specific_tools_are_those_on_which_successes_of_a_task_agree():
    """A tool for looking around is used or not, whatever the task."""
    runs = []
    for task in range(12):
        for attempt in range(2):
            tools = ["refund" if task % 2 else "book", *(["look"] if attempt else [])]
            runs.append(run(len(runs), f"t{task}", ["find", *tools]))
    assert specific_tools(runs) == {"refund", "book"}
    once = [each for each in runs if each.outcome % 2 == 0]
    assert specific_tools([*once, run(99, "x", ["pay"], False)]) == {"refund", "book", "pay"} - {
        tool for tool in ("refund", "book") if sum(tool in each.tools for each in once) * 2 >= 13
    }
    assert specific_tools([]) == frozenset()


def test_the_seed_baseline_prefers_two_of_two():
    """As the rules are specified: the raw rate, the words of the tools, and no third signal."""
    runs = [run(n, "t", ["find", "book"], n < 9) for n in range(10)]
    runs += [run(20 + n, "t", ["shout"]) for n in range(2)]
    runs += [run(30, "t", ["once"])]
    assert choose_by_seed(runs, RULES, "something else") == {"shout"}
    assert choose_by_seed(runs, RULES, "find and book") == {"find", "book"}
    assert choose_by_seed(runs[-1:], RULES, "once") is None


def desk(tasks):
    """Two kinds of tasks, one of them by two thirds of the tasks."""
    for task in range(tasks):
        books = task % 3 == 0
        text = f"{'book a seat' if books else 'cancel and refund'} for {chr(97 + task)}x"
        for attempt in range(2):
            tools = ["book"] if books else ["refund"]
            yield run(2 * task + attempt, f"t{task}", ["find", *tools], text=text)


def advise(known):
    """Return the prompts after these runs."""
    return advising(known, Rules())


def quality(runs, gold=None):
    """Return the quality of these prompts."""
    return recommendation_quality(runs, RULES, Random(1), gold or Gold(), advise)


def test_a_recommendation_is_asked_for_without_the_tasks_own_runs():
    """What only the task itself did is not recommended; the baselines see no more."""
    runs = [*desk(12), run(90, "own", ["secret"], text="book a seat for zz")]
    runs.append(run(91, "own", ["secret"], text="book a seat for zz"))
    found = quality(runs)
    assert found.tasks == 13
    assert found.distinct == 2
    # 24 of the 26 runs are told what they did.
    assert found.matches["votes"].value == pytest.approx(24 / 26)
    assert found.matches["commonest"].value == pytest.approx(16 / 26)
    assert found.right is None


def test_the_benchmarks_answers_are_compared_by_what_they_change():
    """Tools that change nothing do not count."""
    runs = list(desk(12))
    answers = {f"t{n}": frozenset({"book" if n % 3 == 0 else "refund", "look"}) for n in range(12)}
    gold = Gold(answers, frozenset({"book", "refund"}))
    found = quality(runs, gold)
    assert found.right["votes"].value == 1.0
    assert found.right["commonest"].value == pytest.approx(2 / 3)
    assert found.right_when_said.value == 1.0


def test_the_runs_of_all_sources_vote():
    """As they do in a prompt: what one agent has learnt, another one is told that has its tools."""
    runs = [
        *(each for each in desk(36) if "book" in each.tools),
        *(
            run(100 + number, f"y{number // 2}", ["find", "refund"], text=text, source="y")
            for number in range(24)
            for text in [f"cancel and refund for {chr(97 + number // 2)}y"]
        ),
        *(
            run(140 + n, f"z{n}", ["find", "wait"], False, text=f"{asked} for {chr(97 + n)}z")
            for n in range(24)
            for asked in [("book a seat", "cancel and refund")[n % 2]]
        ),
        run(200, "of x", ["find", "refund"], text="cancel and refund for qq"),
        run(201, "of x, too", ["find", "refund"], text="cancel and refund for zz"),
    ]
    found = quality(runs)
    assert found.matches["votes"].value == 1.0
    assert found.handed_out.value > 0.9
    assert found.handed_out_matches.value == 1.0
    told = advise([each for each in runs if each.task_id != "of x"])
    assert told("cancel and refund for qq", "").handed_out == {"find", "refund"}
    assert told("cancel and refund for qq", "y").handed_out == {"find", "refund"}
    assert told("book a seat for qq", "y").handed_out is None


def test_what_the_prompt_leaves_out_is_not_counted_as_handed_out():
    """A vote that failures share is no recommendation, so the prompt is silent about it."""
    runs = [
        run(4 * task + number, f"t{task}", ["find"], number < 2, text=f"refund {chr(97 + task)}x")
        for task in range(12)
        for number in range(4)
    ]
    found = quality(runs)
    assert found.matches["votes"].value == 1.0
    assert found.silent.value == 0.0
    assert found.handed_out.value == 0.0
    assert found.handed_out_matches is None


def test_the_same_seed_gives_the_same_evaluation():
    """Whatever the order of the runs, and each number can be printed."""
    runs = [
        run(n, f"t{n // 2}", ["a", "b"][: 1 + n % 2], n % 3 == 0, text=f"do {chr(97 + n % 5)}x")
        for n in range(40)
    ]
    steps = []

    def evaluated(given, **more):
        found = evaluate_runs(given, RULES, advise, splits=3, seed=2, **more)
        return evaluation_document(found)

    first = evaluated(runs, progress=lambda: steps.append(1))
    assert evaluated(runs[::-1]) == first
    assert len(steps) == 6
