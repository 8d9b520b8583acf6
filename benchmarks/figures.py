"""Figures: what was measured, what was asked for, and what it is compared with."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """Whether a figure is what was asked for."""

    MET = "met"
    NOT_MET = "NOT met"
    CONTEXT = ""


@dataclass(frozen=True)
class Floor:
    """What was asked for.

    Attributes:
        value: the bound, in the figure's unit.
        is_minimum: whether the figure must not lie below it, rather than above.
    """

    value: float
    is_minimum: bool = False

    def is_met_by(self, value: float) -> bool:
        """Whether a value keeps to the bound."""
        return value >= self.value if self.is_minimum else value <= self.value


@dataclass(frozen=True)
class Baseline:
    """What a figure is compared with, measured in the same run and in its unit."""

    name: str
    value: float


@dataclass(frozen=True)
class Figure:
    """One measured number.

    Attributes:
        name: what it is.
        value: the number.
        unit: its unit.
        floor: what was asked for; None for a number that is only context.
        baselines: what it is compared with.
    """

    name: str
    value: float
    unit: str
    floor: Floor | None = None
    baselines: tuple[Baseline, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether it is what was asked for."""
        if self.floor is None:
            return Verdict.CONTEXT
        return Verdict.MET if self.floor.is_met_by(self.value) else Verdict.NOT_MET


@dataclass(frozen=True)
class Measured:
    """What one benchmark found.

    Attributes:
        workload: what it measured, in one line.
        figures: the numbers.
    """

    workload: str
    figures: tuple[Figure, ...]


def at_least(value: float) -> Floor:
    """A floor that a figure must not lie below."""
    return Floor(value, is_minimum=True)


def at_most(value: float) -> Floor:
    """A bound that a figure must not lie above."""
    return Floor(value)
