"""Remembering and recalling among a hundred thousand memories of the same project."""

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator

from sqlalchemy import Engine, func, select, text

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import (
    REPOSITORY,
    bench_settings,
    new_postgres_database,
    postgres_server,
)
from benchmarks.harness.timing import Latency, time_calls
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.memories.trigrams import jaccard, trigrams
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.database.upsert import insert_rows
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.recall import recall, reset_clocks
from trackrecord.store.memories.similar import mark_new
from trackrecord.store.memories.tables import memories, memory_changes
from trackrecord.store.memories.write import remember

UNIT = "ms"
_MOST_MS = 20.0
_CHUNK = 5_000
_CALLS = 500
_SLOW_CALLS = 3
_NOW = 1_790_000_000.0
_RULES = MemoryRules()


def measure(scale: Scale) -> Measured:
    """Measure both databases, one after the other."""
    with bench_settings() as settings:
        figures = list(_figures("SQLite", settings, scale.memories))
    with postgres_server() as server, bench_settings(new_postgres_database(server)) as settings:
        figures += _figures("PostgreSQL", settings, scale.memories)
    return Measured(
        f"{scale.memories:,} memories of 7 to 15 words in one project; {_CALLS} calls of each, "
        "each with its transaction; a third of what is remembered is on record already",
        tuple(figures),
    )


class _Writer:
    """Write short facts in the words of the documentation, frequent words more often."""

    def __init__(self) -> None:
        pages = sorted((REPOSITORY / "docs").glob("*.md"))
        found = Counter[str]()
        for page in pages:
            found.update(re.findall(r"[a-z]{2,}", page.read_text(encoding="utf-8").lower()))
        self._words = sorted(found, key=lambda word: (-found[word], word))
        self._weights = [1 / (rank + 5) ** 0.8 for rank in range(len(self._words))]
        self._random = random.Random(7)

    def fact(self, least: int = 7, most: int = 15) -> str:
        """Return a text of some words."""
        count = self._random.randint(least, most)
        return " ".join(self._random.choices(self._words, self._weights, k=count))


def _figures(database: str, settings: Settings, count: int) -> Iterator[Figure]:
    engine = connect_store(settings.effective_database_url)
    writer = _Writer()
    try:
        migrate(engine)
        texts = [writer.fact() for _ in range(count)]
        project_id = _fill(engine, texts)
        for name, latency, baselines in (
            ("remember", *_remembering(engine, project_id, writer, texts)),
            ("recall", *_recalling(engine, project_id, writer)),
        ):
            yield Figure(
                f"{database}, {name}, p99", latency.p99 / 1000, UNIT, at_most(_MOST_MS), baselines
            )
            yield Figure(f"{database}, {name}, p50", latency.p50 / 1000, UNIT)
    finally:
        engine.dispose()


def _fill(engine: Engine, texts: list[str]) -> int:
    columns = tuple(
        memories.c[name]
        for name in (
            "project_id", "memory_id", "text", "type", "confidence", "created_at", "changes",
            "changed_at", "standing", "size_class",
        )
    )  # fmt: skip
    changed = tuple(
        memory_changes.c[name]
        for name in ("memory", "number", "at", "action", "type", "confidence")
    )
    with writing(engine) as connection:
        project_id = ensure_projects(connection, ["default"])["default"]
    for start in range(0, len(texts), _CHUNK):
        rows = [
            (project_id, f"m{number}", fact, "memory", 0.5, _NOW + number, 1, _NOW, 0.0, 0)
            for number, fact in enumerate(texts[start : start + _CHUNK], start)
        ]
        with writing(engine) as connection:
            returned = insert_rows(connection, memories, columns, rows, returning=(memories.c.id,))
            insert_rows(
                connection,
                memory_changes,
                changed,
                [(row, 1, _NOW, "stored", "memory", 0.5) for (row,) in returned],
            )
            mark_new(connection, project_id, _RULES)
    if engine.dialect.name == "postgresql":
        # Autovacuum does this by itself, some time later.
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
    with reading(engine) as connection:
        if connection.execute(select(func.count()).select_from(memories)).scalar() != len(texts):
            message = "not all memories were recorded"
            raise RuntimeError(message)
    return project_id


def _remembering(
    engine: Engine, project_id: int, writer: _Writer, texts: list[str]
) -> tuple[Latency, tuple[Baseline, ...]]:
    new = [
        writer.fact() if number % 3 else texts[number * 7 % len(texts)] + "!"
        for number in range(_CALLS)
    ]

    def one(number: int) -> None:
        with writing(engine) as connection:
            remember(
                connection, project_id, new[number], memory_id=f"new-{number}", rules=_RULES,
                now=time.time(), source="benchmark",
            )  # fmt: skip

    def bare(number: int) -> None:
        with writing(engine) as connection:
            connection.execute(
                memory_changes.insert().values(
                    memory=1, number=number + 10, at=_NOW, action="x", type="x", confidence=0.5
                )
            )

    def compare_all(number: int) -> None:
        grams = trigrams(new[number])
        with reading(engine) as connection:
            for (each,) in connection.execute(select(memories.c.text)):
                jaccard(grams, trigrams(each))

    time_calls(one, 20)
    latency = time_calls(lambda number: one(number + 20), _CALLS - 20)
    return latency, (
        Baseline("one row inserted and committed, p99", time_calls(bare, _CALLS).p99 / 1000),
        Baseline("comparing with each text", _median(compare_all)),
    )


def _recalling(
    engine: Engine, project_id: int, writer: _Writer
) -> tuple[Latency, tuple[Baseline, ...]]:
    questions = [writer.fact(1, 8) for _ in range(_CALLS)]

    def one(number: int) -> None:
        now = time.time()
        with reading(engine) as connection:
            found = recall(connection, project_id, questions[number], rules=_RULES, now=now)
        if found:
            with writing(engine) as connection:
                rows = [each.memory.row for each in found]
                reset_clocks(connection, rows, rules=_RULES, now=now)

    def look_at_all(number: int) -> None:
        word = max(questions[number].split(), key=len)
        with reading(engine) as connection:
            connection.execute(
                select(memories.c.id).where(memories.c.text.contains(word)).limit(1000)
            ).all()

    time_calls(one, 20)
    return time_calls(one, _CALLS), (Baseline("LIKE '%word%' for one word", _median(look_at_all)),)


def _median(call: Callable[[int], None]) -> float:
    return time_calls(call, _SLOW_CALLS).p50 / 1000
