"""Conditions: whether those of a task agree with those under which a procedure was used.

Conditions are what agents say beside a trigger's signal: `{"os": "linux", "branch": "main"}`. Two
of them are compared name by name; nested objects by the names on the way, joined with dots. A name
that only one of both has tells nothing.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from ..text.words import similarity

_Key = TypeVar("_Key")

# Deeper objects are compared as a whole.
_DEEPEST: Final = 8
_THE_WHOLE: Final = ""


class Fit(NamedTuple):
    """The agreement of a task's conditions with known ones; the greater one fits better.

    Attributes:
        contradictions: minus the number of names with another value.
        agreements: the number of names with the same value.
    """

    contradictions: int = 0
    agreements: int = 0

    @property
    def contradicts(self) -> bool:
        """Return whether one of the names has another value."""
        return self.contradictions < 0

    @property
    def matches(self) -> bool:
        """Return whether a name has the same value, and none has another one."""
        return self.agreements > 0 and not self.contradicts


UNKNOWN: Final = Fit()

Values = Mapping[str, frozenset[str]]
_NO_VALUES: Final[Values] = {}


class KnownTrigger(NamedTuple):
    """A trigger, as far as a task is compared with it.

    Attributes:
        signal: its signal.
        conditions: those under which it was seen, each apart and as `values_of` reads them.
    """

    signal: str
    conditions: tuple[Values, ...] = ()

    @classmethod
    def of(cls, signal: str, conditions: Iterable[Any]) -> "KnownTrigger":
        """Return a trigger with conditions as JSON has them."""
        return cls(signal, tuple(map(values_of, conditions)))


def fit_of_record(asked: Values, triggers: Iterable[KnownTrigger], task: str | None) -> Fit:
    """Return how far the conditions of a task agree with those of a record.

    Texts are compared without case, and a number equals its text, so that conditions given on a
    command line agree with recorded ones. A list stands for any of its values. null tells nothing.

    Of several triggers those count whose signal fits the task's text best, all of them where none
    does. Of these, and of several conditions of one trigger, the best one counts: the record was
    used under each of them.

    Args:
        asked: the conditions of the task, as `values_of` reads them.
        triggers: those of the record.
        task: the text of the task, if any.
    """
    known = _known(triggers, task)
    return max((_compared(asked, each) for each in known), default=UNKNOWN)


def other_conditions(
    asked: Values, triggers: Iterable[KnownTrigger], task: str | None
) -> list[tuple[str, str]]:
    """Return what contradicts the conditions of a task: names, each with its known value.

    Args:
        asked: the conditions of the task.
        triggers: those of a record that the task's conditions contradict.
        task: the text of the task, if any.
    """
    known = _known(triggers, task)
    closest = max(known, key=lambda each: _compared(asked, each), default=_NO_VALUES)
    return [
        (name, ", ".join(sorted(found)))
        for name, found in sorted(closest.items())
        if name in asked and asked[name].isdisjoint(found)
    ]


def _known(triggers: Iterable[KnownTrigger], task: str | None) -> list[Values]:
    return [
        values
        for trigger in _about(tuple(triggers), task)
        # A trigger that was seen without conditions tells nothing about them.
        for values in (trigger.conditions or (_NO_VALUES,))
    ]


def parted(values: Mapping[_Key, float], fits: Mapping[_Key, Fit]) -> dict[_Key, float]:
    """Return values in an order by conditions first, then by their former place.

    What the conditions say nothing about keeps its value. What agrees better is raised above all
    that agrees less, and at most to 1; what contradicts more is lowered below all that contradicts
    less, and at least to 0.

    Args:
        values: what entries are ranked by, 0..1.
        fits: how far the conditions agree with each; those that are missing are unknown.
    """
    by_fit: dict[Fit, list[_Key]] = {}
    for key in values:
        by_fit.setdefault(fits.get(key, UNKNOWN), []).append(key)
    parts = {key: values[key] for key in by_fit.get(UNKNOWN, ())}
    for fit in sorted(fit for fit in by_fit if fit > UNKNOWN):
        highest = max(parts.values(), default=0.0)
        parts |= {key: highest + (1.0 - highest) * values[key] for key in by_fit[fit]}
    for fit in sorted((fit for fit in by_fit if fit < UNKNOWN), reverse=True):
        lowest = min(parts.values(), default=1.0)
        parts |= {key: lowest * values[key] / 2.0 for key in by_fit[fit]}
    return parts


def _about(triggers: Sequence[KnownTrigger], task: str | None) -> Sequence[KnownTrigger]:
    if not task or len(triggers) < 2:
        return triggers
    similar = [similarity(task, (trigger.signal,)) or 0.0 for trigger in triggers]
    best = max(similar)
    return [each for each, found in zip(triggers, similar, strict=True) if found == best]


def _compared(asked: Values, known: Values) -> Fit:
    shared = asked.keys() & known.keys()
    agreeing = sum(not asked[name].isdisjoint(known[name]) for name in shared)
    return Fit(agreeing - len(shared), agreeing)


def values_of(conditions: Any) -> Values:  # noqa: ANN401 - whatever JSON the agents gave
    """Return conditions as they are compared: by name, the values that they may have."""
    if isinstance(conditions, str):
        # Prose: that two texts differ does not say that they contradict each other.
        text = _scalar(conditions)
        return {f"{_THE_WHOLE}:{text}": frozenset({text})}
    values: dict[str, frozenset[str]] = {}
    for name, found in _named(conditions, _THE_WHOLE, _DEEPEST):
        values[name] = values.get(name, frozenset()) | found
    return values


def _named(value: Any, name: str, depth: int) -> Iterator[tuple[str, frozenset[str]]]:  # noqa: ANN401 - as above
    if value is None:
        return
    if isinstance(value, dict) and depth:
        for key, part in value.items():
            path = f"{name}.{key}" if name else str(key)
            yield from _named(part, path.strip().casefold(), depth - 1)
    elif isinstance(value, (list, tuple)):
        found = frozenset(_scalar(each) for each in value if each is not None)
        if found:
            yield name, found
    else:
        yield name, frozenset({_scalar(value)})


def _scalar(value: Any) -> str:  # noqa: ANN401 - as above
    if isinstance(value, str):
        return value.strip().casefold()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True)
