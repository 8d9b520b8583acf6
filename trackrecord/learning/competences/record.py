"""Competence records: their parts, and which other record to try where one fails.

The recipe has the steps of a procedure, in the order in which it usually succeeds. `typical_order`
chooses among the orders that `tally` counts and that the store keeps in
`competences/signature_counts`: a choice by anything else needs both. `update` writes the recipe
into a record with its next episodes, and the benchmarks use it, too.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from .conditions import UNKNOWN, Fit, KnownTrigger, fit_of_record, values_of
from .episodes.checks import is_check
from .episodes.tally import Argument, Order
from .rules import Lifecycle, Status
from .selection import success_rate


@dataclass(frozen=True)
class RecipeStep:
    """One step of a recipe.

    Attributes:
        step: its number, from 1.
        tool: the tool to call.
        args_schema: the JSON types seen for each argument, several joined with ` | `.
        validation: the checks that follow directly and so validate what was done up to here.
    """

    step: int
    tool: str
    args_schema: dict[str, str]
    validation: tuple[str, ...] = ()


def typical_order(orders: Mapping[Order, int]) -> Order:
    """Return the order of most successful episodes; in a tie the alphabetically first."""
    return min(orders, key=lambda order: (-orders[order], order))


def recipe_of(
    order: Order, arguments: Mapping[Argument, int], *, max_arguments: int
) -> tuple[RecipeStep, ...]:
    """Return the recipe with the tools in this order.

    Args:
        order: the tools, first to last.
        arguments: how often each argument was seen.
        max_arguments: how many of one tool's arguments are kept, the most frequent first.
    """
    schemas = _schemas(arguments, max_arguments)
    return tuple(
        RecipeStep(number, tool, schemas.get(tool, {}), _checks_after(order, number))
        for number, tool in enumerate(order, start=1)
    )


def _checks_after(order: Order, position: int) -> tuple[str, ...]:
    checks = []
    for tool in order[position:]:
        if not is_check(tool):
            break
        checks.append(tool)
    return tuple(checks)


def _schemas(arguments: Mapping[Argument, int], most: int) -> dict[str, dict[str, str]]:
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    types: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for (tool, name, json_type), count in arguments.items():
        seen[tool][name] += count
        types[tool, name].add(json_type)
    return {
        tool: {name: " | ".join(sorted(types[tool, name])) for name in _most_frequent(names, most)}
        for tool, names in seen.items()
    }


def _most_frequent(names: Counter[str], most: int) -> list[str]:
    kept = sorted(names, key=lambda name: (-names[name], name))[:most]
    return sorted(kept)


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
    triggers: tuple[TriggerCounts, ...] = ()
    recipe: tuple[RecipeStep, ...] = ()
    failure_modes: tuple[str, ...] = ()
    performance: Performance = Performance()
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

    @property
    def required_tools(self) -> tuple[str, ...]:
        """The tools of its recipe."""
        return tuple(sorted({step.tool for step in self.recipe}))


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


def fallbacks_among(records: Iterable[Competence]) -> dict[str, tuple[str, ...]]:
    """Return the fallbacks of each record among the records of its project, by id.

    A record fails at a trigger that set off at least one of its failed episodes. A fallback is
    another active record with the same trigger signal that succeeded there at least once, and at a
    higher rate. The highest rate comes first, then more successes, then the lower id; at most
    five are named.
    """
    records = tuple(records)
    rivals = _by_signal(record for record in records if record.status is Status.ACTIVE)
    return {record.id: _fallbacks(record, rivals) for record in records}


_MOST: Final = 5
_Rivals = dict[str, list[tuple[str, TriggerCounts]]]


def _by_signal(records: Iterable[Competence]) -> _Rivals:
    rivals: _Rivals = defaultdict(list)
    for record in records:
        for trigger in record.triggers:
            if trigger.success_count > 0:
                rivals[trigger.signal].append((record.id, trigger))
    return rivals


def _fallbacks(record: Competence, rivals: _Rivals) -> tuple[str, ...]:
    best: dict[str, tuple[float, int]] = {}
    for trigger in record.triggers:
        if trigger.failure_count == 0:
            continue
        own_rate = _rate(trigger)
        for rival_id, rival in rivals.get(trigger.signal, ()):
            standing = (-_rate(rival), -rival.success_count)
            if rival_id != record.id and _rate(rival) > own_rate:
                best[rival_id] = min(standing, best.get(rival_id, standing))
    return tuple(sorted(best, key=lambda rival_id: (*best[rival_id], rival_id))[:_MOST])


def _rate(trigger: TriggerCounts) -> float:
    return success_rate(trigger.success_count, trigger.failure_count)
