"""Two kinds of task whose best strategies are opposite: does a fleet find what each kind needs?

Each task follows the pattern that the product's text for it names first. Regret is the success that
was lost against always following the kind's best, divided by what random choices lose.
"""

import random
import statistics
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from benchmarks.worlds.fleet_prompts import handed, standing_of_counts
from trackrecord.learning.advice.estimates.estimates import estimate
from trackrecord.learning.advice.rules import Explore
from trackrecord.learning.advice.runs import Run
from trackrecord.learning.advice.task_index import build_index
from trackrecord.prompt.documents.advice_document import AdviceDocument, KindEntry, PastTasks
from trackrecord.prompt.documents.rankings_document import RankingsDocument
from trackrecord.queries.advice import expected_of, pattern_entries
from trackrecord.queries.prompt_document import ranked_patterns

_NOW: Final = 1_790_000_000.0
_TASKS: Final = 600
_UNDER_WAY: Final = 10
_RATES: Final[Mapping[str, Sequence[float]]] = {
    "refund the ticket of a customer": (0.8, 0.3, 0.5, 0.4),
    "repair the broken build of main": (0.3, 0.8, 0.4, 0.5),
}


def play(explore: Explore, seed: int) -> float:
    """Return the regret of a fleet."""
    chance = random.Random(f"kinds/{seed}")
    texts = sorted(_RATES)
    runs: list[Run] = []
    lost = by_chance = 0.0
    for start in range(0, _TASKS, _UNDER_WAY):
        documents = _documents(f"kinds-{seed}", start, runs, texts)
        for number in range(start, start + _UNDER_WAY):
            text = chance.choice(texts)
            rates = _RATES[text]
            untried = sorted(
                set(range(len(rates)))
                - {int(run.patterns[0]) for run in runs if run.instruction == text}
            )
            followed = untried[0] if untried else _followed(documents, number, text, explore)
            lost += max(rates) - rates[followed]
            by_chance += max(rates) - statistics.fmean(rates)
            runs.append(
                Run(
                    outcome=number,
                    task_id=str(number),
                    ended_at=_NOW,
                    success=chance.random() < rates[followed],
                    trigger=text,
                    instruction=text,
                    patterns=(str(followed),),
                )
            )
    return lost / by_chance


def _followed(
    documents: tuple[RankingsDocument, AdviceDocument], number: int, text: str, explore: Explore
) -> int:
    answer = handed(*documents, str(number), explore, task=text)
    if answer.patterns:
        return int(answer.patterns[0].id)
    return random.Random(number).randrange(len(_RATES[text]))


def _documents(
    project: str, revision: int, runs: Sequence[Run], texts: Sequence[str]
) -> tuple[RankingsDocument, AdviceDocument]:
    found = estimate(runs, now=_NOW, half_life_days=90.0)
    standings = [
        standing_of_counts(slug, tally.successes, tally.runs - tally.successes)
        for slug, tally in found.counts.by_pattern.items()
    ]
    patterns, warnings, others = ranked_patterns(standings, lambda _slug, said, _language: said)
    rankings = RankingsDocument(
        project=project,
        revision=revision,
        computed_at=_NOW,
        patterns=tuple(patterns),
        anti_patterns=tuple(warnings),
        others=tuple(others),
    )
    kinds = [found.kinds.position_for(text, trigger=text) for text in texts]
    advice = AdviceDocument(
        project=project,
        revision=revision,
        computed_at=_NOW,
        patterns=pattern_entries(found),
        kinds=tuple(
            KindEntry(name=name, expected=expected_of(found.kind(position)))
            for position, name in enumerate(found.kinds.names)
        ),
        past_tasks=PastTasks(
            index=build_index(texts),
            kinds=array("I", kinds).tobytes(),
            runs=tuple(() for _ in texts),
        ),
    )
    return rankings, advice


def rows(seeds: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Return the regret of each way to explore.

    Args:
        seeds: one fleet each.
    """
    seeds = list(seeds)
    policies: tuple[Explore, ...] = ("off", "some", "full")
    for explore in policies:
        regrets = [play(explore, seed) for seed in seeds]
        yield {
            "policy": explore,
            "seeds": len(seeds),
            "regret": statistics.fmean(regrets),
            "spread": statistics.pstdev(regrets),
            "regret_most": max(regrets),
        }


if __name__ == "__main__":
    for row in rows(range(300, 306)):
        print(row)
