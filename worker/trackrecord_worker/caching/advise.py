"""Keep the cached advice up to date with the runs on record.

Advice is counted from up to ten thousand runs at a time, so it is not counted after each batch:
a project's advice is due again when its last count is twenty times as long ago as it took. Of those
that are due, the one for which that is most overdue comes first: quiet projects, which cost little,
do not wait for a round of the large ones. While many outcomes wait in the stream they are learnt
first, for a minute at most.
"""

import time
from contextlib import suppress
from dataclasses import replace
from math import inf
from typing import Final

import redis
import structlog
from sqlalchemy import Connection, Engine

from trackrecord.errors import StoreBusy
from trackrecord.learning.text.times import believed_age
from trackrecord.prompt.reading.cache import CachedAdvice, cached_advice, write_advice
from trackrecord.prompt.reading.noted_news import note_defects, note_lessons
from trackrecord.resources.experience.estimates import counted_estimates
from trackrecord.resources.experience.pattern_standings import counted_order, order_of, order_rules
from trackrecord.resources.experience.sourced_lessons import counted_lessons, with_sources
from trackrecord.resources.prompt_documents.advice import (
    CountedRuns,
    count_advice,
    with_moments,
)
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.effect_consent import effect_consent
from trackrecord.store.advice.effect import USUAL_HOLDOUT, begin_holdout, is_holdout_due
from trackrecord.store.advice.worker_counts import count_stamp, write_counts
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord_capture.sources.register import own_tool_names

from .seen_documents import ProjectRevisions, SeenDocuments

# Fewer runs are counted in some fifty milliseconds: readers do that themselves, exactly.
_LARGE: Final = 1_000


def packed_counts(
    connection: Connection, settings: DaemonSettings, project_id: int, counted: CountedRuns
) -> dict[str, tuple[str, bytes]]:
    """Return the parts that readers need not count, by name; none of a small project.

    Args:
        connection: the transaction that the runs were read in.
        settings: the rules.
        project_id: whose runs.
        counted: what was counted.
    """
    if len(counted.runs) <= _LARGE:
        return {}
    # Only advice needs to know the kind of each run.
    estimates = replace(counted.estimates, kind_of_runs={})
    lessons = with_sources(counted.lessons, counted.runs)
    order = order_of(connection, settings, project_id, estimates)
    return {
        counted_estimates.part: counted_estimates.packed(estimates, settings.decay.half_life_days),
        counted_lessons.part: counted_lessons.packed(lessons, settings.lessons),
        counted_order.part: counted_order.packed(order, order_rules(settings)),
    }


# At most this share of a worker's time goes into one project's advice.
_SHARE = 0.05
# One task counts for so long, and leaves the other projects to the next one.
_SLICE_S = 1.0
_LONGEST_DELAY_S = 60.0
# Below this the costs of two projects are alike.
_LEAST_COST_S = 0.005

_log = structlog.get_logger(__name__)


class Adviser:
    """Count advice from the store and write it to the cache.

    Args:
        engine: the store.
        client: a patient Redis client.
        settings: times and rules.
    """

    def __init__(self, engine: Engine, client: redis.Redis, settings: DaemonSettings) -> None:
        self._engine = engine
        self._client = client
        self._settings = settings
        self._revisions = ProjectRevisions(engine)
        self._seen = SeenDocuments(settings.rankings_max_age_s, settings.rankings_ttl_s)
        self._delayed_since: float | None = None

    def advise_due(self) -> int:
        """Renew the advice of projects for which it is due; return how many there were.

        The projects whose advice is missing or most overdue come first.
        """
        revisions = self._revisions.read()
        names = self._seen.to_look_at(revisions)
        cached = cached_advice(self._client, self._settings, names, now=time.time())
        due = []
        for project in names:
            known = cached.get(project)
            is_old = known is not None and self._seen.is_old(
                revisions[project], known.revision, _age(known)
            )
            if is_old or _is_behind(known, revisions[project]):
                due.append((project, is_old))
            elif known is not None and known.revision >= revisions[project]:
                self._seen.note(project, revisions[project], _age(known))
        if not due or self._learning_comes_first():
            return 0
        started = time.monotonic()
        due.sort(key=lambda each: -_overdue(cached.get(each[0])))
        for advised, (project, is_old) in enumerate(due):
            if time.monotonic() - started > _SLICE_S:
                return advised
            self._seen.forget(project)
            self.advise(project, force=is_old)
        return len(due)

    def look_again(self, project: str) -> None:
        """Look at a project's advice the next time: its cache was lost or is another one."""
        self._seen.forget(project)

    def _learning_comes_first(self) -> bool:
        """Return whether more outcomes wait than one batch takes, and have not for too long."""
        shards = self._settings.keys.shards
        waiting = sum(int(self._client.xlen(shard.outcomes)) for shard in shards)
        if waiting <= self._settings.batch_size:
            self._delayed_since = None
            return False
        now = time.monotonic()
        if self._delayed_since is None:
            self._delayed_since = now
        if now - self._delayed_since < _LONGEST_DELAY_S:
            return True
        self._delayed_since = now
        return False

    def advise(self, project: str, *, force: bool = False) -> None:
        """Count one project's advice and write it to the cache.

        Where the user agreed to it, a project with enough tasks begins to measure what advice does.

        Args:
            project: its name.
            force: write it even over that of a later revision.
        """
        started = time.perf_counter()
        with reading(self._engine) as connection:
            now = time.time()
            project_id = project_id_of(connection, project)
            runs = None if project_id is None else count_stamp(connection, project_id, now=now)
            document, counted = count_advice(
                connection, project, self._settings.rules, now=now, tool_names=own_tool_names()
            )
            document, moments = with_moments(connection, project, document)
            # The user agreed, and no setting fixes its share.
            may_hold_out = not self._settings.holdout and effect_consent(self._settings.home)
            is_due = (
                may_hold_out and project_id is not None and is_holdout_due(connection, project_id)
            )
            parts: dict[str, tuple[str, bytes]] = {}
            if project_id is not None and counted is not None:
                parts = packed_counts(connection, self._settings, project_id, counted)
        if is_due and project_id is not None:
            self._begin_holdout(project, project_id)
        cost_s = time.perf_counter() - started
        written = write_advice(
            self._client,
            self._settings,
            document,
            cost_s=cost_s,
            force=force,
            moments=moments,
        )
        if written:
            note_lessons(
                self._client, self._settings, project, document.lessons, now=document.computed_at
            )
            note_defects(
                self._client, self._settings, project, moments.defects, now=document.computed_at
            )
        if parts and runs is not None:
            # Readers can count for themselves while the store is too busy.
            with suppress(StoreBusy), writing(self._engine) as connection:
                write_counts(connection, project, runs, parts)
        _log.debug(
            "advice_renewed",
            project=project,
            revision=document.revision,
            written=written,
            milliseconds=round(cost_s * 1000, 1),
        )

    def _begin_holdout(self, project: str, project_id: int) -> None:
        with writing(self._engine) as connection:
            begin_holdout(connection, project_id, now=time.time())
        _log.info("holdout_begun", project=project, share=USUAL_HOLDOUT)


def _age(known: CachedAdvice | None) -> float:
    return inf if known is None else believed_age(known.age_s)


def _overdue(known: CachedAdvice | None) -> float:
    """Return how many times as long ago the last count is as it took."""
    return inf if known is None else _age(known) / max(known.cost_s, _LEAST_COST_S)


def _is_behind(known: CachedAdvice | None, revision: int) -> bool:
    """Return whether there are new runs, and the last count is long enough ago."""
    if known is None:
        return True
    return known.revision < revision and _age(known) > known.cost_s / _SHARE
