"""Records: the parts of a competence record."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from .conditions import UNKNOWN, Fit, KnownTrigger, fit_of_record, values_of
from .recipe import RecipeStep
from .rules import Lifecycle, Status
from .selection import success_rate

DERIVED_FROM = "derived_from"
_SKILL = "skill:"


@dataclass(frozen=True)
class TriggerCounts:
    """An intent or an error that episodes of a record began with.

    Attributes:
        signal: an intent label or an error signature.
        conditions: its most frequent conditions, as the agents gave them; None without any.
        success_count: successful episodes that it set off.
        failure_count: failed ones.
        further_conditions: the next most frequent conditions, most frequent first.
    """

    signal: str
    conditions: Any = None
    success_count: int = 0
    failure_count: int = 0
    further_conditions: tuple[Any, ...] = ()

    @property
    def count(self) -> int:
        """The number of episodes with this trigger."""
        return self.success_count + self.failure_count

    @property
    def all_conditions(self) -> tuple[Any, ...]:
        """The conditions that are known, the most frequent first."""
        return () if self.conditions is None else (self.conditions, *self.further_conditions)


@dataclass(frozen=True)
class Performance:
    """Successes, failures and durations of a record's procedure.

    Attributes:
        success_count: successful episodes, and outcomes that credit it.
        failure_count: failed ones.
        latency_sum_ms: the sum of the durations that are known.
        latency_count: the number of known durations.
        last_used_at: when the last of the episodes ended, seconds since the epoch.
    """

    success_count: int = 0
    failure_count: int = 0
    latency_sum_ms: int = 0
    latency_count: int = 0
    last_used_at: float | None = None

    def plus(self, other: "Performance") -> "Performance":
        """Return the sum of both; the order of addition does not matter."""
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
    """A record's relation to another record, an episode or named evidence."""

    predicate: str
    target_id: str


@dataclass(frozen=True)
class Authored:
    """Text that an author gave a record stored by hand; learning does not change it.

    Attributes:
        by: its author.
        triggers: the signals that it answers to, with their conditions.
        failure_modes: how it is known to fail.
    """

    by: str
    triggers: tuple[TriggerCounts, ...]
    failure_modes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Competence:
    """A competence record: when this signal appears, these tools in this order have worked.

    Attributes are those of the specification, and `authored`: what its author said of a record that
    was stored by hand, None of one that was learnt. The episodes that it is derived from, its
    fallbacks and its current salience are not stored with it: they are computed when it is read.
    """

    id: str
    project: str
    skill_name: str
    signature: str
    triggers: tuple[TriggerCounts, ...]
    recipe: tuple[RecipeStep, ...]
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
    authored: Authored | None = None


def fit_of_competence(record: Competence, conditions: Any, task: str | None) -> Fit:  # noqa: ANN401 - any JSON
    """Return how far the conditions of a task agree with those of a record."""
    if conditions is None:
        return UNKNOWN
    known = (KnownTrigger.of(each.signal, each.all_conditions) for each in record.triggers)
    return fit_of_record(values_of(conditions), known, task)


def competence_id(project: str, signature: str) -> str:
    """Return the id of a signature's record in a project; it stays the same after a rebuild."""
    digest = sha256(f"{len(project)}:{project}{signature}".encode()).hexdigest()
    return f"skill-{digest[:24]}"


def skill_name(signature: str) -> str:
    """Return the name of a signature's skill."""
    return f"{_SKILL}{signature}"


def signature_of_skill(name: str) -> str:
    """Return the signature of a skill's name."""
    return name.removeprefix(_SKILL)
