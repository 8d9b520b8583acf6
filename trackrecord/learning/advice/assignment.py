"""Assign a task: to those that get advice or to the holdout, and to an order of entries.

Both are drawn by a hash, so that every process, and every retry, gives one task the same answer.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal

from .exploring import SHARPNESS
from .rules import Explore

Arm = Literal["given", "withheld"]
_HASHES: Final = 2**64


@dataclass(frozen=True)
class Assignment:
    """The arm and the draws of a task.

    Attributes:
        arm: whether the task is given advice or belongs to the holdout; None without a task id.
        holdout: the share of tasks that is withheld advice.
        seed: the seed of the order that is drawn; None where none is.
        propensity: how probable it was that the task is assigned to its arm. Whether an order is
            drawn is not left to chance.
        sharpness: as if how many times as much were known of what is drawn.
    """

    arm: Arm | None = None
    holdout: float = 0.0
    seed: int | None = None
    propensity: float = 1.0
    sharpness: float = 1.0

    @property
    def is_withheld(self) -> bool:
        """Return whether the task gets nothing, as part of the holdout."""
        return self.arm == "withheld"

    @property
    def is_explored(self) -> bool:
        """Return whether the order of entries is a draw, so that little known ones are tried."""
        return self.seed is not None


def assign(
    project: str,
    *,
    task_id: str | None,
    task: str | None,
    revision: int,
    holdout: float,
    explore: Explore,
) -> Assignment:
    """Assign a task.

    Args:
        project: the task's project.
        task_id: the id that its outcome will have; without one nothing is withheld.
        task: its text, which stands for a missing id when orders are drawn; without either no order
            is drawn.
        revision: the revision of the rankings: a draw is the same for the same rankings only.
        holdout: the share of tasks that is withheld advice, 0..0.9.
        explore: whether orders are drawn, and how far from what is known.
    """
    arm: Arm | None = None
    propensity = 1.0
    if task_id:
        is_withheld = _drawn("holdout", project, task_id) < holdout
        arm = "withheld" if is_withheld else "given"
        propensity = holdout if is_withheld else 1.0 - holdout
    key = task_id or task
    if not key or explore == "off":
        return Assignment(arm, holdout, None, propensity)
    seed = _hash("order", project, key, str(revision))
    return Assignment(arm, holdout, seed, propensity, SHARPNESS[explore])


def is_told(project: str, session: str, agent: str, entry: str, probability: float) -> bool:
    """Return whether a hint is given at a failure, for the trial of hints.

    Args:
        project: the project.
        session: the session that the call failed in.
        agent: which of its agents called; "" for the main one.
        entry: what the hint is about.
        probability: with which it is given.
    """
    return _drawn("hint", project, session, agent, entry) < probability


def _drawn(*parts: str) -> float:
    return _hash(*parts) / _HASHES


def _hash(*parts: str) -> int:
    # Lengths in front: no two lists of parts may run together into one text.
    data = b"".join(
        b"%d:%s" % (len(each), each)
        for each in (part.encode("utf-8", "surrogatepass") for part in parts)
    )
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")
