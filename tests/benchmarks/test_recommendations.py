"""Evaluation: measures that are what they are called, and tasks that are left out as a whole."""

from random import Random

import pytest

from benchmarks.evaluate.recommendations import (
    Gold,
    evaluate_runs,
    evaluation_document,
    recommendation_quality,
)
from benchmarks.evaluate.recorded import advising
from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.rules_bundle import Rules

RULES = CompetenceRules()


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
    first, again = (
        evaluation_document(evaluate_runs(given, RULES, advise, seed=2, gold=Gold()))
        for given in (runs, runs[::-1])
    )
    assert again == first
