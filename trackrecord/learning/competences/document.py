"""Record documents: a competence record as it is shown, with the values computed on reading."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .record import DERIVED_FROM, Competence, Performance, TriggerCounts
from .rules import salience_now


@dataclass(frozen=True)
class RecordReading:
    """The parts of a shown record that are not stored with it.

    Attributes:
        now: the moment that it is shown as of, seconds since the epoch.
        fallbacks: other records to try where this one fails.
        episodes: number of successful episodes it is derived from; None if not counted.
        outcome_ids: the ids of the first of these episodes.
    """

    now: float
    fallbacks: Sequence[str] = ()
    episodes: int | None = None
    outcome_ids: Sequence[str] = ()


def document_of(record: Competence, reading: RecordReading) -> dict[str, Any]:
    """Return the record as a JSON object; times are seconds since the epoch."""
    derived_from = [
        {"predicate": DERIVED_FROM, "target_id": outcome_id} for outcome_id in reading.outcome_ids
    ]
    document = {
        "id": record.id,
        "project": record.project,
        "skill_name": record.skill_name,
        "signature": record.signature,
        "triggers": [_trigger(trigger) for trigger in record.triggers],
        "recipe": [{**asdict(step), "validation": list(step.validation)} for step in record.recipe],
        "required_tools": list(record.required_tools),
        "failure_modes": list(record.failure_modes),
        "fallbacks": list(reading.fallbacks),
        "performance": _performance(record.performance),
        "version": record.version,
        "confidence": record.confidence,
        "salience": record.salience,
        "salience_now": salience_now(record.salience, record.lifecycle, reading.now),
        "lifecycle": asdict(record.lifecycle),
        "status": record.status.value,
        "relations": [asdict(relation) for relation in record.relations] + derived_from,
        "tags": list(record.tags),
        "authored_by": None if record.authored is None else record.authored.by,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }
    if reading.episodes is not None:
        document["provenance"] = {
            "episodes": reading.episodes,
            DERIVED_FROM: list(reading.outcome_ids),
        }
    return document


def _trigger(trigger: TriggerCounts) -> dict[str, Any]:
    return {
        **asdict(trigger),
        "further_conditions": list(trigger.further_conditions),
        "count": trigger.count,
    }


def _performance(performance: Performance) -> dict[str, Any]:
    return {
        "success_count": performance.success_count,
        "failure_count": performance.failure_count,
        "success_rate": performance.success_rate,
        "avg_latency_ms": performance.avg_latency_ms,
        "last_used_at": performance.last_used_at,
    }
