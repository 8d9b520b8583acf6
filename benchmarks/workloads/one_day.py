"""A day of a fleet, replayed with measured costs: how much of everything it takes, and what breaks.

What an outcome costs is measured; how outcomes are spread over a day, and how much a machine has to
give, are assumptions, each of them named here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, cos, pi

DAY_S: float = 86_400.0
_STEP_S = 60.0
# The busiest minute has three times as many outcomes as the mean, the quietest one hardly any.
_PEAK = 3.0
# A core, or a server, that is busier than this makes others wait.
_BUSY = 0.7
# One PostgreSQL: its cores, its usual max_connections, its disk, and how fast that writes.
_POSTGRES_CORES = 32
_POSTGRES_CONNECTIONS = 100
_POSTGRES_DISK = 8e12
_POSTGRES_LOG_PER_S = 200e6
# Rows are kept for so long.
_KEPT_DAYS = 90.0
# One server of Redis.
_REDIS_MEMORY = 64e9
# The largest project has this share of all outcomes.
_LARGEST_PROJECT = 0.2
# A project that changes is refreshed this often at most, and has so many outcomes a day.
_REFRESH_S = 5.0
OUTCOMES_OF_PROJECT = 50_000


@dataclass(frozen=True)
class Costs:
    """Measured costs.

    Attributes:
        worker_us: processor time of a worker for an outcome, in microseconds.
        postgres_us: that of PostgreSQL.
        redis_us: that of Redis, to take it, hand it on and forget it.
        locked_us: how long an outcome's batch keeps others from its project, for each outcome.
        stream_bytes: memory of Redis for an outcome that waits.
        table_bytes: of an outcome in the tables and indexes.
        log_bytes: of an outcome in the write-ahead log.
        connections: sessions of the database that a worker process keeps.
        consolidation_s: processor time of the nightly job for 100,000 outcomes, on both sides.
        refresh_ms: processor time of a worker to refresh a project's rankings, in milliseconds.
        postgres_refresh_ms: that of PostgreSQL.
    """

    worker_us: float
    postgres_us: float
    redis_us: float
    locked_us: float
    stream_bytes: float
    table_bytes: float
    log_bytes: float
    connections: float
    consolidation_s: float
    refresh_ms: float
    postgres_refresh_ms: float


@dataclass(frozen=True)
class Day:
    """The needs of a day.

    Attributes:
        outcomes: how many there are.
        projects: how many change all the time.
        learning_cores: cores that learning has busy in the busiest minute.
        refreshing_cores: cores that refreshing rankings has busy.
        workers: worker processes for both.
        postgres_cores: cores that PostgreSQL has busy with both.
        redis_cores: cores that Redis has busy; a server has one.
        waiting_bytes: what waits in Redis when the database is away for the busiest hour.
        caught_up_s: how long the workers need afterwards, until nothing waits.
        kept_bytes: in the tables after `_KEPT_DAYS`.
        night_h: processor time of the nightly job, in hours.
        breaks: what a single server of each kind cannot do, the first to break first.
    """

    outcomes: float
    projects: float
    learning_cores: float
    refreshing_cores: float
    workers: int
    postgres_cores: float
    redis_cores: float
    waiting_bytes: float
    caught_up_s: float
    kept_bytes: float
    night_h: float
    breaks: tuple[str, ...]


def replay(outcomes: float, projects: float, costs: Costs) -> Day:
    """Return the needs of a day with that many outcomes."""
    peak = _PEAK * outcomes / DAY_S
    refreshes = min(projects / _REFRESH_S, peak)
    refreshing = refreshes * costs.refresh_ms / 1e3
    learning = peak * costs.worker_us / 1e6
    waiting, caught_up_s = _hour_away(outcomes, peak / _BUSY)
    limits = sorted(limits_of(costs), key=lambda limit: limit[1])
    return Day(
        outcomes=outcomes,
        projects=projects,
        learning_cores=learning,
        refreshing_cores=refreshing,
        workers=ceil((learning + refreshing) / _BUSY),
        postgres_cores=peak * costs.postgres_us / 1e6 + refreshes * costs.postgres_refresh_ms / 1e3,
        redis_cores=peak * costs.redis_us / 1e6,
        waiting_bytes=waiting * costs.stream_bytes,
        caught_up_s=caught_up_s,
        kept_bytes=outcomes * _KEPT_DAYS * costs.table_bytes,
        night_h=outcomes / 1e5 * costs.consolidation_s / 3600,
        breaks=tuple(name for name, most in limits if outcomes > most),
    )


def _hour_away(outcomes: float, rate: float) -> tuple[float, float]:
    """Replay the day minute by minute, without a database for the busiest hour.

    Args:
        outcomes: of the day.
        rate: how many a second the workers can learn.

    Returns:
        The most outcomes that wait, and for how many seconds some do after the hour.
    """
    arrivals = list(_arrivals(outcomes))
    middle, half = arrivals.index(max(arrivals)), int(1800 / _STEP_S)
    waiting = most = late_s = 0.0
    for step, arrived in enumerate(arrivals):
        is_away = middle - half <= step < middle + half
        waiting = max(0.0, waiting + arrived - (0.0 if is_away else rate * _STEP_S))
        most = max(most, waiting)
        late_s += _STEP_S * (waiting > 0 and not is_away)
    return most, late_s


def _arrivals(outcomes: float) -> Iterator[float]:
    """Yield the outcomes of each minute: one wave, as steep as `_PEAK` wants it."""
    steps = int(DAY_S / _STEP_S)
    shape = [((1 - cos(2 * pi * step / steps)) / 2) ** _POWER for step in range(steps)]
    for each in shape:
        yield outcomes * each / sum(shape)


# For which the busiest minute of `_arrivals` has `_PEAK` times the mean.
_POWER = 2.6


def limits_of(costs: Costs) -> Iterator[tuple[str, float]]:
    """Yield what one server of each kind cannot exceed, with the outcomes a day where it breaks."""
    by_peak = DAY_S / _PEAK
    # Of the busiest minute, for each of its outcomes.
    refreshes = by_peak / OUTCOMES_OF_PROJECT / _REFRESH_S
    worker_us = costs.worker_us + refreshes * costs.refresh_ms * 1e3
    postgres_us = costs.postgres_us + refreshes * costs.postgres_refresh_ms * 1e3
    yield (
        f"a project with {_LARGEST_PROJECT:.0%} of all: its rows are locked",
        _BUSY * 1e6 / costs.locked_us / _LARGEST_PROJECT * by_peak,
    )
    yield "one Redis: its thread", _BUSY * 1e6 / costs.redis_us * by_peak
    yield (
        f"one Redis: an hour without workers in {_REDIS_MEMORY / 1e9:.0f} GB",
        _REDIS_MEMORY / costs.stream_bytes / 3600 * by_peak,
    )
    yield (
        f"one PostgreSQL: {_POSTGRES_CORES} cores",
        _BUSY * _POSTGRES_CORES * 1e6 / postgres_us * by_peak,
    )
    yield (
        f"one PostgreSQL: {_POSTGRES_LOG_PER_S / 1e6:.0f} MB/s of log",
        _POSTGRES_LOG_PER_S / costs.log_bytes * by_peak,
    )
    yield (
        f"one PostgreSQL: {_POSTGRES_DISK / 1e12:.0f} TB for {_KEPT_DAYS:.0f} days",
        _POSTGRES_DISK / costs.table_bytes / _KEPT_DAYS,
    )
    yield (
        f"one PostgreSQL: {_POSTGRES_CONNECTIONS} connections without a pooler",
        _POSTGRES_CONNECTIONS / costs.connections * _BUSY * 1e6 / worker_us * by_peak,
    )
    yield "the nightly job: 24 hours of one core", 24 * 3600 / costs.consolidation_s * 1e5
