"""The nightly job: 100,000 new episodes, and no new ones after a million."""

import time
from collections.abc import Iterator
from itertools import islice

from sqlalchemy import Engine, select

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings, new_postgres_database, postgres_server
from benchmarks.workloads.workload import episode_bodies
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.intake.intake import learn
from trackrecord.store.outcomes.tables import outcomes, waiting_episodes
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import ScoredOutcome, scorer_of
from trackrecord_consolidation.report import RunReport
from trackrecord_consolidation.run import consolidate_all

UNIT = "s"
_NEW_S = 2.0
_MILLION_S = 10.0
_NOTHING_NEW_S = 0.2
_BATCH = 5_000


def measure(scale: Scale) -> Measured:
    """Consolidate new episodes in an empty store and in a large one."""
    with bench_settings() as settings:
        store = _Store(settings)
        setting_up = store.record(scale.old_episodes, seed=7)
        first = store.consolidate(expected=scale.old_episodes)
        nothing = store.consolidate(expected=0)
        store.record(scale.new_episodes, seed=8)
        bare = store.decode_waiting()
        new = store.consolidate(expected=scale.new_episodes)
        store.close()
    with postgres_server() as server, bench_settings(new_postgres_database(server)) as settings:
        store = _Store(settings)
        store.record(scale.new_episodes, seed=9)
        bare_there = store.decode_waiting()
        new_there = store.consolidate(expected=scale.new_episodes)
        store.close()
    decoding = "reading and decoding the same bodies"
    floor = at_most(_NEW_S * scale.new_episodes / 100_000)
    many = f"{scale.new_episodes:,} new"
    return Measured(
        f"{scale.old_episodes:,} episodes consolidated before (SQLite), then {many}; 3 projects, "
        f"4 to 5 tool calls with arguments each; recording them took {setting_up:.0f} s",
        (
            Figure(f"SQLite, {many}", new, UNIT, floor, (Baseline(decoding, bare),)),
            Figure(
                f"PostgreSQL, {many}", new_there, UNIT, floor, (Baseline(decoding, bare_there),)
            ),
            Figure("SQLite, nothing new", nothing, UNIT, at_most(_NOTHING_NEW_S)),
            Figure(
                f"SQLite, the first {scale.old_episodes:,}",
                first,
                UNIT,
                at_most(_MILLION_S * scale.old_episodes / 1_000_000),
            ),
        ),
    )


class _Store:
    """A store, filled with episodes in the worker's way."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._scorer = scorer_of(settings.rules)
        self._engine: Engine = connect_store(settings.effective_database_url)
        migrate(self._engine)

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    def record(self, count: int, *, seed: int) -> float:
        """Record new episodes; return the seconds."""
        started = time.perf_counter()
        scored = self._scored(count, seed)
        rules = self._settings.rules
        while batch := list(islice(scored, _BATCH)):
            with writing(self._engine) as connection:
                learn(
                    connection,
                    batch,
                    rules,
                    now=time.time(),
                )
        return time.perf_counter() - started

    def consolidate(self, *, expected: int) -> float:
        """Run the nightly job; return the seconds."""
        started = time.perf_counter()
        reports: list[RunReport] = consolidate_all(
            self._engine, self._settings.competence, now=time.time(), actor="benchmark"
        )
        seconds = time.perf_counter() - started
        read = sum(report.episodes_read for report in reports)
        if read != expected:
            message = f"{read} episodes were read, not {expected}"
            raise RuntimeError(message)
        return seconds

    def decode_waiting(self) -> float:
        """Read and decode the waiting bodies, and learn nothing; return the seconds."""
        query = select(outcomes.c.body).join(
            waiting_episodes, waiting_episodes.c.outcome == outcomes.c.id
        )
        started = time.perf_counter()
        with reading(self._engine) as connection:
            for (body,) in connection.execute(query.execution_options(yield_per=1000)):
                decode_outcome(body)
        return time.perf_counter() - started

    def _scored(self, count: int, seed: int) -> Iterator[ScoredOutcome]:
        now = time.time()
        for body in episode_bodies(count, seed=seed):
            yield self._scorer.score(decode_outcome(body), body, received_at=now, outcome_id="")
