"""Exporting and importing a project, against a plain copy of the same rows."""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import temporary_home
from benchmarks.workloads.workload import episode_bodies
from trackrecord.learning.rules_bundle import Rules
from trackrecord.store.database.engine import connect_store, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.intake.intake import learn
from trackrecord.store.transfer.subjects import exported_tables
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import scorer_of

UNIT = "rows/s"
_MOST_MIB = 250.0
_BATCH = 2000
_AT_ONCE = 5000
_NOW = 1_790_000_000.0
_RULES = Rules()


def measure(scale: Scale) -> Measured:
    """Export a project, and import that."""
    with temporary_home() as home:
        file = home / "store.db"
        _teach(f"sqlite:///{file}", scale.moved)
        figures = list(_figures(home, file))
    return Measured(
        f"a project of {scale.moved:,} outcomes of some 500 bytes with tool calls, each way in a "
        "process of its own; the baselines write without keeping track, and check nothing",
        tuple(figures),
    )


def _figures(home: Path, file: Path) -> Iterator[Figure]:
    export = str(home / "export.jsonl")
    dump = Baseline("iterdump of sqlite3", _dump(file))
    written = Baseline("INSERT of the same rows alone", _insert(file, home / "plain.db"))
    source = f"sqlite:///{file}"
    for name, arguments, baseline in (
        ("export from SQLite", ("export", source, export), dump),
        ("import into SQLite", ("import", export, f"sqlite:///{home / 'imported.db'}"), written),
    ):  # fmt: skip
        told = _run(*arguments)
        yield Figure(name, told["rows"] / told["seconds"], UNIT, None, (baseline,))
        yield Figure(f"{name}, peak memory", told["peak_mib"], "MiB", at_most(_MOST_MIB))


def _run(*arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.children.transfers", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told: dict[str, float] = json.loads(done.stdout)
    return told


def _teach(url: str, count: int) -> None:
    engine = connect_store(url)
    migrate(engine)
    scorer = scorer_of(_RULES)
    batch: list[Any] = []
    for number, body in enumerate(episode_bodies(count, seed=5), start=1):
        fields = json.loads(body)
        own = json.dumps({**fields, "project": "default"}).encode()
        batch.append(
            scorer.score(decode_outcome(own), own, received_at=_NOW + number, outcome_id="none")
        )
        if len(batch) == _BATCH or number == count:
            with writing(engine) as connection:
                learn(connection, batch, _RULES, now=_NOW + number)
            batch = []
    engine.dispose()


def _chunks(file: Path) -> Iterator[tuple[str, list[str], list[tuple[Any, ...]]]]:
    source = sqlite3.connect(file)
    for table in exported_tables():
        cursor = source.execute(f"SELECT * FROM {table.name}")  # noqa: S608 - our own name
        names = [each[0] for each in cursor.description]
        while rows := cursor.fetchmany(_AT_ONCE):
            yield table.name, names, rows
    source.close()


def _insert(file: Path, target: Path) -> float:
    """Insert every row into the same tables, in one transaction."""
    engine = connect_store(f"sqlite:///{target}")
    migrate(engine)
    engine.dispose()
    done = 0
    connection = sqlite3.connect(target)
    began = time.perf_counter()
    for table, names, rows in _chunks(file):
        marks = ", ".join("?" * len(names))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608 - our own name
        done += len(rows)
    connection.commit()
    connection.close()
    return done / (time.perf_counter() - began)


def _dump(file: Path) -> float:
    connection = sqlite3.connect(file)
    began = time.perf_counter()
    done = sum(line.startswith("INSERT") for line in connection.iterdump())
    connection.close()
    return done / (time.perf_counter() - began)
