"""The numbers of artifacts."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from trackrecord.learning.numbers.checks import require

_MIB = 1024 * 1024


@dataclass(frozen=True)
class ArtifactRules:
    """Rules for which outputs are stored and replaced by a summary, and how long they are kept.

    Attributes:
        threshold_chars: outputs with more characters than this are stored and replaced by a
            summary.
        summary_chars: maximum length of a summary.
        max_bytes: maximum size of a stored output; of a larger one only the head and the tail are
            stored.
        retention_s: how long an artifact is kept; storing the same output again starts this time
            anew.
    """

    threshold_chars: int = 10_000
    summary_chars: Annotated[int, Meta(ge=400, le=100_000)] = 500
    max_bytes: Annotated[int, Meta(ge=4096, le=1024 * _MIB)] = 10 * _MIB
    retention_s: Annotated[int, Meta(ge=60, le=10**9)] = 30 * 86_400

    def __post_init__(self) -> None:
        require(
            self.threshold_chars >= self.summary_chars,
            "threshold_chars must not be below summary_chars",
        )
