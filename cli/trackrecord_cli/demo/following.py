"""Agents of the demo that follow their recommendations, and those of the holdout, which guess."""

import random
from collections.abc import Callable, Iterator
from typing import Any

from trackrecord.prompt.answers.rankings_answer import Rankings

from .planted import PROJECT, STRATEGIES, PlantedStrategy, signals

_BY_SLUG = {strategy.slug: strategy for strategy in STRATEGIES}


def followed_reports(
    ask: Callable[..., Rankings], *, seed: int, agent: int, tasks: int
) -> Iterator[dict[str, Any]]:
    """Yield the reports of one agent that asks before each task and follows the first pattern.

    Args:
        ask: `trackrecord.rankings`.
        seed: of the whole demo.
        agent: the agent's number.
        tasks: how many.
    """
    chance = random.Random(f"{seed}/{agent}/following")  # noqa: S311 - a simulation, no secret
    for number in range(tasks):
        task_id = f"following-{seed}-{agent}-{number}"
        strategy = _chosen(ask(project=PROJECT, task_id=task_id), chance)
        yield {
            "outcome_id": f"demo-{task_id}",
            "project": PROJECT,
            "source": f"agent-{agent}",
            "task_id": task_id,
            "description": strategy.plan,
            **signals(chance, success=chance.random() < strategy.success_rate),
        }


def _chosen(answer: Rankings, chance: random.Random) -> PlantedStrategy:
    """Return the strategy that comes first; without advice, any."""
    handed = [_BY_SLUG[each.id] for each in answer.patterns if each.id in _BY_SLUG]
    return handed[0] if handed else chance.choice(STRATEGIES)


def planted_rate(slugs: tuple[str, ...]) -> float:
    """Return how often tasks with these patterns really succeed."""
    rates = [_BY_SLUG[slug].success_rate for slug in slugs if slug in _BY_SLUG]
    return sum(rates) / len(rates)
