"""Rules from a caller's partial values: missing ones keep their defaults."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from trackrecord.errors import SettingsError

from .rules import ContextRules

Given = ContextRules | Mapping[str, Any] | None

DEFAULT_RULES: Final = ContextRules()

# {"weights": {"phase": 2}} means phase_weight, {"tokenRatios": {"code": 0.5}} means code_ratio.
_GROUPS: Final = {"weights": "_weight", "token_ratios": "_ratio"}
# {"decision_decay": {"mode": "linear"}} means age_decay.
_DECAY: Final = "decision_decay"
_OF_DECAY: Final = {
    "mode": "age_decay",
    "half_life_hours": "half_life_hours",
    "max_age_hours": "max_age_hours",
}
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAMES: Final = frozenset(field.name for field in fields(ContextRules))


def rules_from(given: Given, usual: ContextRules = DEFAULT_RULES) -> ContextRules:
    """The rules that are meant.

    Args:
        given: rules, or some of their numbers by name, in snake_case or camelCase; the weights may
            stand together under `weights`, the ratios under `token_ratios`, and how decisions age
            under `decision_decay` as `mode`, `half_life_hours` and `max_age_hours`.
        usual: what holds where nothing is given.

    Raises:
        SettingsError: a name is unknown, a value is none, or two values of one rule differ.
    """
    if given is None:
        return usual
    if isinstance(given, ContextRules):
        return given
    if not isinstance(given, Mapping):
        message = f"the rules of a ranking are an object, not {type(given).__name__}"
        raise SettingsError(message)
    said: dict[str, Any] = {}
    for name, value in _flat(given):
        if said.setdefault(name, value) != value:
            message = f"{name} is given twice, as {said[name]!r} and as {value!r}"
            raise SettingsError(message)
    try:
        return replace(usual, **said)
    except ValueError as error:
        raise SettingsError(str(error)) from None


def _flat(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in given.items():
        name = _snake_case(key)
        if value is None:
            continue
        if name not in _GROUPS and name != _DECAY:
            yield name, _checked(name, value)
            continue
        if not isinstance(value, Mapping):
            message = f"{key} must be an object of names and values"
            raise SettingsError(message)
        for inner, said in value.items():
            if said is not None:
                full = _full_name(name, inner)
                yield full, _checked(full, said)


def _full_name(group: str, inner: str) -> str:
    """Return the rule that a name within a group means."""
    name = _snake_case(inner)
    if group != _DECAY:
        return name + _GROUPS[group]
    if name not in _OF_DECAY:
        message = f"there is no {inner!r} in decision_decay; there are {', '.join(_OF_DECAY)}"
        raise SettingsError(message)
    return _OF_DECAY[name]


def _checked(name: str, value: object) -> object:
    """Return a value of the right type; its bounds are checked by the rules themselves."""
    if name not in _NAMES:
        message = f"there is no {name!r} among the rules of a ranking"
        raise SettingsError(message)
    wanted = type(getattr(DEFAULT_RULES, name))
    if wanted is bool and not isinstance(value, bool):
        message = f"{name} must be true or false"
        raise SettingsError(message)
    if wanted is tuple:
        return _names_in(name, value)
    if wanted in (int, float, type(None)) and (
        isinstance(value, bool) or not isinstance(value, int if wanted is int else (int, float))
    ):
        message = f"{name} must be a {'whole ' if wanted is int else ''}number, not {value!r}"
        raise SettingsError(message)
    return value


def _names_in(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return tuple(value)
    message = f"{name} must be a list of names, not {value!r}"
    raise SettingsError(message)


def _snake_case(name: str) -> str:
    """Return snake case for camel case: halfLifeHours → half_life_hours; other names stay."""
    return name if name.islower() else _HUMP.sub("_", name).lower()
