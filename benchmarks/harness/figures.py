"""Figures: measured numbers, their required bounds, and their baselines."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The verdicts on a figure: whether it keeps to its bound."""

    MET = "met"
    NOT_MET = "NOT met"
    CONTEXT = ""


@dataclass(frozen=True)
class Floor:
    """The required bound of a figure.

    Attributes:
        value: the bound, in the figure's unit.
        is_minimum: whether the figure must not lie below it, rather than above.
    """

    value: float
    is_minimum: bool = False

    def is_met_by(self, value: float) -> bool:
        """Return whether a value keeps to the bound."""
        return value >= self.value if self.is_minimum else value <= self.value


@dataclass(frozen=True)
class Baseline:
    """A number that a figure is compared with, measured in the same run and unit."""

    name: str
    value: float


@dataclass(frozen=True)
class Figure:
    """One measured number.

    Attributes:
        name: its description.
        value: the number.
        unit: its unit.
        floor: the required bound; None for a number that is only context.
        baselines: the numbers that it is compared with.
    """

    name: str
    value: float
    unit: str
    floor: Floor | None = None
    baselines: tuple[Baseline, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Return whether the figure keeps to its bound."""
        if self.floor is None:
            return Verdict.CONTEXT
        return Verdict.MET if self.floor.is_met_by(self.value) else Verdict.NOT_MET


@dataclass(frozen=True)
class Measured:
    """The figures of one benchmark.

    Attributes:
        workload: the measured work, in one line.
        figures: the numbers.
        table: further lines that follow from them.
    """

    workload: str
    figures: tuple[Figure, ...]
    table: tuple[str, ...] = ()


def at_least(value: float) -> Floor:
    """Return a bound that a figure must not lie below."""
    return Floor(value, is_minimum=True)


def at_most(value: float) -> Floor:
    """Return a bound that a figure must not lie above."""
    return Floor(value)
