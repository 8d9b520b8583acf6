"""The cells of a table that compares tasks with and without advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from trackrecord.learning.advice.effect.comparison import Comparison

COLUMNS: Final = ("with", "without", "difference", "interval", "verdict")
# Those that a narrow terminal is not shown, the first one first.
SECONDARY: Final = ("interval", "without", "with")


def cells(found: Comparison) -> tuple[str, ...]:
    """Return the cells of a comparison, one for each of the columns."""
    from trackrecord.learning.advice.effect.texts import (
        VERDICTS,
        difference_text,
        interval_text,
        mean_text,
    )

    return (
        mean_text(found, found.given),
        mean_text(found, found.withheld),
        difference_text(found),
        interval_text(found),
        VERDICTS[found.verdict],
    )
