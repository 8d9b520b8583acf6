"""The numbers of artifacts."""

from dataclasses import dataclass

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
    summary_chars: int = 500
    max_bytes: int = 10 * _MIB
    retention_s: int = 30 * 86_400

    def __post_init__(self) -> None:
        require(
            400 <= self.summary_chars <= 100_000,
            f"summary_chars must lie in 400..100000, not {self.summary_chars}",
        )
        require(
            self.threshold_chars >= self.summary_chars,
            "threshold_chars must not be below summary_chars",
        )
        require(
            4096 <= self.max_bytes <= 1024 * _MIB,
            f"max_bytes must lie in 4096..1073741824, not {self.max_bytes}",
        )
        require(
            60 <= self.retention_s <= 10**9,
            f"retention_s must lie in 60..1000000000, not {self.retention_s}",
        )
