"""From settings to what applies them: one place builds each."""

from functools import lru_cache

from .learning.outcomes.recorded_rules import RecordedRules
from .learning.strategies.catalogue import Strategy
from .learning.strategies.recogniser import Recogniser
from .settings import Settings
from .wire.scored_outcome import Appraiser


def recogniser_of(settings: Settings) -> Recogniser:
    """Knows the twelve strategies and the project's own; built once for the same ones."""
    return _recogniser(settings.strategies, settings.description_max_chars)


@lru_cache(maxsize=8)
def _recogniser(own: tuple[Strategy, ...], max_chars: int) -> Recogniser:
    return Recogniser(own, max_chars=max_chars)


def appraiser_of(settings: Settings) -> Appraiser:
    """Says what an outcome means."""
    return Appraiser(settings.scoring, recogniser_of(settings), settings.criteria)


def recorded_rules_of(settings: Settings) -> RecordedRules:
    """What recorded numbers depend on."""
    return RecordedRules(
        scoring=settings.scoring,
        criteria=settings.criteria,
        competence=settings.competence,
        strategies=settings.strategies,
        description_max_chars=settings.description_max_chars,
    )
