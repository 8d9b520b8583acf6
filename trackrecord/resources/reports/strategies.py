"""Strategies: what a text says of how work is divided; neither the store nor Redis is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.errors import InvalidRequest
from trackrecord.resources.declaration.checks import Text, text_problem
from trackrecord.resources.declaration.resource import Answer, Resource

if TYPE_CHECKING:
    from trackrecord.learning.strategies.catalogue import Strategy


class StrategyAnswer(Answer, frozen=True):
    """A way to divide work.

    Attributes:
        id: its id.
        name_en: its name in English.
        name_zh: its name in Chinese.
    """

    id: str
    name_en: str
    name_zh: str


STRATEGIES = Resource("strategies", "Recognise strategies.")


def strategies(text: str) -> tuple[Strategy, ...]:
    """Return the strategies that a text mentions, as they are recognised in an outcome.

    English and Chinese are understood, and a negated mention does not count. The strategies of the
    settings are recognised like the twelve that are built in.

    Args:
        text: a plan in prose; of a very long one the beginning is searched.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    if not isinstance(text, str):
        message = f"text {text_problem(text, 1)}"
        raise InvalidRequest(message)
    from trackrecord.settings.daemon_settings import load_daemon_settings
    from trackrecord.wire.outcome_scorer import recogniser_of

    return recogniser_of(load_daemon_settings().rules).recognise(text)


@STRATEGIES.offers("GET /strategies", scope="none", needs_store=False)
def find_strategies(*, text: Text) -> list[StrategyAnswer]:
    """Return the strategies that a text mentions, as they are recognised in an outcome.

    Args:
        text: a plan in prose; of a very long one the beginning is searched.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    return [StrategyAnswer(each.slug, each.name_en, each.name_zh) for each in strategies(text)]
