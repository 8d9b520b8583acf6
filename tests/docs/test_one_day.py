"""The day that docs/scaling.md computes: what breaks does so where its table says."""

import pytest

from benchmarks.workloads.one_day import OUTCOMES_OF_PROJECT, Costs, limits_of, replay

COSTS = Costs(
    worker_us=100.0,
    postgres_us=40.0,
    redis_us=10.0,
    locked_us=20.0,
    stream_bytes=800.0,
    table_bytes=2_000.0,
    log_bytes=3_000.0,
    connections=1.0,
    consolidation_s=3.0,
    refresh_ms=10.0,
    postgres_refresh_ms=4.0,
)
LIMITS = dict(limits_of(COSTS))


@pytest.mark.parametrize(
    ("limit", "need", "most"),
    [
        ("one PostgreSQL: 100 connections without a pooler", lambda day: day.workers, 100),
        ("one PostgreSQL: 32 cores", lambda day: day.postgres_cores, 32 * 0.7),
        ("one PostgreSQL: 8 TB for 90 days", lambda day: day.kept_bytes / 1e12, 8),
        ("one Redis: its thread", lambda day: day.redis_cores, 0.7),
        ("the nightly job: 24 hours of one core", lambda day: day.night_h, 24),
    ],
)
def test_the_table_and_the_limits_agree(limit, need, most):
    """At a limit the day needs just what there is, with all that is done for it."""
    outcomes = LIMITS[limit]
    day = replay(outcomes, outcomes / OUTCOMES_OF_PROJECT, COSTS)
    assert need(day) == pytest.approx(most, rel=0.02)


def test_a_day_names_what_breaks_the_first_one_first():
    """And nothing else."""
    first, second, *_ = sorted(LIMITS, key=lambda name: LIMITS[name])
    assert replay(0.99 * LIMITS[first], 1, COSTS).breaks == ()
    assert replay(0.99 * LIMITS[second], 1, COSTS).breaks == (first,)
    assert replay(1.01 * LIMITS[second], 1, COSTS).breaks == (first, second)
