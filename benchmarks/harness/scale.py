"""The sizes of the benchmarks: full ones and quick ones."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """The sizes of a run.

    Attributes:
        outcomes: outcomes of one end-to-end measurement.
        celery_tasks: tasks of the one-task-per-outcome baseline.
        publish_calls: calls of publish() for each state of Redis.
        slow_calls: number of calls of functions that take a large part of a millisecond.
        reads: reads of the rankings of each kind.
        freshness_samples: publications that are watched, idle and under load each.
        new_episodes: episodes that one consolidation finds new.
        old_episodes: episodes that were consolidated before.
        observations: observations of the one pattern that is explained.
        memories: memories in the project that is remembered into and recalled from.
        processes: fresh processes whose first publish is timed.
        memory_first: outcomes after which a worker's memory is first looked at.
        memory_last: outcomes after which it is looked at again.
        import_mb: megabytes of sessions of each agent that are imported.
        traced_runs: runs of agents whose spans are posted to the front door.
        moved: outcomes of the project that is exported and imported.
    """

    outcomes: int
    celery_tasks: int
    publish_calls: int
    slow_calls: int
    reads: int
    freshness_samples: int
    new_episodes: int
    old_episodes: int
    observations: int
    memories: int
    processes: int
    memory_first: int
    memory_last: int
    import_mb: float
    traced_runs: int
    moved: int


FULL = Scale(
    outcomes=200_000,
    celery_tasks=2_000,
    publish_calls=100_000,
    slow_calls=1_000,
    reads=2_000,
    freshness_samples=100,
    new_episodes=100_000,
    old_episodes=1_000_000,
    observations=1_000_000,
    memories=100_000,
    processes=20,
    memory_first=100_000,
    memory_last=1_000_000,
    import_mb=200.0,
    traced_runs=12_800,
    moved=100_000,
)
QUICK = Scale(
    outcomes=40_000,
    celery_tasks=500,
    publish_calls=20_000,
    slow_calls=200,
    reads=500,
    freshness_samples=20,
    new_episodes=20_000,
    old_episodes=100_000,
    observations=100_000,
    memories=20_000,
    processes=5,
    memory_first=50_000,
    memory_last=200_000,
    import_mb=20.0,
    traced_runs=1_600,
    moved=5_000,
)
