"""The demo's report: learnt effects compared with planted ones."""

from collections.abc import Iterator
from typing import Any

from trackrecord.learning.patterns.standing import Standing

from .planted import PROCEDURES, STRATEGIES
from .run import DemoResult


def comparison(result: DemoResult) -> dict[str, Any]:
    """Return learnt and planted effects as one JSON object; rates are 0..1."""
    return {
        "outcomes": result.outcomes,
        "agents": result.agents,
        "seconds": round(result.seconds, 2),
        "outcomes_per_s": round(result.outcomes / result.seconds),
        "strategies": list(_strategies(result)),
        "procedures": list(_procedures(result)),
        "effect": {
            "planted": result.planted_effect,
            "measured": result.effect.to_document(),
        },
        "prompt": result.rankings.prompt,
        "tokens": result.rankings.tokens,
        "left_out": result.rankings.left_out,
    }


def _strategies(result: DemoResult) -> Iterator[dict[str, Any]]:
    learnt = {standing.facts.slug: standing for standing in result.standings}
    for planted in STRATEGIES:
        standing = learnt.get(planted.slug)
        total = standing.evidence.observations if standing else 0
        yield {
            "id": planted.slug,
            "planted_rate": planted.success_rate,
            "learnt_rate": standing.evidence.succeeded / total if standing and total else None,
            "observations": total,
            "state": _state(standing) if standing else None,
        }


def _state(standing: Standing) -> str:
    return "anti-pattern" if standing.is_inverted else str(standing.state.value)


def _procedures(result: DemoResult) -> Iterator[dict[str, Any]]:
    learnt = {record.signature: record for record in result.records}
    for planted in PROCEDURES:
        record = learnt.get(planted.signature)
        yield {
            "trigger": planted.trigger,
            "tools": list(planted.tools),
            "planted_rate": planted.success_rate,
            "learnt_rate": record.performance.success_rate if record else None,
            "learnt_tools": [step.tool for step in record.recipe] if record else None,
            "episodes": (
                record.performance.success_count + record.performance.failure_count if record else 0
            ),
        }
