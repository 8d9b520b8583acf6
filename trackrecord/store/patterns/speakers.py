"""The sums of each speaker behind a pattern: how they are added, taken back and read."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    Connection,
    bindparam,
    case,
    delete,
    or_,
    select,
    update,
)

from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.learning.numbers.speakers import SpeakerCounts
from trackrecord.learning.outcomes.scoring import Verdict

from ..database.upsert import Columns, Upsert
from .tables import pattern_speakers

_AT_ONCE: Final = 500
_HELPFUL, _HARMFUL = Verdict.HELPFUL, Verdict.HARMFUL
_SUMS: Final = ("helpful_sum", "harmful_sum", "helpful_claimed_sum", "harmful_claimed_sum")
_COUNTED: Final = ("helpful", "neutral", "harmful", "succeeded", "feedback", *_SUMS)


@dataclass(slots=True)
class SpeakerSums:
    """The changes of one speaker's sums on one pattern by a batch."""

    helpful: int = 0
    neutral: int = 0
    harmful: int = 0
    succeeded: int = 0
    feedback: int = 0
    helpful_sum: float = 0.0
    harmful_sum: float = 0.0
    helpful_claimed_sum: float = 0.0
    harmful_claimed_sum: float = 0.0

    def add(self, verdict: Verdict, weighed: float, *, is_claim: bool, times: int = 1) -> None:
        """Count equal verdicts of that weight each, or take some back: `times` is negative then."""
        weighed *= times
        if verdict is _HELPFUL:
            self.helpful += times
            self.helpful_sum += weighed
            if is_claim:
                self.helpful_claimed_sum += weighed
        elif verdict is _HARMFUL:
            self.harmful += times
            self.harmful_sum += weighed
            if is_claim:
                self.harmful_claimed_sum += weighed
        else:
            self.neutral += times

    def counts(self, speaker: str, basis: DecayBasis, at: float) -> SpeakerCounts:
        """Return the counts as of a moment."""
        return _counts(speaker, basis.factor(at), *self.values())

    def values(self) -> tuple[Any, ...]:
        """Return the values of the columns that are added to."""
        return (
            self.helpful, self.neutral, self.harmful, self.succeeded, self.feedback,
            self.helpful_sum, self.harmful_sum, self.helpful_claimed_sum, self.harmful_claimed_sum,
        )  # fmt: skip


_COLUMNS: Final = ("pattern_id", "speaker", "project_id", *_COUNTED)


def _added(table: Columns, new: Columns) -> dict[str, Any]:
    return {name: table[name] + new[name] for name in _COUNTED}


_ADD: Final = Upsert(pattern_speakers, _COLUMNS, key=_COLUMNS[:2], combine=_added)


def add_speakers(
    connection: Connection, sums: Iterable[tuple[int, int, Mapping[str, SpeakerSums]]]
) -> None:
    """Add sums to those on record.

    Args:
        connection: within a writing transaction that holds the patterns' sums.
        sums: the row of each pattern, its project, and its sums by speaker.
    """
    rows = [
        (pattern_id, speaker, project_id, *each.values())
        for pattern_id, project_id, by_speaker in sums
        for speaker, each in by_speaker.items()
    ]
    _ADD.execute(connection, sorted(rows))


def settle_speakers(connection: Connection, pattern_ids: Sequence[int]) -> None:
    """Correct the sums of speakers after a subtraction; delete those without observations."""
    table = pattern_speakers.c
    for start in range(0, len(pattern_ids), _AT_ONCE):
        some = table.pattern_id.in_(pattern_ids[start : start + _AT_ONCE])
        connection.execute(
            delete(pattern_speakers).where(some, table.helpful + table.neutral + table.harmful <= 0)
        )
        connection.execute(_SETTLE.where(some))


# Built once. Floats that are subtracted leave dust.
_SETTLE: Final = update(pattern_speakers).values(
    **{
        name: case(
            (or_(pattern_speakers.c[name.split("_")[0]] <= 0, pattern_speakers.c[name] < 0.0), 0.0),
            else_=pattern_speakers.c[name],
        )
        for name in _SUMS
    }
)


def clear_speakers(connection: Connection, project_id: int) -> None:
    """Remove all sums of a project, for a rebuild to add them up again."""
    connection.execute(delete(pattern_speakers).where(pattern_speakers.c.project_id == project_id))


_OWN: Final = pattern_speakers.c.project_id == bindparam("project")
_SUMS_READ: Final = select(
    pattern_speakers.c.pattern_id,
    pattern_speakers.c.project_id,
    pattern_speakers.c.speaker,
    *(pattern_speakers.c[name] for name in _COUNTED),
)


def read_speakers(
    connection: Connection, project_id: int, basis: DecayBasis, at: float
) -> Mapping[int, Sequence[SpeakerCounts]]:
    """Return the counts of each speaker by the row of the pattern.

    Args:
        connection: a transaction.
        project_id: whose patterns.
        basis: what the sums are relative to.
        at: the moment, not before the outcomes.
    """
    found: defaultdict[int, list[SpeakerCounts]] = defaultdict(list)
    factor = basis.factor(at)
    for pattern_id, _, speaker, *sums in connection.execute(
        _SUMS_READ.where(_OWN), {"project": project_id}
    ):
        found[pattern_id].append(_counts(speaker, factor, *sums))
    return found


def speakers_of_patterns(
    connection: Connection,
    bases: Mapping[int, DecayBasis],
    at: float,
    pattern_ids: Iterable[int],
) -> Mapping[int, Sequence[SpeakerCounts]]:
    """Return the counts of each speaker as `read_speakers` does, of patterns of many projects.

    Args:
        connection: a transaction.
        bases: what the sums of each project are relative to.
        at: the moment, not before the outcomes.
        pattern_ids: the rows of the patterns.
    """
    ids = sorted(pattern_ids)
    factors = {project_id: basis.factor(at) for project_id, basis in bases.items()}
    found: defaultdict[int, list[SpeakerCounts]] = defaultdict(list)
    for start in range(0, len(ids), _AT_ONCE):
        some = pattern_speakers.c.pattern_id.in_(ids[start : start + _AT_ONCE])
        for pattern_id, project_id, speaker, *sums in connection.execute(_SUMS_READ.where(some)):
            found[pattern_id].append(_counts(speaker, factors[project_id], *sums))
    return found


def _counts(
    speaker: str,
    factor: float,
    helpful: int,
    neutral: int,
    harmful: int,
    succeeded: int,
    feedback: int,
    helpful_sum: float,
    harmful_sum: float,
    helpful_claimed_sum: float,
    harmful_claimed_sum: float,
) -> SpeakerCounts:
    """Return counts as of a moment.

    Args:
        speaker: whose they are.
        factor: what sums are multiplied by for the moment.
        helpful: the sums, as in `_COUNTED`.
        neutral: likewise.
        harmful: likewise.
        succeeded: likewise.
        feedback: likewise.
        helpful_sum: likewise.
        harmful_sum: likewise.
        helpful_claimed_sum: likewise.
        harmful_claimed_sum: likewise.
    """
    # Nothing stays nothing; the factor may be beyond the range of a float.
    decayed = [
        max(each, 0.0) * factor if each > 0.0 else 0.0
        for each in (helpful_sum, harmful_sum, helpful_claimed_sum, harmful_claimed_sum)
    ]
    return SpeakerCounts(
        helpful,
        neutral,
        harmful,
        decayed[0],
        decayed[1],
        speaker,
        succeeded,
        feedback,
        decayed[2],
        decayed[3],
    )
