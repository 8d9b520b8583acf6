"""The verdict on a world: everything acknowledged is on record, once, as in a clean replay."""

import contextlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from math import isclose
from pathlib import Path
from typing import Any

import redis
from sqlalchemy import Engine, func, select

from tests.forgetting.whole_store import whole
from tests.soak.ledger import PROJECTS, Sent
from tests.soak.worlds import World
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.prompt.documents.rankings_document import decode_document
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.tables import outcomes, projects
from trackrecord.store.patterns.read import read_standings
from trackrecord_consolidation.run import consolidate_all
from trackrecord_worker.app import create_app
from trackrecord_worker.services import Services
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

# When something arrived, and in which batch, is of no matter.
ARRIVAL = frozenset({
    "received_at", "last_learnt_at", "created_at", "changed_at", "added_at", "changes", "standing",
    "read_at", "updated_at", "counted_at", "replaced_at", "competence_history",
    "last_reinforced_at", "memory_changes", "waiting_retractions",
    "decision_id", "revision",
})  # fmt: skip
_STEPS = re.compile(r'"(?:created_at|updated_at|last_reinforced_at|version)":[^,}]*')
_BATCH = 500


def drained(world: World, timeout_s: float) -> bool:
    """Let everything arrive; return whether it did."""
    world.publisher.flush(60.0)
    world.publisher.close()
    if dropped := world.publisher.stats().dropped:
        world.fail(f"the publisher dropped {dropped}")

    def is_empty() -> bool:
        spool = list(world.settings.spool_dir.glob("*.jsonl"))
        return world.waiting() == 0 and not any(each.stat().st_size for each in spool)

    if not world.wait(is_empty, timeout_s):
        world.fail(f"{world.waiting()} entries were never dealt with, {timeout_s:g} s after all")
        return False
    engine = world.connect()
    try:
        if not world.wait(lambda: all(_is_cached(world, engine, each) for each in PROJECTS)):
            world.fail("the rankings that agents read are not those of the store")
    finally:
        engine.dispose()
    return True


def _is_cached(world: World, engine: Engine, project: str) -> bool:
    """Return whether the rankings in Redis are those of the store, with its counts."""
    cached: Any = world.client.hget(world.settings.keys.rankings(project), "document")
    with reading(engine) as connection:
        row = connection.execute(select(projects).where(projects.c.name == project)).one()
        found = read_standings(connection, row.id, world.settings.rules, now=time.time())
        counts = {
            each.facts.slug: (each.evidence.helpful, each.evidence.neutral, each.evidence.harmful)
            for each in found
        }
    if cached is None:
        return False
    document = decode_document(cached)
    return document.revision == row.revision and all(
        counts[each.id] == (each.helpful_count, each.neutral_count, each.harmful_count)
        for each in document.patterns
    )


def judge(world: World, folder: Path) -> None:
    """Stop a world and compare it with a clean replay; note each difference."""
    _judge_letters(world)
    world.stop()
    engine = world.connect()
    with replayed(world.ledger.entries, folder) as clean:
        at = time.time()
        for store in (engine, clean):
            consolidate_all(store, CompetenceRules(), now=at, actor="soak")
        for project in PROJECTS:
            for name, text in differences(engine, clean, project, at=at):
                world.fail(f"{name} of {project}: {text}")
        for store, which in ((engine, "the world"), (clean, "the replay")):
            with reading(store) as connection:
                rows = connection.scalar(
                    select(func.count()).select_from(outcomes).where(outcomes.c.replaced_at == 0)
                )
                counted = int(connection.scalar(select(func.sum(projects.c.outcomes))) or 0)
            if rows != counted:
                world.fail(f"{which} has {rows} outcomes and counted {counted}")
            world.ledger.happened["outcomes on record"] = rows or 0
    engine.dispose()


def differences(
    world: Engine, clean: Engine, project: str, *, at: float
) -> Iterator[tuple[str, str]]:
    """Yield the tables that differ, each with the first rows that only one of the two has."""
    found, wanted = (_state(each, project, at) for each in (world, clean))
    if not wanted:
        yield "all", "the replay has nothing of it"
    for table in wanted:
        ours, theirs = (Counter(map(_frozen, rows.get(table, []))) for rows in (found, wanted))
        missing, extra = theirs - ours, ours - theirs
        _pair_off(missing, extra)
        if missing or extra:
            counts = f"{missing.total()} rows missing, {extra.total()} too many"
            yield table, f"{counts}: {_first_difference(missing, extra)}"


def _frozen(value: Any) -> Any:
    """Return a row that can be counted: what it has as JSON are lists."""
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


def _pair_off(missing: Counter[Any], extra: Counter[Any]) -> None:
    """Remove the rows that differ by how sums of floats were rounded: they were added otherwise."""
    for row in list(missing):
        for other in [each for each in extra if _is_nearly(row, each)]:
            both = min(missing[row], extra[other])
            missing[row] -= both
            extra[other] -= both
    for each in (missing, extra):
        each += Counter()  # removes what is not there any more


def _is_nearly(row: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return len(row) == len(other) and all(
        one == two
        or (isinstance(one, float) and isinstance(two, float) and isclose(one, two, rel_tol=1e-9))
        or (isinstance(one, tuple) and isinstance(two, tuple) and _is_nearly(one, two))
        for one, two in zip(row, other, strict=True)
    )


def _state(store: Engine, project: str, at: float) -> dict[str, list[Any]]:
    """Return all that is on record, without when and in how many steps it was consolidated."""
    tables = whole(store, project, at=at, leaving_out=ARRIVAL)
    records = [
        tuple(_STEPS.sub("", each) if isinstance(each, str) else each for each in row)
        for row in tables.get("competences", [])
    ]
    if not tables:
        return {}
    # An outcome that came after what amends it is written anew by the join, with the same content.
    own = [tuple(map(_content, row)) for row in tables["outcomes"]]
    content = {row[0]: row for row in own}
    entries = tables.get("outcome_entries", [])
    of_outcome = Counter(row[0] for row in entries)
    joined = [
        row
        for row in entries
        if of_outcome[row[0]] > 1 or not set(map(_content, row[1:])) & {*content[row[0]][1:]}
    ]
    return tables | {"competences": records, "outcomes": own, "outcome_entries": joined}


def _content(value: object) -> object:
    """Return a body whatever the order of its fields; anything else as it is."""
    if not isinstance(value, bytes) or not value.startswith(b"{"):
        return value
    return json.dumps(json.loads(value), sort_keys=True)


def _first_difference(missing: Counter[Any], extra: Counter[Any]) -> str:
    """Return where a row that is missing differs from the one in its place."""
    row = min(missing or extra, key=repr)
    others = [repr(each) for each in (extra if missing else missing) if each[0] == row[0]]
    text, other = repr(row), others[0] if others else ""
    place = next(
        (n for n, pair in enumerate(zip(text, other, strict=False)) if len(set(pair)) > 1), 0
    )
    start = max(0, place - 80)
    return (
        f"{text[:60]} … {text[start : place + 200]} against {other[start : place + 200] or 'none'}"
    )


def _judge_letters(world: World) -> None:
    """Each hostile entry became one dead letter; one whose acknowledgement was lost may have."""
    counts: Any = world.client.hgetall(world.settings.keys.counters)
    refused = sum(int(count) for name, count in counts.items() if name.startswith(b"refused:"))
    least, most = world.ledger.hostile, world.ledger.hostile + world.ledger.unsure
    world.ledger.happened["dead letters"] = refused
    if not least <= refused <= most:
        world.fail(f"{refused} dead letters of {least} to {most} hostile entries")


@contextlib.contextmanager
def replayed(entries: list[Sent], folder: Path) -> Iterator[Engine]:
    """A store that learnt these entries once each, in order, with nothing going wrong."""
    settings: Settings = load_settings(home=folder, log_level="warning", drain_block_s=0.01)
    with EmbeddedRedis(settings.embedded_redis_folder, settings.embedded_redis_socket):
        worker = Services(settings, create_app(settings))
        client: redis.Redis = worker.redis
        for start in range(0, len(entries), _BATCH):
            with client.pipeline(transaction=False) as pipe:
                for each in entries[start : start + _BATCH]:
                    pipe.xadd(settings.keys.outcomes, {"v": 1, each.kind: each.body})
                pipe.execute()
            worker.drain.run()
        while client.xlen(settings.keys.outcomes):
            worker.drain.run()
        if client.xlen(settings.keys.dead):
            message = "the model holds entries that are not valid"
            raise AssertionError(message)
        yield worker.engine
        worker.engine.dispose()
        client.close()
