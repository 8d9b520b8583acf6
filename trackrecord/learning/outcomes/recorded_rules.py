"""The rules that recorded numbers were computed by, and when they must be computed again.

Maturity, inversion and weights are derived when they are read: their thresholds take effect at
once. Scores, touches and sums are recorded: a change of what they depend on needs a rebuild.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Final

from ..competences.rules import MAX_TOOLS, CompetenceRules
from ..criteria.weights import NAMED_VALUE, CriteriaRules
from ..numbers.decay import HalfLives
from ..strategies.catalogue import MAX_CHARS, Strategy
from .scoring import ScoringRules

# They were settings, and are recorded as they were: whoever had set them rebuilds once.
_FIXED: Final = {
    "competence.max_tools": MAX_TOOLS,
    "criteria.named_value": NAMED_VALUE,
    "description_max_chars": MAX_CHARS,
}


@dataclass(frozen=True)
class RecordedRules:
    """The rules that recorded numbers depend on.

    Attributes:
        scoring: how scores and verdicts are computed.
        criteria: which criteria get feedback.
        competence: which episodes belong to one procedure.
        strategies: a project's own strategies.
    """

    scoring: ScoringRules = field(default_factory=ScoringRules)
    criteria: CriteriaRules = field(default_factory=CriteriaRules)
    competence: CompetenceRules = field(default_factory=CompetenceRules)
    strategies: tuple[Strategy, ...] = ()

    def as_json(self) -> str:
        """Return the numbers as one JSON object; equal rules give the same text."""
        return self._json

    @cached_property
    def _json(self) -> str:
        # Every batch asks for it.
        return json.dumps(dict(self._numbers()), sort_keys=True, ensure_ascii=False)

    def gave(self, recorded: str) -> bool:
        """Return whether numbers recorded under those rules equal what these rules would give."""
        if recorded == self.as_json():
            return True
        then = _completed(recorded)
        return bool(then) and then == json.loads(self.as_json())

    def _numbers(self) -> Iterator[tuple[str, Any]]:
        for name, value in asdict(self.scoring).items():
            yield f"scoring.{name}", value
        yield "criteria.defaults", self.criteria.defaults
        yield "competence.keep_repeats", self.competence.keep_repeats
        yield from _FIXED.items()
        yield "strategies", [asdict(strategy) for strategy in self.strategies]


@dataclass(frozen=True)
class Recorded:
    """The known facts about the rules behind one project's recorded numbers.

    Attributes:
        rules: as `RecordedRules.as_json` gives them; "{}" when they are not known.
        mixed: whether some outcomes were learnt by other rules.
        half_lives: the half-lives of the stored sums.
    """

    rules: str
    mixed: bool
    half_lives: HalfLives


def why_rebuild(recorded: Recorded, rules: RecordedRules, half_lives: HalfLives) -> tuple[str, ...]:
    """Return the reasons for a rebuild, one line each; empty if no rebuild is due.

    Args:
        recorded: the rules behind the project's numbers.
        rules: the rules from the settings.
        half_lives: the half-lives from the settings.
    """
    return tuple(_reasons(recorded, rules, half_lives))


def _changed_half_lives(then: HalfLives, now: HalfLives) -> Iterator[str]:
    changed = {
        "maturity": (then.patterns, now.patterns),
        "criteria": (then.criteria, now.criteria),
    }
    if changed["maturity"] == changed["criteria"]:
        changed = {"decay": changed["maturity"]}
    for name, (before, after) in changed.items():
        if before != after:
            yield (
                f"{name}.half_life_days: sums were computed with {before:g}, "
                f"the setting is {after:g}"
            )


def _reasons(recorded: Recorded, rules: RecordedRules, half_lives: HalfLives) -> Iterator[str]:
    yield from _changed_half_lives(recorded.half_lives, half_lives)
    then = _completed(recorded.rules)
    now: Mapping[str, Any] = json.loads(rules.as_json())
    if not then:
        yield "the recorded numbers were learnt by an earlier version"
        return
    differing = [name for name in now if then[name] != now[name]]
    for name in then.keys() - now.keys():
        yield f"{name}: recorded with {_shown(then[name])}, a setting that has been removed"
    for name in differing:
        yield (
            "strategies: other strategies were recognised"
            if name == "strategies"
            else f"{name}: recorded with {_shown(then[name])}, the setting is {_shown(now[name])}"
        )
    if recorded.mixed and not differing:
        yield "some outcomes were learnt under rules that differ from the current settings"


def _completed(recorded: str) -> Mapping[str, Any]:
    """Return the numbers by name, empty if unknown; a later setting gets its default."""
    then: dict[str, Any] = json.loads(recorded)
    return json.loads(RecordedRules().as_json()) | then if then else then


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
