"""Records: what a competence record consists of."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from .recipe import Step
from .rules import Lifecycle, Status
from .selection import success_rate

DERIVED_FROM = "derived_from"


@dataclass(frozen=True)
class Trigger:
    """What set episodes of a record off.

    Attributes:
        signal: an intent label or an error signature.
        conditions: its most frequent conditions, as the agents gave them; None without any.
        success_count: successful episodes that it set off.
        failure_count: failed ones.
    """

    signal: str
    conditions: Any = None
    success_count: int = 0
    failure_count: int = 0

    @property
    def count(self) -> int:
        """Episodes that it set off."""
        return self.success_count + self.failure_count


@dataclass(frozen=True)
class Performance:
    """How a record's procedure has done.

    Attributes:
        success_count: successful episodes, and outcomes that credit it.
        failure_count: failed ones.
        latency_sum_ms: the sum of the durations that are known.
        latency_count: how many are known.
        last_used_at: when the last of the episodes ended, seconds since the epoch.
    """

    success_count: int = 0
    failure_count: int = 0
    latency_sum_ms: int = 0
    latency_count: int = 0
    last_used_at: float | None = None

    def plus(self, other: "Performance") -> "Performance":
        """Both together; in whatever order they are added."""
        moments = [at for at in (self.last_used_at, other.last_used_at) if at is not None]
        return Performance(
            success_count=self.success_count + other.success_count,
            failure_count=self.failure_count + other.failure_count,
            latency_sum_ms=self.latency_sum_ms + other.latency_sum_ms,
            latency_count=self.latency_count + other.latency_count,
            last_used_at=max(moments, default=None),
        )

    @property
    def success_rate(self) -> float:
        """Successes ÷ episodes, 0.5 without data."""
        return success_rate(self.success_count, self.failure_count)

    @property
    def avg_latency_ms(self) -> float | None:
        """The mean of the durations that are known."""
        return self.latency_sum_ms / self.latency_count if self.latency_count else None


@dataclass(frozen=True)
class Relation:
    """What a record has to do with another record, an episode or named evidence."""

    predicate: str
    target_id: str


@dataclass(frozen=True, kw_only=True)
class Competence:
    """A competence record: when this signal appears, these tools in this order have worked.

    Attributes are those of the specification. The episodes that it is derived from, its fallbacks
    and its salience now are no part of it: they are found when it is read.
    """

    id: str
    project: str
    skill_name: str
    signature: str
    triggers: tuple[Trigger, ...]
    recipe: tuple[Step, ...]
    required_tools: tuple[str, ...]
    failure_modes: tuple[str, ...]
    performance: Performance
    confidence: float
    salience: float
    lifecycle: Lifecycle
    created_at: float
    updated_at: float
    version: int = 1
    status: Status = Status.ACTIVE
    relations: tuple[Relation, ...] = ()
    tags: tuple[str, ...] = ()


def competence_id(project: str, signature: str) -> str:
    """The id of a signature's record in a project, the same whenever it is built again."""
    digest = sha256(f"{len(project)}:{project}{signature}".encode()).hexdigest()
    return f"skill-{digest[:24]}"


def skill_name(signature: str) -> str:
    """The name of a signature's skill."""
    return f"skill:{signature}"
