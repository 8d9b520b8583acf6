"""The explanation of an answer, computed on demand."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .compose import Composition

if TYPE_CHECKING:
    # Agents that do not ask do without.
    from .why import Why


class LineReasons:
    """The reasons for the lines of a text, computed when asked for, which few agents do.

    Args:
        composed: a prompt's text, without candidates of an agent's own; None for no text.
        budget: the budget that it was composed for.
    """

    def __init__(self, composed: Composition | None = None, budget: int | None = None) -> None:
        self._composed = composed
        self._budget = budget

    @cached_property
    def reasons(self) -> tuple[Why, ...]:
        """The reasons, see `why_of`."""
        if self._composed is None:
            return ()
        from .why import why_of

        return why_of(self._composed, self._budget)

    def __reduce__(self) -> tuple[Callable[[tuple[Why, ...]], LineReasons], tuple[Any, ...]]:
        # A copy has the reasons, and not all that competed.
        return _explained, (self.reasons,)


def _explained(reasons: tuple[Why, ...]) -> LineReasons:
    explanation = LineReasons()
    explanation.__dict__["reasons"] = reasons
    return explanation
