"""Build the objects that apply rules, each in one place."""

from functools import lru_cache

from trackrecord.learning.rules_bundle import Rules
from trackrecord.learning.strategies.catalogue import Strategy
from trackrecord.learning.strategies.recogniser import Recogniser

from .outcome_scorer import OutcomeScorer


def recogniser_of(rules: Rules) -> Recogniser:
    """Return a recogniser of the twelve strategies and the user's own; built once for the same."""
    return _recogniser(rules.strategies, rules.description_max_chars)


@lru_cache(maxsize=8)
def _recogniser(own: tuple[Strategy, ...], max_chars: int) -> Recogniser:
    return Recogniser(own, max_chars=max_chars)


def scorer_of(rules: Rules) -> OutcomeScorer:
    """Return a scorer, which scores outcomes and finds the patterns that they touch."""
    return OutcomeScorer(rules.scoring, recogniser_of(rules), rules.criteria)
