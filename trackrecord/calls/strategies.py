"""The call that finds strategies in a text; it needs neither the store nor Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.async_calls import awaited
from trackrecord.errors import InvalidRequest

if TYPE_CHECKING:
    from trackrecord.learning.strategies.catalogue import Strategy


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
        message = f"text must be a string, not {type(text).__name__}"
        raise InvalidRequest(message)
    from trackrecord.daemon_settings import load_daemon_settings
    from trackrecord.factories import recogniser_of

    return recogniser_of(load_daemon_settings().rules).recognise(text)


astrategies = awaited(strategies)
