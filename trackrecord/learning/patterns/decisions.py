"""Decisions by hand: a person says what a pattern is worth, and it stays so until reset."""

from dataclasses import dataclass
from enum import StrEnum

from trackrecord.errors import DecisionRefused

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


def state_held(action: Action, state: Maturity, slug: str) -> Maturity | None:
    """The state that a decision holds a pattern in, None when the evidence decides again.

    Args:
        action: what was decided.
        state: where the pattern stands, by hand or by its evidence.
        slug: the pattern, for the message.

    Raises:
        DecisionRefused: the pattern is deprecated.
    """
    if action is Action.RESET:
        return None
    if action is Action.DEPRECATE:
        return Maturity.DEPRECATED
    if state is Maturity.DEPRECATED:
        message = (
            f"pattern {slug!r} is deprecated and cannot be promoted; a decision by hand is "
            "taken back with `patterns reset`, evidence is outweighed by new helpful outcomes"
        )
        raise DecisionRefused(message)
    return Maturity.PROVEN
