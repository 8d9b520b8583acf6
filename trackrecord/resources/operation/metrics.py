"""The figures of the metrics: of each project from the store, of the fleet from Redis.

Every answer is bounded: projects beyond a number are one, and each server is asked in one round
trip or a few statements, however much is on record.
"""

from dataclasses import dataclass
from typing import Any, Final

import redis
from sqlalchemy import Connection

from trackrecord.redis.fleet_counts import FleetCounts, all_fields, counts_of
from trackrecord.redis.problems import memory_of_servers
from trackrecord.redis.shards import all_shards
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.competences.consolidation.runs import last_finished
from trackrecord.store.outcomes.projects import (
    ProjectCounts,
    count_later_projects,
    count_outcomes,
    first_projects,
    project_id_of,
)
from trackrecord.store.outcomes.recorded_rules import rebuilds_due

from .flow import Flow, answered, ask_flow, flow_of

# Stands for all projects beyond the number of those that are named.
OTHER: Final = "other"


@dataclass(frozen=True)
class ProjectFigures:
    """The figures of one project, or of all those that are not named.

    Attributes:
        project: the name; `OTHER` for the rest.
        successes: outcomes whose task reached its goal.
        failures: outcomes whose task did not.
        without_verdict: outcomes of which nobody knows whether it did.
        last_consolidation: when the last finished consolidation ended; None without one, and for
            the rest.
        is_rebuild_due: whether its numbers must be computed anew; False for the rest.
    """

    project: str
    successes: int
    failures: int
    without_verdict: int
    last_consolidation: float | None = None
    is_rebuild_due: bool = False


@dataclass(frozen=True)
class RedisMemory:
    """The memory of Redis, in bytes.

    Attributes:
        used: the memory in use.
        most: the most that it may use; 0 without a limit.
    """

    used: int
    most: int


@dataclass(frozen=True)
class FleetFigures:
    """The figures that concern no single project.

    Attributes:
        flow: the stream and the workers.
        counts: what workers have counted.
        memory: the memory of Redis; None if its user may not ask.
    """

    flow: Flow
    counts: FleetCounts
    memory: RedisMemory | None


def project_figures(
    connection: Connection, settings: DaemonSettings, *, only: str | None, most: int
) -> list[ProjectFigures]:
    """Return the figures of each project.

    Args:
        connection: a reading transaction.
        settings: of this process.
        only: the one project to answer for, named whatever the number of others; None for all.
        most: how many projects are named, those that have been on record the longest: a name never
            moves to the rest, so that its figures go on. All others are one.
    """
    found = first_projects(connection, most) if only is None else _one(connection, only)
    due = _rebuilds_due(connection, settings, found, only, most)
    ends = last_finished(connection, found.keys())
    figures = [
        _figures(name, counts, ends.get(row), is_rebuild_due=name in due)
        for row, (name, counts) in found.items()
    ]
    if only is None and len(found) == most:
        rest = count_later_projects(connection, max(found))
        figures = _with_rest(figures, _figures(OTHER, rest, None))
    return figures


def _one(connection: Connection, project: str) -> dict[int, tuple[str, ProjectCounts]]:
    row = project_id_of(connection, project)
    return {} if row is None else {row: (project, count_outcomes(connection, row))}


def _rebuilds_due(
    connection: Connection,
    settings: DaemonSettings,
    found: dict[int, tuple[str, ProjectCounts]],
    only: str | None,
    most: int,
) -> set[str]:
    if not found:
        return set()
    rules, half_lives = settings.rules.recorded, settings.rules.half_lives
    if only is not None:
        (row,) = found
        return set(rebuilds_due(connection, rules, half_lives, project_id=row))
    return set(rebuilds_due(connection, rules, half_lives, most=most))


def _figures(
    name: str, counts: ProjectCounts, last: float | None, *, is_rebuild_due: bool = False
) -> ProjectFigures:
    return ProjectFigures(
        project=name,
        successes=counts.successes,
        failures=counts.outcomes - counts.successes - counts.without_verdict,
        without_verdict=counts.without_verdict,
        last_consolidation=last,
        is_rebuild_due=is_rebuild_due,
    )


def _with_rest(figures: list[ProjectFigures], rest: ProjectFigures) -> list[ProjectFigures]:
    """Add the projects that are not named; one that has the name of the rest becomes part of it."""
    same = [each for each in figures if each.project == OTHER]
    together = ProjectFigures(
        project=OTHER,
        successes=sum(each.successes for each in (*same, rest)),
        failures=sum(each.failures for each in (*same, rest)),
        without_verdict=sum(each.without_verdict for each in (*same, rest)),
    )
    return [*(each for each in figures if each.project != OTHER), together]


def fleet_figures(client: redis.Redis, settings: DaemonSettings) -> FleetFigures:
    """Return the figures of the fleet, in a few round trips.

    Raises:
        redis.RedisError: Redis cannot be reached, or refuses its user.
    """
    keys = settings.keys
    shards = all_shards(client, keys)
    pipe: Any
    with client.pipeline(transaction=False) as pipe:
        for shard in shards:
            pipe.hmget(shard.counters, all_fields())
        ask_flow(pipe, keys, shards)
        answers = pipe.execute(raise_on_error=False)
    counted, flow = answers[: len(shards)], answers[len(shards) :]
    memory = memory_of_servers(client)
    return FleetFigures(
        flow=flow_of(flow, memory),
        counts=counts_of([answered(each) for each in counted]),
        memory=None
        if memory is None
        else RedisMemory(
            sum(int(each["used_memory"]) for each in memory),
            sum(int(each.get("maxmemory", 0)) for each in memory),
        ),
    )
