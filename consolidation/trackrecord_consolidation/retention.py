"""Retention: remove what is older than the settings say, in transactions that others wait for."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import floor
from typing import Final

import structlog
from sqlalchemy import Connection, Engine

from trackrecord.errors import AlreadyRunning, RetentionFailed, ServerUnavailable
from trackrecord.learning.numbers.decay import DAY
from trackrecord.learning.rules_bundle import Rules
from trackrecord.settings.daemon_settings import RetentionSettings
from trackrecord.store.database.engine import dialect_of, reading, writing
from trackrecord.store.intake.removal import (
    AT_ONCE,
    BEFORE_ALL,
    Place,
    begin_removal,
    count_old,
    count_with_texts,
    hold_project,
    old_outcomes,
    oldest_left,
    read_episodes,
    remove_advice,
    remove_outcomes,
    thin_outcomes,
)
from trackrecord.store.outcomes.projects import project_id_of, project_names
from trackrecord.store.outcomes.tables import projects
from trackrecord.wire.outcome_scorer import scorer_of

from .folding import fold
from .run_lease import RunLease

_log = structlog.get_logger(__name__)

_TURN_S: Final = 60.0
# How long a transaction waits for its turn beside workers that are busy.
_PATIENCE_S: Final = 600.0
# Between two transactions: who waits for SQLite looks now and then whether it is free.
_PAUSE_S: Final = 0.02


@dataclass(frozen=True)
class Removed:
    """The counts of a run of retention, or of a dry run.

    Attributes:
        project: its name.
        outcomes_until: outcomes received before this moment; None where they are kept.
        outcomes: how many of them.
        bodies_until: the same moment of the outcomes that lost their texts.
        bodies: how many outcomes these are.
    """

    project: str
    outcomes_until: float | None = None
    outcomes: int = 0
    bodies_until: float | None = None
    bodies: int = 0


def horizon(days: int | None, now: float) -> float | None:
    """Return the beginning of the first day in UTC of which everything is kept; None for all."""
    return None if days is None else (floor(now / DAY) - days) * DAY


def due_since(connection: Connection, settings: RetentionSettings) -> float | None:
    """Return since when, at the longest, something has been too old; None where nothing gets old.

    It may be a moment to come. What a removal had to leave out is not asked for again.
    """
    kept = (
        (settings.outcomes_days, projects.c.outcomes_until),
        (settings.bodies_days, projects.c.bodies_until),
    )
    moments = [
        (floor(oldest / DAY) + 1 + days) * DAY
        for days, until in kept
        if days is not None and (oldest := oldest_left(connection, until)) is not None
    ]
    return min(moments, default=None)


def remove_old(
    engine: Engine,
    settings: RetentionSettings,
    rules: Rules,
    project: str,
    *,
    now: float,
    dry_run: bool = False,
    at_once: int = AT_ONCE,
    report: Callable[[int], None] = lambda _outcomes: None,
) -> Removed:
    """Remove what is too old of a project.

    Each transaction leaves nothing half done: a run that dies anywhere is finished by the next one.

    Args:
        engine: the store.
        settings: what is too old.
        rules: the rules of today.
        project: the project's name; an unknown project has nothing old.
        now: seconds since the epoch.
        dry_run: count only.
        at_once: how many outcomes go in one transaction.
        report: told now and then how many outcomes were removed so far.

    Raises:
        AlreadyRunning: the project is being consolidated.
        ServerUnavailable: the database cannot be reached; the next run does the rest.
    """
    until, texts_until = (
        horizon(days, now) for days in (settings.outcomes_days, settings.bodies_days)
    )
    with reading(engine) as connection:
        project_id = project_id_of(connection, project)
        if project_id is None:
            return Removed(project, until, 0, texts_until, 0)
        old = texts = 0
        if until is not None:
            old = count_old(connection, project_id, until)
        if texts_until is not None:
            texts = count_with_texts(connection, project_id, texts_until, until or 0.0)
    if dry_run:
        return Removed(project, until, old, texts_until, texts)
    turn = RunLease(project, _TURN_S)
    removed = bodies = 0
    with _turn(engine, turn):
        run = _Removal(engine, rules, project, project_id, turn, now)
        if until is not None:
            removed = run.remove_outcomes(until, at_once, report) if old else 0
            run.remove_advice(until)
        if texts_until is not None and texts:
            bodies = run.thin(texts_until, at_once, report)
    if removed or bodies:
        dialect_of(engine).shorten_log(engine)
        _log.info("outcomes_removed", project=project, count=removed, bodies=bodies)
    return Removed(project, until, removed, texts_until, bodies)


def remove_all_old(
    engine: Engine,
    settings: RetentionSettings,
    rules: Rules,
    *,
    now: float,
    report: Callable[[int], None] = lambda _outcomes: None,
) -> list[Removed]:
    """Remove what is too old of every project, except of those that are being consolidated.

    The arguments are those of `remove_old`.

    Raises:
        ServerUnavailable: the database cannot be reached; the next run does the rest.
        RetentionFailed: it failed in some projects, see the log; the others are done.
    """
    if settings == RetentionSettings():
        return []
    with reading(engine) as connection:
        names = project_names(connection)
    done, failed = [], []
    for name in names:
        try:
            done.append(remove_old(engine, settings, rules, name, now=now, report=report))
        except AlreadyRunning as error:
            _log.info("retention skipped", project=name, reason=str(error))
        except ServerUnavailable:
            raise
        except Exception:  # noqa: BLE001 - one project does not end the night of the others
            _log.exception("retention_failed", project=name)
            failed.append(name)
    if failed:
        message = f"retention failed in the projects {', '.join(failed)}; the others are done"
        raise RetentionFailed(message)
    return done


@contextmanager
def _turn(engine: Engine, turn: RunLease) -> Iterator[None]:
    with writing(engine, patience_s=_PATIENCE_S) as connection:
        turn.take(connection)
    try:
        yield
    finally:
        # If this fails, the turn still ends by itself.
        with (
            suppress(ServerUnavailable),
            writing(engine, patience_s=_PATIENCE_S) as connection,
        ):
            turn.give_back(connection)


@dataclass(frozen=True)
class _Removal:
    """The removal of what is old of one project."""

    engine: Engine
    rules: Rules
    project: str
    project_id: int
    turn: RunLease
    now: float

    @contextmanager
    def _writing(self, until: float | None) -> Iterator[Connection]:
        with writing(self.engine, patience_s=_PATIENCE_S) as connection:
            if until is None:
                hold_project(connection, self.project, self.project_id)
            else:
                begin_removal(connection, self.project, self.project_id, until)
            self.turn.keep(connection)
            yield connection

    def thin(self, until: float, at_once: int, report: Callable[[int], None]) -> int:
        """Take the texts out of old outcomes, some in each transaction; return of how many."""
        scorer = scorer_of(self.rules)
        done, after = 0, BEFORE_ALL
        while True:
            with self._writing(None) as connection:
                count, last = thin_outcomes(
                    connection, self.project_id, until, scorer, after=after, limit=at_once
                )
            if last is None:
                return done
            done, after = done + count, last
            if count:
                report(done)
            time.sleep(_PAUSE_S)

    def remove_outcomes(self, until: float, at_once: int, report: Callable[[int], None]) -> int:
        """Remove the outcomes, some in each transaction; return how many."""
        removed, after = 0, BEFORE_ALL
        while True:
            with self._writing(until) as connection:
                gone, last = self._remove_some(connection, until, after, at_once)
            if last is None:
                return removed
            removed, after = removed + gone, last
            report(removed)
            time.sleep(_PAUSE_S)

    def _remove_some(
        self, connection: Connection, until: float, after: Place, at_once: int
    ) -> tuple[int, Place | None]:
        found = old_outcomes(connection, self.project_id, until, after=after, limit=at_once)
        if found is None:
            return 0, None
        if found.records:
            rows = read_episodes(connection, self.project_id, found.records)
            tallies = fold(self.rules.competence, rows).tallies
            remove_outcomes(connection, self.project_id, found.records, tallies, now=self.now)
        return len({each.outcome_id for each in found.records}), found.last

    def remove_advice(self, until: float) -> None:
        """Remove what tasks and calls were told, some in each transaction."""
        while True:
            with self._writing(until) as connection:
                if not remove_advice(connection, self.project_id, until):
                    return
