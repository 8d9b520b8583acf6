"""False claims of a prompt on pure noise: outcomes are shuffled among the runs.

Three kinds of task, four runs of each task, each in one of three ways and by one of three
strategies. In the planted world a third of the ways is much better at its kind of task; in the
permuted one the same outcomes fall to the runs by lot. A prompt is asked for at each kind of task,
and every line counts that says what success goes with: procedures, comparisons, lessons that
compare runs, warnings, past tasks with what made the difference. Lines that only count calls or
tasks say nothing of the kind.
"""

import random
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from trackrecord.learning.advice.lessons.lesson import LessonKind
from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.rules_bundle import Rules
from trackrecord.prompt.answers.rankings_answer import Rankings
from trackrecord.prompt.documents.rankings_document import RankingsDocument
from trackrecord.resources.prompt_documents.advice import advice_from
from trackrecord.resources.prompt_documents.prompt_document import ranked_patterns

from .fleet_prompts import handed, standing_of_counts

_TASKS: Final = {
    "cancel the reservation of customer {}": (
        ("find", "cancel"),
        ("search", "cancel"),
        ("find", "policy", "cancel"),
    ),
    "book a flight to city {}": (
        ("search", "book"),
        ("find", "book"),
        ("search", "quote", "book"),
    ),
    "change the seat of passenger {}": (
        ("find", "seat"),
        ("seat",),
        ("find", "map", "seat"),
    ),
}
_STRATEGIES: Final = ("plan-first", "small-steps", "ask-early")
_TASKS_OF_KIND: Final = 25
_RUNS_OF_TASK: Final = 4
_ENDED_AT: Final = 1_790_000_000.0
# Lessons that compare runs by how they ended.
_COMPARING: Final = (LessonKind.GOES_WITH_SUCCESS,)
_POINTS: Final = "points above what such tasks do otherwise"


def history(seed: int, *, is_permuted: bool) -> list[Run]:
    """Return the runs of a world."""
    chance = random.Random(f"permuted/{seed}")
    runs: list[Run] = []
    for text, ways in _TASKS.items():
        for number in range(_TASKS_OF_KIND):
            easy = chance.uniform(-0.2, 0.2)
            for _ in range(_RUNS_OF_TASK):
                way = chance.randrange(len(ways))
                rate = (0.85 if way == 0 else 0.35) + easy
                runs.append(
                    Run(
                        outcome=len(runs),
                        task_id=f"{text} {number}",
                        ended_at=_ENDED_AT,
                        success=chance.random() < rate,
                        instruction=text.format(number),
                        patterns=(chance.choice(_STRATEGIES),),
                        steps=tuple(map(RunStep, ways[way])),
                    )
                )
    if not is_permuted:
        return runs
    outcomes = [run.success for run in runs]
    chance.shuffle(outcomes)
    return [
        msgspec.structs.replace(run, success=success)
        for run, success in zip(runs, outcomes, strict=True)
    ]


def prompts(runs: list[Run]) -> list[Rankings]:
    """Return a prompt for a task of each kind, on which no run is known."""
    advice, _ = advice_from("world", runs, Rules(), moment=_ENDED_AT)
    standings = [
        standing_of_counts(
            slug,
            sum(run.success for run in runs if slug in run.patterns),
            sum(not run.success for run in runs if slug in run.patterns),
        )
        for slug in _STRATEGIES
    ]
    patterns, warnings, others = ranked_patterns(standings, lambda _slug, said, _language: said)
    rankings = RankingsDocument(
        project="world",
        revision=1,
        computed_at=_ENDED_AT,
        patterns=tuple(patterns),
        anti_patterns=tuple(warnings),
        others=tuple(others),
    )
    return [handed(rankings, advice, "", "off", text.format("new")) for text in _TASKS]


def said(answers: Iterable[Rankings]) -> dict[str, int]:
    """Return the number of lines that claim an association with success, by kind."""
    answers = list(answers)
    return {
        "procedures": sum(len(each.procedures) + len(each.told["competences"]) for each in answers),
        "comparisons": sum(
            _POINTS in line
            for each in answers
            for pattern in each.told["patterns"]
            for line in (pattern.lines["en"],)
        ),
        "lessons": sum(lesson.kind in _COMPARING for each in answers for lesson in each.lessons),
        "failing": sum(len(each.failing) for each in answers),
        "warnings": sum(len(each.told["anti_patterns"]) for each in answers),
    }


def rows(seeds: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Return how often a history claims an association with success.

    Args:
        seeds: one history each.
    """
    seeds = list(seeds)
    for name, is_permuted in (("permuted", True), ("planted", False)):
        found = [said(prompts(history(seed, is_permuted=is_permuted))) for seed in seeds]
        yield {
            "outcomes": name,
            "histories": len(seeds),
            "say_something": sum(any(each.values()) for each in found),
            **{part: sum(each[part] for each in found) for part in found[0]},
        }
