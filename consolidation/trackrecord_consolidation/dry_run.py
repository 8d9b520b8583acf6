"""Dry run: compute the changes of a run by the same folding and rules, only reading."""

from collections.abc import Iterator

from sqlalchemy import Connection, Engine

from trackrecord.learning.competences.episodes.tally import EpisodeTally
from trackrecord.store.competences.episodes import last_waiting, waiting
from trackrecord.store.competences.retractions import waiting_to_retract
from trackrecord.store.competences.signatures import (
    StoredSignature,
    changed_signatures,
    stored_signatures,
)
from trackrecord.store.database.engine import reading
from trackrecord.store.database.row_locks import repeatable_read

from .folding import fold, unfold
from .report import Progress
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
        taken = unfold(follower.rules, rows)
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
