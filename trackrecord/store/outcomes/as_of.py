"""The records of outcomes that count: those without a later record of the same outcome."""

from typing import Final

from sqlalchemy import ColumnElement, or_

from .tables import outcomes

OUTCOME_IS_CURRENT: Final[ColumnElement[bool]] = outcomes.c.replaced_at == 0


def current_as_of(
    replaced_at: ColumnElement[float | None], at: float | None
) -> ColumnElement[bool]:
    """Return whether a row had not been replaced yet, by a column that is NULL until then.

    Args:
        replaced_at: the column.
        at: a past moment; None for now.
    """
    if at is None:
        return replaced_at.is_(None)
    return or_(replaced_at.is_(None), replaced_at > at)
