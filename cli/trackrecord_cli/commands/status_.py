"""`trackrecord status`: is the loop alive?"""

import time
from typing import Any

import click
import redis
from sqlalchemy import Connection

from trackrecord.prompt.cache import cached_ages
from trackrecord.redis_keys import CONSUMER_GROUP
from trackrecord.settings import Settings, load_settings
from trackrecord.store.competences.read import count_competences
from trackrecord.store.database.engine import reading
from trackrecord.store.intake.status import read_store_status
from trackrecord.store.memories.write import count_memories
from trackrecord.store.outcomes.projects import project_id_of, project_names
from trackrecord.store.outcomes.recorded_rules import rebuilds_due
from trackrecord.times import iso
from trackrecord_producers.spool import spool_size

from ..access import open_redis, open_store
from ..options import at_option, json_option, project_option
from ..screen import print_json, print_table
from .patterns_ import standings

# A worker that waits for outcomes asks at least this often.
_ALIVE_WITHIN_MS = 15_000


@click.command("status")
@project_option
@at_option
@json_option
def command(project: str | None, at: float | None, *, as_json: bool) -> None:
    """Whether the loop is alive, and how much it has learnt.

    With --project the counts are the project's, else all projects'.
    """
    settings = load_settings()
    with open_redis(settings) as client:
        flow = _flow(client, settings)
        ages = cached_ages(client, settings, [project or settings.project], now=time.time())
    with open_store(settings) as engine, reading(engine) as connection:
        learnt = _learnt(connection, settings, project, at)
    age = ages.get(project or settings.project)
    document = {
        **flow,
        "spooled": spool_size(settings).outcomes,
        **learnt,
        "cache_age_s": None if age is None else round(max(0.0, age.age_s), 3),
    }
    if as_json:
        print_json(document)
    else:
        due = document["rebuild_due"]
        shown = {**document, "rebuild_due": ", ".join(due) or "no"}
        print_table(("what", "value"), shown.items())


def _flow(client: redis.Redis, settings: Settings) -> dict[str, Any]:
    """The stream: what waits, what is being learnt, what was set aside, who works on it."""
    keys = settings.keys
    total = int(client.xlen(keys.outcomes))
    pending = 0
    workers = 0
    if client.exists(keys.outcomes):
        groups: Any = client.xinfo_groups(keys.outcomes)
        pending = sum(int(group["pending"]) for group in groups)
        if groups:
            consumers: Any = client.xinfo_consumers(keys.outcomes, CONSUMER_GROUP)
            workers = sum(int(each["idle"]) < _ALIVE_WITHIN_MS for each in consumers)
    oldest: Any = client.xrange(keys.outcomes, count=1)
    return {
        "waiting": total - pending,
        "oldest_waiting_s": _age_of_entry(oldest[0][0]) if oldest else None,
        "pending": pending,
        "dead_letters": int(client.xlen(keys.dead)),
        "workers": workers,
    }


def _age_of_entry(entry_id: bytes) -> float:
    return round(max(0.0, time.time() - int(entry_id.split(b"-")[0]) / 1000), 3)


def _learnt(
    connection: Connection, settings: Settings, project: str | None, at: float | None
) -> dict[str, Any]:
    """The store: what is on record of one project, or of all."""
    project_id = None if project is None else project_id_of(connection, project)
    if project is not None and project_id is None:
        project_id = -1  # nothing is on record under that name
    status = read_store_status(connection, project_id, at=at)
    names = [project] if project is not None else project_names(connection)
    found = [each for name in names for each in standings(connection, settings, name, at)]
    return {
        "outcomes": status.counts.outcomes,
        "successes": status.counts.successes,
        "patterns": sum(not each.is_inverted for each in found),
        "anti_patterns": sum(each.is_inverted for each in found),
        "signatures": status.signatures,
        "competences": count_competences(connection, project_id, at=at),
        "memories": count_memories(connection, project_id, at=at),
        "waiting_episodes": status.waiting_episodes,
        "rebuild_due": {
            name: list(reasons)
            for name, reasons in rebuilds_due(
                connection,
                settings.rules.recorded,
                settings.decay.half_life_days,
                project_id=project_id,
            ).items()
        },
        "last_learnt": iso(status.counts.last_learnt),
        "last_consolidation": iso(status.last_consolidation),
    }
