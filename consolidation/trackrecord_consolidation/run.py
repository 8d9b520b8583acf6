"""The nightly job: turn episodes since the last run into competence records."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress

import structlog
from sqlalchemy import Connection, Engine

from trackrecord.errors import AlreadyRunning, ServerUnavailable
from trackrecord.learning.competences.episodes.tally import EpisodeTally
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.store.competences.consolidation.runs import note_run, open_run
from trackrecord.store.competences.episodes import (
    last_waiting,
    mark_read,
    mark_retracted,
    waiting,
    waiting_to_retract,
)
from trackrecord.store.competences.signatures import (
    StoredSignature,
    add_tallies,
    changed_signatures,
    stored_signatures,
    take_back_tallies,
)
from trackrecord.store.database.engine import dialect_of, reading, writing
from trackrecord.store.database.leases import repeatable_read
from trackrecord.store.outcomes.projects import project_id_of, project_names

from .folding import fold
from .report import Progress, RunReport
from .run_lease import RunLease
from .update_records import RecordUpdater

# The number of signatures that are decided on at once.
_AT_ONCE = 500
# A signature that is not stored yet has no row.
_NO_ROW = 0


def rehearse(
    engine: Engine, follower: RecordUpdater, progress: Progress, *, episodes_at_once: int
) -> None:
    """Count the changes that a run would make now; nothing is written and no lock is held."""
    with reading(engine) as connection:
        repeatable_read(connection)
        tallies = _fold_all(connection, follower, progress, episodes_at_once)
        for signatures in _touched(connection, follower.project_id, tallies):
            follower.decide(connection, signatures, progress)


def _fold_all(
    connection: Connection, follower: RecordUpdater, progress: Progress, episodes_at_once: int
) -> dict[str, EpisodeTally]:
    tallies: dict[str, EpisodeTally] = {}
    last = last_waiting(connection, follower.project_id)
    done = 0
    while last is not None and done < last:
        rows = waiting(
            connection, follower.project_id, after=done, upto=last, limit=episodes_at_once
        )
        folded = fold(follower.rules, rows)
        progress.add_folded(folded)
        for name, tally in folded.tallies.items():
            tallies.setdefault(name, EpisodeTally()).merge(tally)
        done = folded.read[-1].outcome if folded.read else last
    _unfold_all(connection, follower, tallies, episodes_at_once)
    return tallies


def _unfold_all(
    connection: Connection,
    follower: RecordUpdater,
    tallies: dict[str, EpisodeTally],
    episodes_at_once: int,
) -> None:
    done = 0
    while True:
        rows = waiting_to_retract(
            connection, follower.project_id, after=done, limit=episodes_at_once
        )
        taken = fold(follower.rules, rows, takes_back=True)
        if not taken.read:
            return
        for name, tally in taken.tallies.items():
            tallies.setdefault(name, EpisodeTally()).merge(tally)
        done = taken.read[-1].outcome


def _touched(
    connection: Connection, project_id: int, tallies: dict[str, EpisodeTally]
) -> Iterator[list[StoredSignature]]:
    """Yield signatures as a run would leave them: those with new episodes, and those left over."""
    names = sorted(tallies)
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        stored = {each.name: each for each in stored_signatures(connection, project_id, some)}
        yield [_with(stored.get(name), name, tallies[name]) for name in some]
    after = 0
    while changed := changed_signatures(connection, project_id, limit=_AT_ONCE, after=after):
        after = changed[-1].id
        yield [each for each in changed if each.name not in tallies]


def _with(stored: StoredSignature | None, name: str, tally: EpisodeTally) -> StoredSignature:
    if stored is None:
        return StoredSignature(_NO_ROW, name, tally)
    stored.tally.merge(tally)
    return stored


log = structlog.get_logger()

# Episodes, and signatures, per transaction.
# Others wait for each of them: an agent's outcome, a person's decision.
EPISODES = 10_000
SIGNATURES = 500
# Many times the duration of one transaction.
TURN_S = 60.0
# How long a transaction waits for its turn beside workers that are busy.
_PATIENCE_S = 600.0
# Between two transactions: who waits for SQLite looks now and then whether it is free.
_PAUSE_S = 0.02


def consolidate(
    engine: Engine,
    rules: CompetenceRules,
    project: str,
    *,
    now: float,
    actor: str,
    dry_run: bool = False,
    episodes_at_once: int = EPISODES,
    turn_s: float = TURN_S,
    report_read: Callable[[int], None] = lambda _episodes: None,
) -> RunReport:
    """Read a project's new episodes, and bring its records up to date.

    The work is cut into transactions. Each leaves nothing half done: a run that dies anywhere is
    finished by the next one.

    Args:
        engine: the engine of the store.
        rules: the rules of competence records.
        project: the project's name; an unknown project has nothing new.
        now: the time of the run, seconds since the epoch.
        actor: the person or program that started it, for the history.
        dry_run: report the changes without writing anything.
        episodes_at_once: how many episodes are read in one transaction.
        turn_s: after how long without a sign of life a run counts as dead.
        report_read: told now and then how many episodes were read so far.

    Raises:
        AlreadyRunning: another run is at work on the project.
        ServerUnavailable: the database cannot be reached; the next run does the rest.
    """
    started = time.perf_counter()
    progress = Progress()
    with reading(engine) as connection:
        project_id = project_id_of(connection, project)
    if project_id is not None:
        follower = RecordUpdater(
            rules=rules, project=project, project_id=project_id, actor=actor, now=now
        )
        if dry_run:
            rehearse(engine, follower, progress, episodes_at_once=episodes_at_once)
        else:
            run = _Run(engine, follower, RunLease(project, turn_s), progress, episodes_at_once)
            run.work(started, report_read)
            dialect_of(engine).shorten_log(engine)
    report = progress.report(
        project=project,
        actor=actor,
        dry_run=dry_run,
        started_at=now,
        duration_s=time.perf_counter() - started,
    )
    _log(report)
    return report


def consolidate_all(
    engine: Engine,
    rules: CompetenceRules,
    *,
    now: float,
    actor: str,
    report_read: Callable[[int], None] = lambda _episodes: None,
) -> list[RunReport]:
    """Consolidate every project in turn, except those that another run is consolidating.

    The arguments are those of `consolidate`.

    Raises:
        ServerUnavailable: the database cannot be reached; the next run does the rest.
    """
    with reading(engine) as connection:
        names = project_names(connection)
    reports = []
    for name in names:
        try:
            report = consolidate(engine, rules, name, now=now, actor=actor, report_read=report_read)
            reports.append(report)
        except AlreadyRunning as error:
            log.info("consolidation skipped", project=name, reason=str(error))
    return reports


class _Run:
    """A run in progress."""

    def __init__(
        self,
        engine: Engine,
        follower: RecordUpdater,
        turn: RunLease,
        progress: Progress,
        episodes_at_once: int,
    ) -> None:
        self._engine = engine
        self._follower = follower
        self._project_id = follower.project_id
        self._turn = turn
        self._progress = progress
        self._episodes_at_once = episodes_at_once

    def work(self, started: float, report_read: Callable[[int], None]) -> None:
        """Do all the work of the run.

        Args:
            started: when the run started, by the performance counter.
            report_read: told how many episodes were read so far.
        """
        with self._writing() as connection:
            self._turn.take(connection)
            run_id = open_run(
                connection, self._project_id, actor=self._follower.actor, now=self._follower.now
            )
            if self._has_nothing(connection):
                self._finish(connection, run_id, started)
                return
        try:
            self._fold_waiting(run_id, report_read)
            while self._retract_some():
                pass
            while self._follow_some(run_id):
                pass
            with self._writing() as connection:
                self._turn.keep(connection)
                self._finish(connection, run_id, started)
        except BaseException:
            # If this fails, the turn still ends by itself.
            with suppress(ServerUnavailable), writing(self._engine) as connection:
                self._turn.give_back(connection)
            raise

    def _has_nothing(self, connection: Connection) -> bool:
        return not (
            last_waiting(connection, self._project_id)
            or list(waiting_to_retract(connection, self._project_id, after=0, limit=1))
            or changed_signatures(connection, self._project_id, limit=1)
        )

    def _fold_waiting(self, run_id: int, report_read: Callable[[int], None]) -> None:
        with reading(self._engine) as connection:
            last = last_waiting(connection, self._project_id)
        done = 0
        # Episodes that arrive during the run are left to the next one, else a run may never end.
        while last is not None and done < last:
            with self._writing() as connection:
                self._turn.keep(connection)
                done = self._fold_some(connection, after=done, upto=last)
                self._note(connection, run_id)
            report_read(self._progress.episodes_read)
            time.sleep(_PAUSE_S)

    def _writing(self) -> AbstractContextManager[Connection]:
        return writing(self._engine, patience_s=_PATIENCE_S)

    def _fold_some(self, connection: Connection, *, after: int, upto: int) -> int:
        """Fold some episodes; return the row up to which no episode is left for this run."""
        rules = self._follower.rules
        rows = waiting(
            connection, self._project_id, after=after, upto=upto, limit=self._episodes_at_once
        )
        folded = fold(rules, rows)
        if not folded.read:
            return upto
        ids = add_tallies(connection, self._project_id, folded.tallies)
        mark_read(connection, self._project_id, folded.read, ids, self._follower.now)
        self._progress.add_folded(folded)
        return folded.read[-1].outcome

    def _retract_some(self) -> bool:
        """Take back some episodes of replaced records; return whether any were."""
        with self._writing() as connection:
            self._turn.keep(connection)
            rows = waiting_to_retract(
                connection, self._project_id, after=0, limit=self._episodes_at_once
            )
            taken = fold(self._follower.rules, rows, takes_back=True)
            if not taken.read:
                return False
            outcomes = [each.outcome for each in taken.read]
            mark_retracted(connection, self._project_id, outcomes, self._follower.now)
            take_back_tallies(connection, self._project_id, taken.tallies)
            self._progress.signatures.update(taken.tallies)
        return True

    def _follow_some(self, run_id: int) -> bool:
        with self._writing() as connection:
            self._turn.keep(connection)
            found = self._follower.update_records(connection, self._progress, limit=SIGNATURES)
            self._note(connection, run_id)
        return found

    def _note(self, connection: Connection, run_id: int) -> None:
        progress = self._progress
        note_run(connection, run_id, skipped=progress.skipped, columns=progress.columns())

    def _finish(self, connection: Connection, run_id: int, started: float) -> None:
        duration_s = time.perf_counter() - started
        over = {"finished_at": self._follower.now + duration_s, "duration_ms": duration_s * 1000}
        note_run(connection, run_id, skipped=self._progress.skipped, columns=over)
        self._turn.give_back(connection)


def _log(report: RunReport) -> None:
    log.info(
        "consolidated",
        project=report.project,
        dry_run=report.dry_run,
        episodes=report.episodes_read,
        signatures=report.signatures_touched,
        created=report.created,
        reinforced=report.reinforced,
        updated=report.updated,
        skipped=report.skipped,
        ms=round(report.duration_ms, 1),
    )
