"""Amending: entries about an outcome that is on record already are joined with it.

The record that was there stays for the past, and another one takes its place.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nextafter
from typing import Any, Final

from msgspec import structs
from sqlalchemy import Connection, Row, and_, select, update

from trackrecord.errors import StoreBusy
from trackrecord.learning.numbers.speaker_names import PERSON
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.join import (
    Joined,
    OutcomeEntry,
    apart_id,
    join,
    run_speaker,
    speaker_of,
    with_id,
)
from trackrecord.wire.outcome_scorer import OutcomeScorer, ScoredOutcome, scorer_of
from trackrecord.wire.thinned import is_thinned, thinned

from ..database.leases import for_update
from ..database.parts import in_parts_by_project
from ..outcomes.entries import Key, Replaced, entries_of, record, write_entries
from ..outcomes.tables import outcomes
from .apply_outcomes import BatchIntake

# Of one speaker, and of all that do not own the outcome. Far more than are ever used, and far fewer
# than would fill the store; the owner's room is its own, so that no one else can fill it.
MOST_ENTRIES: Final = 100
MOST_ENTRIES_OF_OTHERS: Final = 1000
# A record is replaced by one transaction at a time; who waited looks again.
_TRIES: Final = 100


@dataclass(frozen=True)
class Amended:
    """The results of entries about outcomes on record.

    Attributes:
        amended: entries that changed a record.
        projects: the projects of these.
        refused: entries that an outcome has no room for.
        apart: entries of further speakers whose runs have the same id: outcomes of their own, under
            another id; each with the entry that it came as, None for one that was on record.
    """

    amended: int = 0
    projects: frozenset[str] = frozenset()
    refused: tuple[ScoredOutcome, ...] = ()
    apart: tuple[tuple[ScoredOutcome, ScoredOutcome | None], ...] = ()


NOTHING_AMENDED: Final = Amended()


@dataclass(frozen=True)
class _Step:
    """A record that takes the place of the one before it."""

    body: bytes
    moment: float


def amend(taking_in: BatchIntake, given: Sequence[ScoredOutcome]) -> Amended:
    """Join entries with the records of their outcomes.

    Args:
        taking_in: the batch, whose new outcomes have been taken in.
        given: entries about outcomes that are on record; those that are the same as the record,
            byte for byte, change nothing.
    """
    told = _that_tell(taking_in, given)
    if not told:
        return NOTHING_AMENDED
    connection, scorer = taking_in.connection, scorer_of(taking_in.rules)
    current = hold_current(connection, told.keys(), scorer)
    known = entries_of(connection, told.keys())
    steps: dict[Key, list[_Step]] = {}
    kept: dict[Key, Sequence[OutcomeEntry]] = {}
    refused: list[ScoredOutcome] = []
    apart: list[tuple[ScoredOutcome, ScoredOutcome | None]] = []
    own_ids = _own_ids(connection, told)
    for key in sorted(told):
        before = current[key].outcome
        if is_thinned(before.body):
            told[key] = [_without_texts(scorer, each) for each in told[key]]
        entries = known.get(key) or [OutcomeEntry(before.body, before.received_at)]
        sorted_out = _Sorting(scorer, key[1], entries, own_ids[key])
        sorted_out.sort(told[key])
        apart += sorted_out.apart
        steps[key], after, too_many = _steps(
            before.received_at, join(entries).body, sorted_out.entries, sorted_out.stay
        )
        refused += too_many
        if set(after) != set(entries):
            kept[key] = after
    write_entries(connection, kept)
    _take(taking_in, scorer, current, steps)
    return Amended(
        sum(map(len, steps.values())),
        frozenset(current[key].outcome.project for key in steps if steps[key]),
        tuple(refused),
        tuple(apart),
    )


def _without_texts(scorer: OutcomeScorer, each: ScoredOutcome) -> ScoredOutcome:
    """Return an entry about an outcome whose texts are gone, without texts of its own."""
    body = thinned(each.body, scorer)
    return scorer.score_stored(body, received_at=each.received_at, outcome_id=each.outcome_id)


def _own_ids(
    connection: Connection, told: Mapping[Key, Sequence[ScoredOutcome]]
) -> dict[Key, frozenset[str]]:
    """Return, for each outcome, the speakers whose runs of the same id are outcomes apart."""
    ids = {
        (key[0], apart_id(key[1], each.speaker)): (key, each.speaker)
        for key, some in told.items()
        for each in some
    }
    found: dict[Key, set[str]] = {key: set() for key in told}
    for taken in bodies_of(connection, ids):
        key, speaker = ids[taken]
        found[key].add(speaker)
    return {key: frozenset(speakers) for key, speakers in found.items()}


class _Sorting:
    """Entries of one id, sorted into those about its outcome and those about others.

    An id belongs to whoever told of a run under it first. What another speaker tells of a run is an
    outcome of its own, with all that this speaker says of it.

    Args:
        scorer: scores entries under another id.
        outcome_id: the id.
        entries: what the record of its outcome is joined from.
        own_ids: the speakers that are known to have an outcome of their own.
    """

    def __init__(
        self,
        scorer: OutcomeScorer,
        outcome_id: str,
        entries: Sequence[OutcomeEntry],
        own_ids: frozenset[str],
    ) -> None:
        self.entries = entries
        self.stay: list[ScoredOutcome] = []
        self.apart: list[tuple[ScoredOutcome, ScoredOutcome | None]] = []
        self._scorer = scorer
        self._outcome_id = outcome_id
        self._elsewhere = set(own_ids)
        self._owner = run_speaker(entries)

    def sort(self, told: Iterable[ScoredOutcome]) -> None:
        """Sort further entries, in the order in which they were received."""
        for each in told:
            tells = run_speaker([OutcomeEntry(each.body, each.received_at)]) is not None
            if self._owner is None and tells:
                self._owner = each.speaker
            if each.speaker in (self._owner, PERSON) or not (
                tells or each.speaker in self._elsewhere
            ):
                self.stay.append(each)
                continue
            self._elsewhere.add(each.speaker)
            self.apart.append((self._under_own_id(each.body, each.received_at), each))
        for entry in self.entries:
            speaker = speaker_of(entry.body)
            if speaker in self._elsewhere and speaker != self._owner:
                self.apart.append((self._under_own_id(entry.body, entry.received_at), None))
        self.entries = [
            entry
            for entry in self.entries
            if (speaker := speaker_of(entry.body)) == self._owner or speaker not in self._elsewhere
        ]
        late = [each for each in self.stay if self._is_elsewhere(each)]
        self.apart += [(self._under_own_id(each.body, each.received_at), each) for each in late]
        self.stay = [each for each in self.stay if not self._is_elsewhere(each)]

    def _is_elsewhere(self, each: ScoredOutcome) -> bool:
        return each.speaker in self._elsewhere and each.speaker != self._owner

    def _under_own_id(self, body: bytes, received_at: float) -> ScoredOutcome:
        outcome_id = apart_id(self._outcome_id, speaker_of(body))
        moved = with_id(body, outcome_id)
        return self._scorer.score_stored(moved, received_at=received_at, outcome_id=outcome_id)


def _that_tell(
    taking_in: BatchIntake, given: Iterable[ScoredOutcome]
) -> dict[Key, list[ScoredOutcome]]:
    """Return the entries, by outcome, that are not just the record again, each body once."""
    by_key: defaultdict[Key, dict[bytes, ScoredOutcome]] = defaultdict(dict)
    for each in sorted(given, key=lambda each: (each.received_at, each.body)):
        key = (taking_in.project_ids[each.project], each.outcome_id)
        by_key[key].setdefault(each.body, each)
    for key, body in bodies_of(taking_in.connection, by_key).items():
        by_key[key].pop(body, None)
    return {key: list(entries.values()) for key, entries in by_key.items() if entries}


def _steps(
    moment: float, body: bytes, entries: Sequence[OutcomeEntry], told: Sequence[ScoredOutcome]
) -> tuple[list[_Step], Sequence[OutcomeEntry], list[ScoredOutcome]]:
    """Return the records that entries lead to, one after the other.

    Args:
        moment: when the record that counts was received.
        body: the record that counts, as it is joined.
        entries: what it is joined from, without what turned out to be about another outcome.
        told: further entries, in the order in which they were received.

    Returns:
        The records, what the last one is joined from, and what there was no room for.
    """
    steps: list[_Step] = []
    refused: list[ScoredOutcome] = []
    for each in told:
        joined = join([*entries, OutcomeEntry(each.body, each.received_at)])
        if not _has_room(joined, each.speaker):
            refused.append(each)
            continue
        entries = joined.entries
        if joined.body != body:
            body = joined.body
            # Later than the one before it, so that one of the two counts at any moment.
            moment = max(each.received_at, nextafter(moment, inf))
            steps.append(_Step(body, moment))
    return steps, entries, refused


def _has_room(joined: Joined, speaker: str) -> bool:
    """Return whether a speaker's entry fits within the bounds of an outcome."""
    speakers = [speaker_of(each.body) for each in joined.entries]
    if speakers.count(speaker) > MOST_ENTRIES:
        return False
    others = sum(each not in (joined.owner, PERSON) for each in speakers)
    return speaker in (joined.owner, PERSON) or others <= MOST_ENTRIES_OF_OTHERS


def _take(
    taking_in: BatchIntake,
    scorer: OutcomeScorer,
    current: dict[Key, Replaced],
    steps: dict[Key, list[_Step]],
) -> None:
    """Let the first of the steps of each outcome take effect, then the second, and so on."""
    for turn in range(max(map(len, steps.values()), default=0)):
        due = {key: own[turn] for key, own in steps.items() if turn < len(own)}
        before = [replace(current[key], replaced_at=due[key].moment) for key in due]
        note_replaced(taking_in.connection, {each.row: each.replaced_at for each in before})
        scored = [
            scorer.score_stored(step.body, received_at=step.moment, outcome_id=key[1])
            for key, step in due.items()
        ]
        rows = record(taking_in.connection, taking_in.project_ids, scored)
        row_of = {(each.project, each.outcome_id): row for row, each in rows}
        recorded = [(row_of[each.project, each.outcome_id], each) for each in scored]
        taking_in.replace(recorded, before)
        for (key, _), (row, outcome) in zip(due.items(), recorded, strict=True):
            current[key] = Replaced(row, key[0], 0.0, outcome)


def bodies_of(connection: Connection, keys: Iterable[Key]) -> dict[Key, bytes]:
    """Return the bodies of the records that count now, by project and outcome_id."""
    return {
        (row.project_id, row.outcome_id): row.body
        for some in in_parts_by_project(keys)
        for row in connection.execute(
            select(outcomes.c.project_id, outcomes.c.outcome_id, outcomes.c.body).where(_are(some))
        )
    }


def hold_current(
    connection: Connection, keys: Collection[Key], scorer: OutcomeScorer
) -> dict[Key, Replaced]:
    """Return the records that count now, held until the transaction ends, to be replaced.

    Args:
        connection: within a writing transaction.
        keys: projects and outcome_ids that are on record.
        scorer: finds again what the record itself does not say.

    Raises:
        StoreBusy: others replaced a record again and again.
    """
    found: dict[Key, Replaced] = {}
    for _ in range(_TRIES):
        missing = sorted(set(keys) - found.keys())
        if not missing:
            return found
        for some in in_parts_by_project(missing):
            query = for_update(connection, select(outcomes).where(_are(some)), outcomes)
            for row in connection.execute(query.order_by(outcomes.c.id)):
                found[row.project_id, row.outcome_id] = _current(row, scorer)
    message = "the record of an outcome is replaced by others all the time"
    raise StoreBusy(message)


def _are(some: tuple[int, list[str]]) -> Any:  # noqa: ANN401 - a condition
    project_id, ids = some
    table = outcomes.c
    return and_(table.project_id == project_id, table.outcome_id.in_(ids), table.replaced_at == 0)


def _current(row: Row[Any], scorer: OutcomeScorer) -> Replaced:
    outcome = scorer.score_stored(row.body, received_at=row.received_at, outcome_id=row.outcome_id)
    counted = structs.replace(
        outcome,
        ended_at=row.ended_at,
        success=row.success,
        raw_score=row.raw_score,
        verdict=row.verdict and Verdict(row.verdict),
    )
    return Replaced(row.id, row.project_id, 0.0, counted)


def note_replaced(connection: Connection, replaced: Mapping[int, float]) -> None:
    """Let records count no longer, each from a moment on, by their rows."""
    for row, at in sorted(replaced.items()):
        connection.execute(update(outcomes).where(outcomes.c.id == row).values(replaced_at=at))
