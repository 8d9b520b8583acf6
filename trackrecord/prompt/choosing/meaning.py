"""The meaning of a task: how similar its embedding is to those of competence records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ComparedBy = Literal["words", "embeddings"]


@dataclass(frozen=True)
class Meaning:
    """The similarity of a task's embedding to those of competence records.

    Attributes:
        cosines: of the records nearest to the task, by their ids.
        compared: the ids of all records that have an embedding.
        least: the cosine below which a record has nothing to do with the task.
    """

    cosines: Mapping[str, float]
    compared: frozenset[str]
    least: float


def compared_by(task: str | None, meaning: Meaning | None) -> ComparedBy | None:
    """Return the way of comparing a task with competence records; None without a task."""
    if not task:
        return None
    return "words" if meaning is None else "embeddings"
