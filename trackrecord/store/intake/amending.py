"""Amending: entries about an outcome that is on record already are joined with it.

The record that was there stays for the past, and another one takes its place.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, nextafter
from typing import Final

from trackrecord.factories import scorer_of
from trackrecord.wire.join import OutcomeEntry, join
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import OutcomeScorer, ScoredOutcome

from ..outcomes.entries import entries_of, write_entries
from ..outcomes.record import record
from ..patterns.transitions import Transition
from .current import Current, Key, bodies_of, current_of, hold_current, note_replaced
from .taking_in import TakingIn

# Far more sources than tell of one outcome, and far fewer than would fill the store.
MOST_ENTRIES: Final = 100
# The joined record may be longer than any entry.
_ANY_SIZE: Final = 2**31


@dataclass(frozen=True)
class Amended:
    """What became of entries about outcomes on record.

    Attributes:
        amended: entries that changed a record.
        projects: the projects of these.
        transitions: changes of state among the patterns that were touched.
        refused: entries that an outcome has no room for.
    """

    amended: int = 0
    projects: frozenset[str] = frozenset()
    transitions: tuple[Transition, ...] = ()
    refused: tuple[ScoredOutcome, ...] = ()


NOTHING_AMENDED: Final = Amended()


@dataclass(frozen=True)
class _Step:
    """A record that takes the place of the one before it."""

    body: bytes
    moment: float


def amend(taking_in: TakingIn, given: Sequence[ScoredOutcome]) -> Amended:
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
    for key in sorted(told):
        before = current[key].outcome
        entries = known.get(key) or [OutcomeEntry(before.body, before.received_at)]
        steps[key], after, too_many = _steps(before.received_at, entries, told[key])
        refused += too_many
        if set(after) != set(entries):
            kept[key] = after
    write_entries(connection, kept)
    transitions = _take(taking_in, scorer, current, steps)
    return Amended(
        sum(map(len, steps.values())),
        frozenset(current[key].outcome.project for key in steps if steps[key]),
        transitions,
        tuple(refused),
    )


def _that_tell(
    taking_in: TakingIn, given: Iterable[ScoredOutcome]
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
    moment: float, entries: Sequence[OutcomeEntry], told: Sequence[ScoredOutcome]
) -> tuple[list[_Step], Sequence[OutcomeEntry], list[ScoredOutcome]]:
    """Return the records that entries lead to, one after the other.

    Args:
        moment: when the record that counts was received.
        entries: what that one is joined from.
        told: further entries, in the order in which they were received.

    Returns:
        The records, what the last one is joined from, and what there was no room for.
    """
    steps: list[_Step] = []
    refused: list[ScoredOutcome] = []
    body = join(entries).body
    for each in told:
        joined = join([*entries, OutcomeEntry(each.body, each.received_at)])
        if len(joined.entries) > MOST_ENTRIES:
            refused.append(each)
            continue
        entries = joined.entries
        if joined.body != body:
            body = joined.body
            # Later than the one before it, so that one of the two counts at any moment.
            moment = max(each.received_at, nextafter(moment, inf))
            steps.append(_Step(body, moment))
    return steps, entries, refused


def _take(
    taking_in: TakingIn,
    scorer: OutcomeScorer,
    current: dict[Key, Current],
    steps: dict[Key, list[_Step]],
) -> tuple[Transition, ...]:
    """Let the first of the steps of each outcome take effect, then the second, and so on."""
    transitions: tuple[Transition, ...] = ()
    for turn in range(max(map(len, steps.values()), default=0)):
        due = {key: own[turn] for key, own in steps.items() if turn < len(own)}
        before = [current[key].replaced(due[key].moment) for key in due]
        note_replaced(taking_in.connection, {each.row: each.replaced_at for each in before})
        scored = [_scored(scorer, key[1], step) for key, step in due.items()]
        rows = record(taking_in.connection, taking_in.project_ids, scored)
        row_of = {(each.project, each.outcome_id): row for row, each in rows}
        recorded = [(row_of[each.project, each.outcome_id], each) for each in scored]
        transitions += taking_in.replace(recorded, before)
        for (key, _), (row, outcome) in zip(due.items(), recorded, strict=True):
            current[key] = current_of(row, key[0], outcome)
    return transitions


def _scored(scorer: OutcomeScorer, outcome_id: str, step: _Step) -> ScoredOutcome:
    return scorer.score(
        decode_outcome(step.body, max_bytes=_ANY_SIZE),
        step.body,
        received_at=step.moment,
        outcome_id=outcome_id,
    )
