"""Keep the cached advice up to date with the runs on record.

Advice is counted from up to ten thousand runs at a time, so it is not counted after each batch:
a project's advice is due again when its last count is twenty times as long ago as it took. While
many outcomes wait in the stream they are learnt first, for a minute at most.
"""

import time
from collections.abc import Sequence
from math import inf

import redis
import structlog
from sqlalchemy import Connection, Engine

from trackrecord.learning.advice.effect.entries import EntryEffect
from trackrecord.learning.advice.effect.texts import why_withdrawn
from trackrecord.learning.text.times import believed_age
from trackrecord.prompt.reading.appeared_lessons import note_lessons
from trackrecord.prompt.reading.cache import CachedAdvice, cached_advice, write_advice
from trackrecord.prompt.reading.noted_defects import note_defects
from trackrecord.resources.prompt_documents.advice import (
    build_advice,
    build_moments,
    with_arguments,
    with_standing,
)
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.effect_consent import effect_consent
from trackrecord.store.advice.effect import (
    USUAL_HOLDOUT,
    begin_holdout,
    harmful_entries,
    is_holdout_due,
    withdraw,
)
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.outcomes.projects import project_id_of, project_revisions
from trackrecord_capture.sources.tool_words import own_tool_names

# At most this share of a worker's time goes into one project's advice.
_SHARE = 0.05
# One task counts for so long, and leaves the other projects to the next one.
_SLICE_S = 0.5
_LONGEST_DELAY_S = 60.0

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
        self._delayed_since: float | None = None

    def advise_due(self) -> int:
        """Renew the advice of projects for which it is due; return how many there were.

        The projects whose advice is missing or oldest come first.
        """
        if self._learning_comes_first():
            return 0
        started = time.monotonic()
        with reading(self._engine) as connection:
            revisions = project_revisions(connection)
        cached = cached_advice(self._client, self._settings, list(revisions), now=time.time())
        advised = 0
        for project in sorted(revisions, key=lambda name: -_age(cached.get(name))):
            if time.monotonic() - started > _SLICE_S:
                break
            known = cached.get(project)
            is_old = known is not None and _age(known) > self._settings.rankings_max_age_s
            if is_old or _is_behind(known, revisions[project]):
                self.advise(project, force=is_old)
                advised += 1
        return advised

    def _learning_comes_first(self) -> bool:
        """Return whether more outcomes wait than one batch takes, and have not for too long."""
        if self._client.xlen(self._settings.keys.outcomes) <= self._settings.batch_size:
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
        """Count one project's advice, write it to the cache, and withdraw what hurts.

        Where the user agreed to it, a project with enough tasks begins to measure what advice does.

        Args:
            project: its name.
            force: write it even over that of a later revision.
        """
        started = time.perf_counter()
        with reading(self._engine) as connection:
            document = build_advice(
                connection,
                project,
                self._settings.rules,
                now=time.time(),
                tool_names=own_tool_names(),
            )
            moments = build_moments(connection, project, self._settings.rules)
            moments = with_arguments(moments, document)
            document = with_standing(document, moments)
            project_id = project_id_of(connection, project)
            harmful = [] if project_id is None else harmful_entries(connection, project_id)
            is_due = project_id is not None and self._is_holdout_due(connection, project_id)
        if harmful and project_id is not None:
            self._withdraw(project_id, harmful)
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
        _log.debug(
            "advice_renewed",
            project=project,
            revision=document.revision,
            written=written,
            milliseconds=round(cost_s * 1000, 1),
        )

    def _is_holdout_due(self, connection: Connection, project_id: int) -> bool:
        """Return whether a holdout begins: the user agreed, and no setting fixes its share."""
        if self._settings.holdout or not effect_consent(self._settings.home):
            return False
        return is_holdout_due(connection, project_id)

    def _begin_holdout(self, project: str, project_id: int) -> None:
        with writing(self._engine) as connection:
            begin_holdout(connection, project_id, now=time.time())
        _log.info("holdout_begun", project=project, share=USUAL_HOLDOUT)

    def _withdraw(self, project_id: int, harmful: Sequence[EntryEffect]) -> None:
        """Withdraw harmful entries; the next refresh of the rankings leaves them out."""
        with writing(self._engine) as connection:
            withdraw(connection, project_id, harmful, now=time.time())
        for each in harmful:
            _log.warning("entry_withdrawn", entry=each.entry, reason=why_withdrawn(each))


def _age(known: CachedAdvice | None) -> float:
    return inf if known is None else believed_age(known.age_s)


def _is_behind(known: CachedAdvice | None, revision: int) -> bool:
    """Return whether there are new runs, and the last count is long enough ago."""
    if known is None:
        return True
    return known.revision < revision and _age(known) > known.cost_s / _SHARE
