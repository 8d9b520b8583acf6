"""Hints: what is known of a task beside its text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

ComparedBy = Literal["words", "embeddings"]


@dataclass(frozen=True)
class Meaning:
    """How similar a task's embedding is to those of competence records.

    Attributes:
        cosines: of the records nearest to the task, by their ids.
        compared: the ids of all records that have an embedding.
        least: the cosine below which a record has nothing to do with the task.
    """

    cosines: Mapping[str, float]
    compared: frozenset[str]
    least: float


@dataclass(frozen=True)
class Hints:
    """What is known of a task beside its text.

    Attributes:
        conditions: the conditions under which it appeared, as in a trigger; None for none.
        meaning: how similar its embedding is to those of competence records; None where it is
            compared by words.
        source: the agent that asks, as its outcomes name it; None where that is not known.
    """

    conditions: Any = None
    meaning: Meaning | None = None
    source: str | None = None

    def compared_by(self, task: str | None) -> ComparedBy | None:
        """Return how the task is compared with competence records; None without a task."""
        if not task:
            return None
        return "words" if self.meaning is None else "embeddings"


NO_HINTS: Final = Hints()
