"""Folding: add up the episodes of each signature from recorded outcomes."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from trackrecord.errors import InvalidOutcome
from trackrecord.learning.competences.episodes.arguments import argument_types
from trackrecord.learning.competences.episodes.episodes import NoProcedure, procedure_of
from trackrecord.learning.competences.episodes.signatures import signature_of
from trackrecord.learning.competences.episodes.tally import Argument, Episode, EpisodeTally, Order
from trackrecord.learning.competences.episodes.triggers import canonical_conditions
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.store.competences.episodes import EpisodeRow, ReadEpisode
from trackrecord.wire.outcome import Outcome, ToolCall, decode_stored

UNREADABLE = "unreadable outcome"


@dataclass
class Folded:
    """The sums over a chunk of episodes.

    Attributes:
        tallies: the sums, by signature.
        read: the rows of the episodes that were read.
        skipped: the number of episodes without a procedure, by reason.
    """

    tallies: defaultdict[str, EpisodeTally] = field(
        default_factory=lambda: defaultdict(EpisodeTally)
    )
    read: list[ReadEpisode] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def fold(rules: CompetenceRules, rows: Iterable[EpisodeRow], *, takes_back: bool = False) -> Folded:
    """Add up episodes, in any order.

    Args:
        rules: what a procedure is.
        rows: the episodes.
        takes_back: whether they are to be subtracted: the sums are negative.
    """
    folded = Folded()
    for row in rows:
        episode, signature = _episode(rules, row), None
        if isinstance(episode, Episode):
            signature = signature_of(episode.order)
            tally = folded.tallies[signature]
            (tally.take_back if takes_back else tally.add)(episode)
        else:
            folded.skipped[episode] += 1
        folded.read.append(ReadEpisode(row.outcome, signature, row.success))
    return folded


def _episode(rules: CompetenceRules, row: EpisodeRow) -> Episode | str:
    """Return the episode, or why the outcome is not one."""
    try:
        outcome = decode_stored(row.body)
    except InvalidOutcome:
        return UNREADABLE
    calls = outcome.explaining_calls
    order = procedure_of(rules, calls)
    if isinstance(order, NoProcedure):
        return order.value
    return _episode_of(row, outcome, order, calls)


def _episode_of(
    row: EpisodeRow, outcome: Outcome, order: Order, calls: Sequence[ToolCall]
) -> Episode:
    trigger = outcome.trigger
    signal = trigger.signal.strip() if trigger else ""
    return Episode(
        order=order,
        success=row.success,
        ended_at=row.ended_at,
        duration_ms=outcome.duration_ms,
        arguments=_arguments(calls) if row.success else (),
        signal=signal or None,
        conditions=canonical_conditions(trigger.conditions) if trigger and signal else None,
        failure_mode=None if row.success else (outcome.failure_mode or "").strip() or None,
        speaker=outcome.speaker,
    )


def _arguments(calls: Sequence[ToolCall]) -> tuple[Argument, ...]:
    return tuple(
        [
            (tool, name, json_type)
            for call in calls
            if call.tool and (tool := call.tool.strip())
            for name, json_type in argument_types(call.args)
        ]
    )
