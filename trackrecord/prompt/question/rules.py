"""The numbers that candidates are ranked and counted by, and the names of sections.

A caller may give some of the numbers: the others keep their defaults.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from math import ceil
from typing import Any, Final, Literal, get_args

from trackrecord.errors import SettingsError
from trackrecord.learning.numbers.checks import Inner, require, require_positive

# `candidates/sections` has a row for each of them.
FIELDS: Final = (
    "lessons",
    "anti_patterns",
    "failing",
    "patterns",
    "procedures",
    "competences",
    "memories",
)

# What is on record of the task itself; `context()` alone knows its task.
ERRORS: Final = "errors"
EVIDENCE: Final = "evidence"
NAMES: Final = (*FIELDS, ERRORS, EVIDENCE)
# With the section of an earlier version, in which nothing stands.
ACCEPTED: Final = frozenset({*NAMES, "past_tasks"})


def unknown_section(name: object) -> str:
    """Return one line that names an unknown section, and the known ones."""
    return f"there is no section {str(name)[:80]!r}: the sections are {', '.join(NAMES)}"


def checked_sections(names: Iterable[object]) -> None:
    """Check names of sections.

    Raises:
        ValueError: there is no such section; the message names it and those that there are.
    """
    for name in names:
        if name not in ACCEPTED:
            raise ValueError(unknown_section(name))


AgeDecay = Literal["exponential", "linear"]

WEIGHT_MOST: Final = 5.0


@dataclass(frozen=True)
class ContextRules:
    """The rules of ranking candidates, and of estimating their tokens.

    Attributes:
        enabled: whether candidates are ranked; if not, they keep their order.
        max_candidates: maximum number of an agent's own candidates that are ranked; the first ones
            given are used.
        max_learnt: maximum number of entries of each learnt kind that compete with an agent's own
            candidates.
        learnt_tokens: budget of `rankings()` in tokens where the caller gives none, and the most
            that all learnt entries together take of the budget of `context()`.
        include: the sections of what is learnt that prompts have, for example
            `["lessons", "memories"]`. If empty, all.
        exclude: the sections of what is learnt that prompts do not have.
        phase_weight: score added to candidates of the kind `phase`.
        current_task_weight: score added to candidates about the task at hand.
        blocked_task_weight: score added to candidates about a blocked task.
        recent_failure_weight: score added to candidates about a recent failure.
        recent_success_weight: score added to candidates about a recent success.
        evidence_presence_weight: score added to candidates that have evidence.
        decision_recency_weight: score added to decisions, multiplied by their age factor.
        dependency_proximity_weight: how strongly a candidate's depth in the dependencies lowers its
            score.
        pattern_weight: factor by which the scores of patterns are multiplied.
        anti_pattern_weight: factor by which the scores of anti-patterns are multiplied.
        competence_weight: factor by which the scores of competence records are multiplied.
        memory_weight: factor by which the scores of memories are multiplied.
        age_decay: how decisions lose weight with age: `exponential` or `linear`.
        half_life_hours: age in hours at which a decision counts half.
        max_age_hours: age in hours from which a decision counts nothing when `age_decay` is
            `linear`. If unset, twice the half-life.
        prose_ratio: tokens per character of prose.
        code_ratio: tokens per character of code.
        markdown_ratio: tokens per character of Markdown, headings and separators.
        json_ratio: tokens per character of JSON.
    """

    enabled: bool = True
    max_candidates: Inner[int] = 100
    max_learnt: Inner[int] = 100
    learnt_tokens: int = 400
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    phase_weight: float = 1.0
    current_task_weight: float = 2.0
    blocked_task_weight: float = 1.5
    recent_failure_weight: float = 2.5
    recent_success_weight: float = 0.5
    evidence_presence_weight: float = 1.0
    decision_recency_weight: float = 1.5
    dependency_proximity_weight: float = 1.0
    pattern_weight: float = 1.0
    anti_pattern_weight: float = 1.0
    competence_weight: float = 1.0
    memory_weight: float = 1.0
    age_decay: AgeDecay = "exponential"
    half_life_hours: float = 24.0
    max_age_hours: float | None = None
    prose_ratio: Inner[float] = 0.25
    code_ratio: Inner[float] = 0.40
    markdown_ratio: Inner[float] = 0.30
    json_ratio: Inner[float] = 0.35

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name.endswith("_weight"):
                _require_between(name, value, 0.0, WEIGHT_MOST)
            elif name.endswith("_ratio"):
                _require_between(name, value, 0.1, 1.0)
        _require_between("max_candidates", self.max_candidates, 10, 500)
        _require_between("max_learnt", self.max_learnt, 0, 1000)
        _require_between("learnt_tokens", self.learnt_tokens, 0, 100_000)
        _require_between("half_life_hours", self.half_life_hours, 1.0, 168.0)
        checked_sections((*self.include, *self.exclude))
        if self.max_age_hours is not None:
            require_positive("max_age_hours", self.max_age_hours)
        require(
            self.age_decay in get_args(AgeDecay),
            f"age_decay is one of {', '.join(get_args(AgeDecay))}, not {self.age_decay!r}",
        )

    def tokens_of(self, line: str) -> int:
        """Estimate the tokens of a line outside of the entries."""
        return ceil(len(line) * self.markdown_ratio)

    @property
    def counts_nothing_from_hours(self) -> float:
        """The age from which on a decision that fades linearly counts nothing."""
        return 2 * self.half_life_hours if self.max_age_hours is None else self.max_age_hours


def _require_between(name: str, value: float, low: float, high: float) -> None:
    require(low <= value <= high, f"{name} must lie in {low:g}..{high:g}, not {value}")


GivenRules = ContextRules | Mapping[str, Any] | None

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


def rules_from(given: GivenRules, usual: ContextRules = DEFAULT_RULES) -> ContextRules:
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
