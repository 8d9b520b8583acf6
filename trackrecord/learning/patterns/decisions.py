"""Decisions by hand: a person says what a pattern is worth, and it stays so until reset."""

from dataclasses import dataclass
from enum import StrEnum

from .maturity import Maturity


class Action(StrEnum):
    """What a person can do with a pattern."""

    PROMOTE = "promote"
    DEPRECATE = "deprecate"
    RESET = "reset"


@dataclass(frozen=True)
class Decision:
    """A decision by hand that is in force.

    Attributes:
        action: "promote" or "deprecate".
        actor: who decided.
        reason: why; "" where none was given.
        at: when, seconds since the epoch.
    """

    action: Action
    actor: str
    reason: str
    at: float

    @property
    def state(self) -> Maturity:
        """The state that it holds the pattern in, whatever the evidence."""
        return Maturity.PROVEN if self.action is Action.PROMOTE else Maturity.DEPRECATED


class NotPromotable(ValueError):
    """Raised when a deprecated pattern is promoted: it can only be reset."""


def state_held(action: Action, state: Maturity) -> Maturity | None:
    """The state that a decision holds a pattern in, None when the evidence decides again.

    Args:
        action: what was decided.
        state: where the pattern stands, by hand or by its evidence.

    Raises:
        NotPromotable: the pattern is deprecated.
    """
    if action is Action.RESET:
        return None
    if action is Action.DEPRECATE:
        return Maturity.DEPRECATED
    if state is Maturity.DEPRECATED:
        message = "a deprecated pattern cannot be promoted"
        raise NotPromotable(message)
    return Maturity.PROVEN
