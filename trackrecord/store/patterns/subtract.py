"""Taking back what replaced records of outcomes added to patterns."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, case, func, select, update

from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.learning.outcomes.scoring import Verdict

from ..database.upsert import later
from ..outcomes.feedback.feedback import last_given
from ..outcomes.verdicts.verdict_sums import NEVER, Replaced, settled, validates
from .speakers import settle_speakers
from .sums import Deltas, PatternDelta, PatternKey, PatternRow
from .tables import observations, patterns

_AT_ONCE = 500


def take_back_touches(
    connection: Connection, replaced: Sequence[Replaced], deltas: Deltas, basis: DecayBasis
) -> dict[int, float]:
    """Subtract replaced records from deltas; from then on their observations are of the past.

    Args:
        connection: within the transaction that replaces the records.
        replaced: records of one project.
        deltas: what the records in their place add, all of it.
        basis: what the project's sums are relative to.

    Returns:
        The rows of the patterns that were touched, and when the last of the replaced outcomes that
        validated each had ended; NEVER where a record in their place is as late.
    """
    touched: dict[int, float] = {}
    gone: list[dict[str, Any]] = []
    for each in replaced:
        for row in connection.execute(_observed(each)):
            delta = _delta_of(deltas, row)
            delta.succeeded -= row.success
            verdict = Verdict(row.verdict)
            weight = basis.weight(row.ended_at)
            delta.take_back(verdict, weight)
            sums = delta.of(row.speaker)
            sums.succeeded -= row.success
            sums.add(verdict, weight, is_claim=row.is_claim, times=-1)
            is_over = verdict is Verdict.NEUTRAL or validates(delta, row.ended_at)
            ended_at = NEVER if is_over else row.ended_at
            touched[row.id] = max(touched.get(row.id, ended_at), ended_at)
            gone.append(
                {"of": row.id, "then": each.received_at, "by": each.row, "at": each.replaced_at}
            )
    if gone:
        table = observations.c
        connection.execute(
            update(observations)
            .where(
                table.pattern_id == bindparam("of"),
                table.received_at == bindparam("then"),
                table.outcome == bindparam("by"),
            )
            .values(replaced_at=bindparam("at")),
            gone,
        )
    return touched


def _observed(each: Replaced) -> Any:  # noqa: ANN401 - a select of these columns
    table, seen = patterns.c, observations.c
    query = (
        select(
            table.id, table.project_id, table.slug, table.kind, table.content,
            seen.verdict, seen.success, seen.ended_at, seen.speaker, seen.is_claim,
        )
        .join(observations, seen.pattern_id == table.id)
        .where(
            table.project_id == each.project_id,
            seen.received_at == each.received_at,
            seen.outcome == each.row,
        )
    )  # fmt: skip
    # Where the slugs are not known, all patterns of the project are looked through.
    return query if each.slugs is None else query.where(table.slug.in_(each.slugs))


def _delta_of(deltas: Deltas, row: Row[Any]) -> PatternDelta:
    key: PatternKey = (row.project_id, row.slug)
    delta = deltas.patterns.get(key)
    if delta is None:
        # As it is spelled: a spelling is kept, whatever is taken back.
        delta = deltas.patterns[key] = PatternDelta(kind=row.kind, content=row.content)
    return delta


def settle_patterns(
    connection: Connection, touched: dict[int, float], changed: Collection[PatternRow]
) -> None:
    """Correct the patterns that something was taken back from.

    Args:
        connection: within the same transaction.
        touched: what `take_back_touches` returned.
        changed: the rows as they are after the deltas were written.
    """
    ids = sorted(touched)
    for start in range(0, len(ids), _AT_ONCE):
        some = patterns.c.id.in_(ids[start : start + _AT_ONCE])
        connection.execute(_SETTLE.where(some))
    settle_speakers(connection, ids)
    stale = [
        row.id
        for row in changed
        if row.id in touched
        and row.last_validated is not None
        and row.last_validated <= touched[row.id]
    ]
    _validate_again(connection, stale)


# Built once: building it takes longer than running it.
_SETTLE: Final = update(patterns).values(
    **settled(patterns.c),
    succeeded=case((patterns.c.succeeded < 0, 0), else_=patterns.c.succeeded),
)


def _validate_again(connection: Connection, ids: Sequence[int]) -> None:
    seen = observations.c
    observed = (
        select(func.max(seen.ended_at))
        .where(
            seen.pattern_id == patterns.c.id,
            seen.verdict != Verdict.NEUTRAL.value,
            seen.replaced_at.is_(None),
        )
        .scalar_subquery()
    )
    told = last_given("pattern", patterns.c.project_id, patterns.c.slug, neutral_counts=False)
    for each in ids:
        connection.execute(
            update(patterns)
            .where(patterns.c.id == each)
            .values(last_validated=later(observed, told))
        )
