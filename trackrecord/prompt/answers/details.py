"""The parts of an answer that are computed on demand: all that is known, and why each line."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from .compose import Composition

if TYPE_CHECKING:
    # Agents that do not ask do without.
    from .why import Why


# Those of which an answer has all, and not only those in the text.
_RANKED: Final = ("patterns", "anti_patterns", "competences", "memories")


class AnswerDetails:
    """All entries and the reasons for the lines of a text, computed when asked for.

    Args:
        composed: a prompt's text, without candidates of an agent's own; None for no text.
        budget: the budget that it was composed for.
    """

    def __init__(self, composed: Composition | None = None, budget: int | None = None) -> None:
        self._composed = composed
        self._budget = budget

    @cached_property
    def ranked(self) -> dict[str, tuple[Any, ...]]:
        """All entries by section, those that fit the task first, each group best first."""
        if self._composed is None:
            return dict.fromkeys(_RANKED, ())
        return {name: self._composed.learnt.ranked(name) for name in _RANKED}

    @cached_property
    def fitting(self) -> dict[str, frozenset[str]]:
        """By section, the ids of the entries that have to do with the task."""
        return {} if self._composed is None else self._composed.learnt.fitting

    @cached_property
    def reasons(self) -> tuple[Why, ...]:
        """The reasons, see `why_of`."""
        if self._composed is None:
            return ()
        from .why import why_of

        return why_of(self._composed, self._budget)

    def __reduce__(self) -> tuple[Callable[..., AnswerDetails], tuple[dict[str, Any]]]:
        # A copy has what can be asked for, and not all that competed.
        of_copy = {"ranked": self.ranked, "fitting": self.fitting, "reasons": self.reasons}
        return _copied, (of_copy,)


def _copied(values: dict[str, Any]) -> AnswerDetails:
    details = AnswerDetails()
    details.__dict__ |= values
    return details
