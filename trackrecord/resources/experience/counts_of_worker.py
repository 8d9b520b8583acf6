"""Pack the worker's counts of a large project for its readers."""

from dataclasses import replace
from typing import Final

from sqlalchemy import Connection

from trackrecord.resources.prompt_documents.advice import CountedRuns
from trackrecord.settings.daemon_settings import DaemonSettings

from .estimates import counted_estimates
from .pattern_standings import counted_order, order_of, order_rules
from .sourced_lessons import counted_lessons, with_sources

# Fewer runs are counted in some fifty milliseconds: readers do that themselves, exactly.
_LARGE: Final = 1_000


def packed_counts(
    connection: Connection, settings: DaemonSettings, project_id: int, counted: CountedRuns
) -> dict[str, tuple[str, bytes]]:
    """Return the parts that readers need not count, by name; none of a small project.

    Args:
        connection: the transaction that the runs were read in.
        settings: the rules.
        project_id: whose runs.
        counted: what was counted.
    """
    if len(counted.runs) <= _LARGE:
        return {}
    # Only advice needs to know the kind of each run.
    estimates = replace(counted.estimates, kind_of_runs={})
    lessons = with_sources(counted.lessons, counted.runs)
    order = order_of(connection, settings, project_id, estimates)
    return {
        counted_estimates.part: counted_estimates.packed(estimates, settings.decay.half_life_days),
        counted_lessons.part: counted_lessons.packed(lessons, settings.lessons),
        counted_order.part: counted_order.packed(order, order_rules(settings)),
    }
