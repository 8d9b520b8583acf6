"""The exposures of a fleet in one of the worlds, by the product's documents, draws and texts."""

import random
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from trackrecord.learning.advice.estimates.effects import EffectRun, effects_of
from trackrecord.learning.advice.estimates.estimates import Effects, Estimates, RunCounts
from trackrecord.learning.advice.estimates.posterior import DecayedTally
from trackrecord.learning.advice.rules import Explore
from trackrecord.learning.advice.tasks.kinds import Kinds
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import AntiPatternRules, MaturityRules
from trackrecord.learning.patterns.standing import PatternFacts, Standing, standing_of
from trackrecord.prompt.answers.rankings_answer import Rankings, answer_from
from trackrecord.prompt.choosing.exposure import exposure_plan_of
from trackrecord.prompt.documents.advice_document import AdviceDocument
from trackrecord.prompt.documents.rankings_document import ProjectDocuments, RankingsDocument
from trackrecord.prompt.question.question import PromptQuestion
from trackrecord.resources.prompt_documents.advice import pattern_entries
from trackrecord.resources.prompt_documents.prompt_document import ranked_patterns

_MATURITY, _ANTIPATTERNS = MaturityRules(), AntiPatternRules()
_BUDGET: Final = 400


class Arm(Protocol):
    """The evidence on one strategy."""

    helpful: float
    harmful: float
    successes: int
    failures: int


def first_handed(explore: Explore) -> Callable[[Sequence[Arm], int, int], Callable[[int], int]]:
    """Return a policy: follow the pattern that the product's text names first.

    Where it names none, what is warned of is avoided. The product knows a strategy from its first
    outcome on, so the fleet tries each of them once by itself.
    """

    def choose(arms: Sequence[Arm], seed: int, revision: int) -> Callable[[int], int]:
        untried = [place for place, arm in enumerate(arms) if not arm.successes + arm.failures]
        project = f"world-{seed}"
        rankings, advice = _documents(project, revision, arms)

        def of(task: int) -> int:
            if untried:
                return untried[task % len(untried)]
            answer = handed(rankings, advice, str(task), explore)
            if answer.told["patterns"]:
                return int(answer.told["patterns"][0].id)
            warned = {int(each.id.removeprefix("anti-")) for each in answer.told["anti_patterns"]}
            left = [place for place in range(len(arms)) if place not in warned]
            return random.Random(f"{seed}/{task}").choice(left or range(len(arms)))

        return of

    return choose


def handed(
    rankings: RankingsDocument,
    advice: AdviceDocument,
    task_id: str,
    explore: Explore,
    task: str | None = None,
) -> Rankings:
    """Return the entries that one task is given."""
    question = PromptQuestion(rankings.project, task, _BUDGET, task_id=task_id, explore=explore)
    known = ProjectDocuments(rankings, advice)
    exposure_plan = exposure_plan_of(question, known, holdout=0.0, explore=explore)
    return answer_from(question, known, now=0.0, exposure_plan=exposure_plan)


def _documents(
    project: str, revision: int, arms: Sequence[Arm]
) -> tuple[RankingsDocument, AdviceDocument]:
    standings = [
        _standing(place, arm) for place, arm in enumerate(arms) if arm.successes + arm.failures
    ]
    patterns, warnings, others = ranked_patterns(standings, lambda _slug, said, _language: said)
    rankings = RankingsDocument(
        project=project,
        revision=revision,
        computed_at=0.0,
        patterns=tuple(patterns),
        anti_patterns=tuple(warnings),
        others=tuple(others),
    )
    advice = AdviceDocument(
        project=project,
        revision=revision,
        computed_at=0.0,
        patterns=pattern_entries(_estimates(arms)),
    )
    return rankings, advice


def _standing(place: int, arm: Arm) -> Standing:
    return standing_of_counts(
        str(place), arm.successes, arm.failures, helpful=arm.helpful, harmful=arm.harmful
    )


def standing_of_counts(
    slug: str,
    successes: int,
    failures: int,
    *,
    helpful: float | None = None,
    harmful: float | None = None,
) -> Standing:
    """Return the standing of a pattern with so many helpful successes; no decay by default."""
    evidence = Evidence(
        successes,
        0,
        failures,
        successes if helpful is None else helpful,
        failures if harmful is None else harmful,
        succeeded=successes,
    )
    facts = PatternFacts(slug, "named", f"Strategy {slug}", None)
    return standing_of(_MATURITY, _ANTIPATTERNS, facts, evidence)


def _estimates(arms: Sequence[Arm]) -> Estimates:
    """Return the estimates of runs of one kind of task, each with one of the strategies."""
    tallies = {
        str(place): DecayedTally(
            arm.successes + arm.failures,
            arm.successes,
            arm.helpful + arm.harmful,
            arm.helpful,
            arm.successes + arm.failures,
        )
        for place, arm in enumerate(arms)
        if arm.successes + arm.failures
    }
    trials = [
        EffectRun("kind 0", (str(place),), weight, success)
        for place, arm in enumerate(arms)
        for weight, success in ((arm.helpful, True), (arm.harmful, False))
        if weight > 0.0
    ]
    whole = DecayedTally(
        sum(each.runs for each in tallies.values()),
        sum(each.successes for each in tallies.values()),
        sum(each.decayed_runs for each in tallies.values()),
        sum(each.decayed_successes for each in tallies.values()),
        sum(each.tasks for each in tallies.values()),
    )
    counts = RunCounts(
        Kinds(), whole, {0: whole}, {}, {}, tallies, {slug: {0: t} for slug, t in tallies.items()}
    )
    return Estimates(counts, Effects(), Effects(effects_of(trials)), {})
