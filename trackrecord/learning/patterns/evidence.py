"""Evidence: the sums that a pattern's standing is derived from."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Evidence:
    """The recorded reports on one pattern, as of one moment.

    Attributes:
        helpful: outcomes that scored helpful, a raw count.
        neutral: outcomes that scored neutral, a raw count.
        harmful: outcomes that scored harmful, a raw count.
        decayed_helpful: the helpful ones, each weighed by its age.
        decayed_harmful: the harmful ones, each weighed by its age.
    """

    helpful: int = 0
    neutral: int = 0
    harmful: int = 0
    decayed_helpful: float = 0.0
    decayed_harmful: float = 0.0

    @property
    def observations(self) -> int:
        """All outcomes that touched the pattern, a raw count."""
        return self.helpful + self.neutral + self.harmful

    @property
    def decayed_total(self) -> float:
        """The decayed mass of evidence; neutral outcomes add nothing."""
        return self.decayed_helpful + self.decayed_harmful

    @property
    def harmful_share(self) -> float:
        """Decayed harmful ÷ decayed total, 0 without evidence."""
        total = self.decayed_total
        return self.decayed_harmful / total if total > 0 else 0.0
