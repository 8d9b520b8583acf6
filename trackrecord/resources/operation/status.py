"""Status: whether the loop is alive, its parts, and how much it has learnt.

A new figure is a field here, read from the store (`store/intake/status`) or from Redis (`flow`), a
line in `status_` of the command line, and a row in docs/running.md. JSON and HTTP follow.
"""

import time
from dataclasses import replace
from itertools import islice
from typing import Any, Final

import redis
from sqlalchemy import Connection

from trackrecord.learning.text.numerals import counted
from trackrecord.process.version import __version__
from trackrecord.prompt.reading.cache import cached_ages
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.declaration.resource import Answer, Instant
from trackrecord.resources.experience.found_commands import standing_defects
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.effect_consent import effect_consent
from trackrecord.settings.server_urls import without_password
from trackrecord.store.advice.effect import ENOUGH_TASKS, held_out_projects
from trackrecord.store.competences.read import count_competences
from trackrecord.store.intake.status import read_bytes, read_store_status
from trackrecord.store.memories.read import count_memories
from trackrecord.store.outcomes.projects import project_names
from trackrecord.store.outcomes.recorded_rules import rebuilds_due
from trackrecord.store.patterns.read import count_by_counts

from .flow import Flow, read_flow

_SLOW_FROM_S: Final = 60.0
# A person mends the first ones first; `trackrecord commands` shows all.
_MOST_DEFECTS: Final = 20


class StatusAnswer(Answer, frozen=True, kw_only=True):
    """The state of the loop at a moment. The fields are those of `trackrecord status --json`.

    Attributes:
        version: of trackrecord.
        home: the folder that everything is kept in; null for callers of one project.
        redis: the server, with its password masked; null as above.
        database: the database, with its password masked; null as above.
        waiting: entries in the stream that no worker has read.
        oldest_waiting_s: age of the oldest entry in the stream; null when it is empty.
        pending: entries that were read and are not learnt yet.
        dead_letters: outcomes that could not be learnt.
        dead_letters_dropped: how many were ever dropped to make room for newer ones.
        lost: entries that somebody took out of the stream before workers could; see docs/access.md.
        memory_full: whether Redis's memory is full; null where its user may not know.
        workers: worker processes that live.
        spooled: outcomes in the spool.
        outcomes: outcomes on record.
        successes: outcomes whose task reached its goal.
        without_verdict: outcomes of which nobody knows whether it did.
        patterns: patterns that are not anti-patterns.
        anti_patterns: patterns that have become warnings.
        signatures: procedures that episodes were of.
        competences: competence records.
        memories: memories on record.
        waiting_episodes: episodes that no consolidation has read.
        rebuild_due: by project, why its numbers must be computed anew.
        last_learnt: when the newest outcome was learnt.
        last_consolidation: when the last finished run ended.
        cache_age_s: age of the project's cached rankings; null when there are none.
        bytes: of the database by kind of row, the largest first, beside "total"; of one that is
            too large to be counted in a moment the total alone; null for callers of one project.
        standing_defects: commands that have failed in five sessions or more, over two days or in
            ten: one sentence for each, the longest streak of a project first.
        effect: whether it is measured what advice does, in how many projects, else how to begin.
        is_learning: whether an outcome published now would be learnt.
        verdict: what all this comes to, in one sentence.
    """

    version: str
    home: str | None
    redis: str | None
    database: str | None
    waiting: int
    oldest_waiting_s: float | None
    pending: int
    dead_letters: int
    dead_letters_dropped: int
    lost: int
    memory_full: bool | None
    workers: int
    spooled: int
    outcomes: int
    successes: int
    without_verdict: int
    patterns: int
    anti_patterns: int
    signatures: int
    competences: int
    memories: int
    waiting_episodes: int
    rebuild_due: dict[str, list[str]]
    last_learnt: Instant | None
    last_consolidation: Instant | None
    cache_age_s: float | None
    bytes: dict[str, int] | None
    standing_defects: tuple[str, ...]
    effect: str
    is_learning: bool
    verdict: str


def read_status(
    client: redis.Redis,
    connection: Connection,
    settings: DaemonSettings,
    *,
    project: str | None = None,
    spooled: int = 0,
    dead_letters: int | None = None,
    counts_bytes: bool = True,
) -> StatusAnswer:
    """Return the status.

    Args:
        client: a Redis client.
        connection: a reading transaction.
        settings: of this process.
        project: whose counts; None for those of all projects together.
        spooled: the number of outcomes in this home's spool.
        dead_letters: the number of dead letters to tell of; that of all when not given.
        counts_bytes: whether the bytes of the database are counted, which may take 0.2 s.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    flow = read_flow(client, settings.keys)
    if dead_letters is not None:
        flow = replace(flow, dead_letters=dead_letters)
    learnt = _learnt(connection, settings, project)
    return StatusAnswer.taken(
        flow,
        version=__version__,
        home=str(settings.home),
        redis=without_password(settings.effective_redis_url),
        database=without_password(settings.effective_database_url),
        spooled=spooled,
        **learnt,
        cache_age_s=_cache_age(client, settings, project or settings.project),
        bytes=read_bytes(connection) if counts_bytes else None,
        standing_defects=_standing_defects(client, connection, settings, project),
        effect=_effect(connection, settings, project),
        is_learning=flow.workers > 0,
        verdict=_verdict(flow, rebuild_due=learnt["rebuild_due"], spooled=spooled),
    )


def _learnt(
    connection: Connection, settings: DaemonSettings, project: str | None
) -> dict[str, Any]:
    """Return the store's part: the records of one project, or of all."""
    project_id = None if project is None else project_row(connection, project)
    status = read_store_status(connection, project_id)
    patterns, anti_patterns = _patterns(connection, settings, project)
    due = rebuilds_due(
        connection,
        settings.rules.recorded,
        settings.rules.half_lives,
        project_id=project_id,
    )
    found = (
        vars(status)
        | vars(status.counts)
        | {
            "patterns": patterns,
            "anti_patterns": anti_patterns,
            "competences": count_competences(connection, project_id),
            "memories": count_memories(connection, project_id),
            "rebuild_due": {name: list(reasons) for name, reasons in due.items()},
        }
    )
    del found["counts"]
    return found


def _patterns(
    connection: Connection, settings: DaemonSettings, project: str | None
) -> tuple[int, int]:
    """Return how many patterns of one project, or of all, are no anti-patterns, and are some."""
    project_id = None if project is None else project_row(connection, project)
    total, failing = count_by_counts(connection, project_id, settings.rules.antipatterns)
    if not failing:
        return total, 0
    # Only where the counts speak against a pattern is it compared with other runs.
    from trackrecord.resources.experience.pattern_standings import count_patterns

    inverted = sum(count_patterns(connection, settings, name)[1] for name in failing)
    return total - inverted, inverted


def _effect(connection: Connection, settings: DaemonSettings, project: str | None) -> str:
    """Return in words whether what advice does is measured in one project, or in how many."""
    decided = held_out_projects(connection)
    if project is not None:
        share = decided.get(project_row(connection, project), settings.holdout)
        if share:
            return f"measured: {100 * share:g}% of the tasks get no advice"
        is_off = project_row(connection, project) in decided
    else:
        names = project_names(connection)
        undecided = len(names) - len(decided) if settings.holdout else 0
        measured = sum(share > 0.0 for share in decided.values()) + undecided
        if measured:
            return f"measured in {measured} of {counted(len(names), 'project')}"
        is_off = False
    if effect_consent(settings.home) and not is_off:
        return f"measured from a project's {ENOUGH_TASKS}th task with a task_id on"
    return "not measured (`trackrecord effect --enable`)"


def _standing_defects(
    client: redis.Redis,
    connection: Connection,
    settings: DaemonSettings,
    project: str | None,
) -> tuple[str, ...]:
    """Return in words what has failed for long in one project, or in all, each with its name."""
    names = project_names(connection) if project is None else [project]
    found = (
        each.text if project is not None else f"{name}: {each.text}"
        for name in names
        for each in standing_defects(client, settings, name)
    )
    return tuple(islice(found, _MOST_DEFECTS))


def _cache_age(client: redis.Redis, settings: DaemonSettings, project: str) -> float | None:
    age = cached_ages(client, settings, [project], now=time.time()).get(project)
    return None if age is None else round(max(0.0, age.age_s), 3)


def _verdict(flow: Flow, *, rebuild_due: dict[str, list[str]], spooled: int) -> str:
    """Return one sentence: whether outcomes are learnt, and what else wants attention."""
    workers, oldest_s, dropped = flow.workers, flow.oldest_waiting_s, flow.dead_letters_dropped
    behind = flow.waiting + flow.pending
    if flow.memory_full:
        return _full(workers, behind, spooled)
    if not workers:
        left = f"; {counted(behind, 'outcome')} will wait until then" if behind else ""
        return (
            f"Nothing can be learnt: no worker is running. Start one with `trackrecord up`{left}."
        )
    wants = []
    if oldest_s is not None and oldest_s > _SLOW_FROM_S:
        wants.append(
            f"the oldest of {counted(behind, 'waiting outcome')} is {oldest_s:.0f} s old "
            "(the log of `trackrecord up` says why)"
        )
    if flow.dead_letters:
        older = f", {dropped} older ones dropped" if dropped else ""
        letters = counted(flow.dead_letters, "dead letter")
        wants.append(f"{letters}{older} (`trackrecord dead list`)")
    if flow.lost:
        wants.append(f"{counted(flow.lost, 'outcome')} that somebody took out of the stream")
    if spooled:
        wants.append(f"{counted(spooled, 'outcome')} in the spool (the next agent forwards them)")
    if rebuild_due:
        wants.append(f"{counted(len(rebuild_due), 'project')} to rebuild (`trackrecord rebuild`)")
    learning = f"Outcomes are being learnt by {counted(workers, 'worker')}"
    return f"{learning}; look into {', '.join(wants)}." if wants else f"{learning}; all is well."


def _full(workers: int, behind: int, spooled: int) -> str:
    """Return how things are while Redis takes nothing more; workers make room."""
    learning = (
        f"{counted(workers, 'worker')} {'is' if workers == 1 else 'are'} making room"
        if workers
        else "no worker asks for outcomes: start one with `trackrecord up`"
    )
    return (
        f"Redis's memory is full, and agents spool ({counted(spooled, 'outcome')} so far); "
        f"{learning}, with {counted(behind, 'outcome')} to be learnt. If it stays full, raise "
        "Redis's maxmemory."
    )
