"""Chance: where outcomes and failures are shuffled, hardly a lesson is left."""

import random

import msgspec
import pytest

from tests.learning.advice.histories import coding, run
from trackrecord.learning.advice.lessons.counting.needs import find_needs
from trackrecord.learning.advice.lessons.counting.then_works import find_remedies
from trackrecord.learning.advice.lessons.find import find_completions
from trackrecord.learning.advice.lessons.history import history_of
from trackrecord.learning.advice.lessons.rules import LessonRules

RULES = LessonRules()
SEEDS = 60


def support(seed, count=240):
    """Few tools, tasks of very different difficulty, and calls that fail in bursts."""
    chance = random.Random(seed)
    runs = []
    for number in range(count):
        task = number % 60
        steps = ["find"] * chance.randint(0, 2) + ["verify"] * chance.randint(0, 1)
        broken = chance.random() < 0.5
        steps += ["refund!no" if broken else "refund"] * chance.randint(1, 4)
        steps += ["close"] * chance.randint(0, 1)
        runs.append(run(number, *steps, task=task, success=chance.random() < task / 60))
    return runs


def with_shuffled_outcomes(runs, seed):
    labels = [each.success for each in runs]
    random.Random(seed).shuffle(labels)
    return [
        msgspec.structs.replace(each, success=label)
        for each, label in zip(runs, labels, strict=True)
    ]


def with_shuffled_failures(runs, seed):
    """Whole runs swap how their calls of a tool end, so that bursts stay bursts."""
    chance = random.Random(seed)
    fails = [any(step.failed for step in each.steps) for each in runs]
    chance.shuffle(fails)
    return [
        msgspec.structs.replace(
            each,
            steps=tuple(
                msgspec.structs.replace(
                    step, error="no" if failed and step.tool == "refund" else None
                )
                for step in each.steps
            ),
        )
        for each, failed in zip(runs, fails, strict=True)
    ]


def share_with_findings(find, histories):
    found = [bool(list(find(history_of(runs), RULES))) for runs in histories]
    return sum(found) / len(found)


@pytest.mark.parametrize("world", [coding, support])
def test_shuffled_outcomes_yield_no_more_findings_than_the_level(world):
    """With three standard errors of so many shuffles."""
    runs = world(1)
    shuffled = (with_shuffled_outcomes(runs, seed) for seed in range(SEEDS))
    most = 0.05 + 3 * (0.05 * 0.95 / SEEDS) ** 0.5
    assert share_with_findings(find_completions, shuffled) <= most


def test_shuffled_failures_yield_no_more_needs_than_the_level():
    """Though the calls of one run fail together."""
    runs = support(2)
    shuffled = (with_shuffled_failures(runs, seed) for seed in range(SEEDS))
    assert share_with_findings(find_needs, shuffled) <= 0.1 + 3 * (0.1 * 0.9 / SEEDS) ** 0.5


def with_errors_dealt_anew(runs, seed):
    """The errors of a tool go to any of its calls, whatever came before."""
    errors = {}
    for each in runs:
        for step in each.steps:
            errors.setdefault(step.tool, []).append(step.error)
    for found in errors.values():
        random.Random(seed).shuffle(found)
    return [
        msgspec.structs.replace(
            each,
            steps=tuple(
                msgspec.structs.replace(step, error=errors[step.tool].pop()) for step in each.steps
            ),
        )
        for each in runs
    ]


def test_errors_dealt_anew_yield_no_more_remedies_than_the_level():
    """That a tool works when it is tried again, as often as ever, is no remedy."""
    runs = support(1)
    dealt = (with_errors_dealt_anew(runs, seed) for seed in range(SEEDS))
    assert share_with_findings(find_remedies, dealt) <= 0.05 + 3 * (0.05 * 0.95 / SEEDS) ** 0.5


def test_what_is_planted_is_found():
    """The same tests are not blind."""
