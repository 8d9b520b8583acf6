"""Decisions by hand: a person sets a pattern's state, which holds until a reset."""

from dataclasses import dataclass
from enum import StrEnum

from trackrecord.errors import DecisionRefused

from .maturity import Maturity


class DecisionAction(StrEnum):
    """The decisions that a person can take on a pattern."""

    PROMOTE = "promote"
    DEPRECATE = "deprecate"
    RESET = "reset"


@dataclass(frozen=True)
class Decision:
    """A decision by hand that is in force.

    Attributes:
        action: "promote" or "deprecate".
        actor: the person or program that decided.
        reason: the given reason; "" without one.
        at: when, seconds since the epoch.
    """

    action: DecisionAction
    actor: str
    reason: str
    at: float

    @property
    def state(self) -> Maturity:
        """Return the state in which the decision holds the pattern, against all evidence."""
        return Maturity.PROVEN if self.action is DecisionAction.PROMOTE else Maturity.DEPRECATED


def state_held(action: DecisionAction, state: Maturity, slug: str) -> Maturity | None:
    """Return the state in which a decision holds a pattern; None if the evidence decides again.

    Args:
        action: the decision.
        state: the pattern's current state, by hand or by its evidence.
        slug: the pattern, for the message.

    Raises:
        DecisionRefused: the pattern is deprecated.
    """
    if action is DecisionAction.RESET:
        return None
    if action is DecisionAction.DEPRECATE:
        return Maturity.DEPRECATED
    if state is Maturity.DEPRECATED:
        message = (
            f"pattern {slug!r} is deprecated and cannot be promoted; a decision by hand is "
            "taken back with `patterns reset`, evidence is outweighed by new helpful outcomes"
        )
        raise DecisionRefused(message)
    return Maturity.PROVEN
