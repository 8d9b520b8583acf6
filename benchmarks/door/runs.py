"""Lists of runs: each filter, where it admits all runs, only the oldest, and none."""

import random
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from sqlalchemy import Engine, select

import trackrecord
from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings, new_postgres_database, postgres_server
from benchmarks.harness.timing import time_calls
from trackrecord.errors import UnknownId
from trackrecord.resources.access.project_store import ProjectStore, given_stores
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.intake.intake import learn
from trackrecord.store.outcomes.tables import outcomes
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord.wire.outcome_scorer import ScoredOutcome, scorer_of

_RUNS = 40_000
_OLD = 5
_AT_ONCE = 1_000
_ROUNDS = 20
_MOST_MS = 50.0
_PROJECT = "default"
_TOOLS = ("read", "grep", "edit", "shell:pytest", "shell:git commit", "look_up")
_WORDS = (  # noqa: SIM905 - easier to read
    "the order service loses its discount when a voucher is redeemed twice and customers of some"
    " tenants see prices of yesterday until they load the page once more so find out why and mend"
    " it without a change of what the report says to those who have subscribed to its summary"
).split()
_WORDS_OF_A_TASK = 50
# What each filter is asked for: what most runs have, what only the oldest have, and what none has.
_ASKED: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "source": ({"source": "bot"}, {"source": "first-bot"}, {"source": "nobody"}),
    "verdict and source": (
        {"verdict": "success", "source": "bot"},
        {"verdict": "success", "source": "first-bot"},
        {"verdict": "none", "source": "bot"},
    ),
    "ground": ({"ground": "tests"}, {"ground": "first"}, {"ground": "interrupted"}),
    "tool": ({"tool": "edit"}, {"tool": "first_tool"}, {"tool": "no_tool"}),
    "a failed call": ({"failed": True}, {"failed": True, "source": "first-bot"},
                      {"failed": True, "source": "nobody"}),
    "a failed call of a tool": (
        {"failed": True, "tool": "grep"}, {"failed": True, "tool": "first_tool"},
        {"failed": True, "tool": "look_up"},
    ),
    "commit": ({"commit": "abcdef0"}, {"commit": "0123456"}, {"commit": "7777777"}),
    "task": ({"task_id": "the-usual"}, {"task_id": "task-1"}, {"task_id": "no-such-task"}),
    "text": ({"text": "Find out"}, {"text": "The FIRST task"}, {"text": "the summary of tenants"}),
    "text, tool and verdict": (
        {"text": "find out", "tool": "edit", "verdict": "success"},
        {"text": "first task", "tool": "first_tool", "verdict": "success"},
        {"text": "the summary of tenants", "tool": "edit", "verdict": "success"},
    ),
}  # fmt: skip


def measure(_scale: Scale) -> Measured:
    """Measure both databases, one after the other."""
    with bench_settings() as settings:
        figures = list(_figures("SQLite", settings))
    with postgres_server() as server, bench_settings(new_postgres_database(server)) as settings:
        figures += _figures("PostgreSQL", settings)
    return Measured(
        f"`list_runs` of 20 runs of {_RUNS:,} with five calls and {_WORDS_OF_A_TASK} words each; "
        f"the slowest of three questions: for what most runs have, the oldest {_OLD} alone, none; "
        f"median of {_ROUNDS}",
        tuple(figures),
    )


def _figures(database: str, settings: Settings) -> Iterator[Figure]:
    engine = connect_store(settings.effective_database_url)
    try:
        migrate(engine)
        _fill(engine, settings)
        decoding = Baseline("decoding each body", _ms(partial(_decode_all, engine), 3))
        with given_stores.within(ProjectStore(engine, settings, _PROJECT)):
            plain = Baseline("20 runs without a filter", _ms(_listed, _ROUNDS))
            for name, questions in _ASKED.items():
                slowest = max(_ms(partial(_listed, **asked), _ROUNDS) for asked in questions)
                yield Figure(
                    f"{database}, {name}", slowest, "ms", at_most(_MOST_MS), (plain, decoding)
                )
    finally:
        engine.dispose()


def _listed(**asked: Any) -> None:  # noqa: ANN401 - filters of any type
    try:
        trackrecord.list_runs(**asked, limit=20)
    except UnknownId:
        assert asked["task_id"] == "no-such-task"  # noqa: S101 - or nothing was measured


def _decode_all(engine: Engine) -> None:
    with reading(engine) as connection:
        for body in connection.execute(select(outcomes.c.body)).scalars():
            decode_outcome(body)


def _ms(call: Any, rounds: int) -> float:  # noqa: ANN401 - takes a number or nothing
    return time_calls(lambda _number: call(), rounds).p50 / 1000


def _fill(engine: Engine, settings: Settings) -> None:
    chance, scorer, now = random.Random(5), scorer_of(settings.rules), time.time()
    batch: list[ScoredOutcome] = []
    for number in range(_RUNS):
        at = now - _RUNS + number
        body = encode_body({**_fields(chance, number), "timestamp": at})
        batch.append(scorer.score(decode_outcome(body), body, received_at=at, outcome_id="none"))
        if len(batch) == _AT_ONCE:
            with writing(engine) as connection:
                learn(connection, batch, settings.rules, now=at)
            batch = []


def _fields(chance: random.Random, number: int) -> dict[str, Any]:
    is_old = number < _OLD
    words = ["The first task:"] if is_old else ["Find out:"]
    return {
        "outcome_id": f"o{number}",
        "task_id": f"task-{number}" if is_old or number % 2 else "the-usual",
        "success": True,
        "source": "first-bot" if is_old else "bot",
        "instruction": " ".join([*words, *chance.choices(_WORDS, k=_WORDS_OF_A_TASK)]),
        "grounds": [{"kind": "first" if is_old else "tests"}],
        "commits": ["0123456789" if is_old else "abcdef0123"] if number % 2 else [],
        "tool_graph": [
            {"tool": tool, "args": {"path": f"src/page-{number % 40}.ts"}, "ok": tool != "grep"}
            for tool in chance.choices(_TOOLS[:5], k=5)
        ] + ([{"tool": "first_tool", "ok": False}] if is_old else []),
    }  # fmt: skip
