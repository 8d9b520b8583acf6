"""Hints: what is known of a task beside its text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

ComparedBy = Literal["words", "embeddings"]


@dataclass(frozen=True)
class Hints:
    """What is known of a task beside its text.

    Attributes:
        conditions: the conditions under which it appeared, as in a trigger; None for none.
        cosines: how similar its embedding is to those of competence records, by their ids; None
            where it is compared by words.
    """

    conditions: Any = None
    cosines: Mapping[str, float] | None = None

    def compared_by(self, task: str | None) -> ComparedBy | None:
        """Return how the task is compared with competence records; None without a task."""
        if not task:
            return None
        return "words" if self.cosines is None else "embeddings"


NO_HINTS: Final = Hints()
