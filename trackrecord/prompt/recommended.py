"""Recommended procedures: those that the successes of similar tasks speak for."""

from typing import Final

from trackrecord.learning.advice.texts import Usage, procedure_line
from trackrecord.learning.advice.votes import NEEDS_MORE_BELOW, Voted
from trackrecord.learning.competences.episodes import signature_of

from .advice_document import AdviceDocument
from .document import RankedProcedure
from .expectation import runs_of
from .known import Known

# One success may have been luck.
_LEAST_SUCCESSES: Final = 2
_MOST: Final = 2
_LANGUAGES: Final = ("en", "zh")


def recommended_procedures(known: Known) -> list[RankedProcedure]:
    """Return the few procedures with most votes of similar successes, best first.

    A procedure that the failures of similar tasks used as often is not recommended: its successes
    only say that the tasks were easy.
    """
    votes = known.expectation.votes
    if known.advice is None or votes.needs_more:
        return []
    found = []
    for voted in votes.ranked[:_MOST]:
        usage = _usage_of(known, voted.tools, is_part=votes.by_tools)
        is_voted = voted.tools and voted.share >= NEEDS_MORE_BELOW
        if is_voted and _tells(usage) and not _is_refuted(known.advice, voted):
            found.append(_procedure(voted, usage))
    return found


def _usage_of(known: Known, tools: tuple[str, ...], *, is_part: bool) -> Usage:
    """Count the similar tasks that used exactly these tools, or these among others."""
    assert known.advice is not None  # noqa: S101 - for type checkers
    wanted = frozenset(tools)
    won = won_with = lost = lost_with = 0
    for _, order, successes, failures in runs_of(known.advice, known.expectation.similar):
        used = wanted <= frozenset(order) if is_part else wanted == frozenset(order)
        won, lost = won + successes, lost + failures
        won_with, lost_with = won_with + used * successes, lost_with + used * failures
    return Usage(won_with, won, lost_with, lost)


def _tells(usage: Usage) -> bool:
    """Return whether successes used it more often than failures did."""
    if usage.used_by_successes < _LEAST_SUCCESSES:
        return False
    if not usage.failures:
        return True
    return usage.used_by_successes * usage.failures > usage.used_by_failures * usage.successes


def _is_refuted(advice: AdviceDocument, voted: Voted) -> bool:
    """Return whether such tasks go better without the procedure."""
    if voted.procedure is None:
        return False
    high = advice.procedures[voted.procedure].expected.effect_high
    return high is not None and high < 0


def _procedure(voted: Voted, usage: Usage) -> RankedProcedure:
    return RankedProcedure(
        id=signature_of(voted.tools),
        tools=voted.tools,
        score=voted.share,
        lines={
            language: procedure_line(voted.tools, usage, language) for language in _LANGUAGES
        },
        **usage._asdict(),
    )
