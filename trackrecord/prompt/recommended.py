"""Recommended procedures: those that the successes of similar tasks used."""

from typing import Final

from trackrecord.learning.advice.texts import Usage, procedure_line

from .document import RankedProcedure
from .known import Known

# A procedure that fewer of the similar successes used is no recommendation, but one way of many.
_LEAST_SHARE: Final = 0.3
# One success may have been luck.
_LEAST_SUCCESSES: Final = 2
_MOST: Final = 2
_LANGUAGES: Final = ("en", "zh")


def recommended_procedures(known: Known) -> list[RankedProcedure]:
    """Return the few procedures with most votes of similar successes, best first.

    A procedure that the failures of similar tasks used as often is not recommended: its successes
    say that the tasks were easy.
    """
    if known.advice is None:
        return []
    found = []
    expected = known.expectation
    for position, usage in expected.usage.items():
        share = expected.votes.get(position, 0.0)
        entry = known.advice.procedures[position]
        is_refuted = entry.expected.effect_high is not None and entry.expected.effect_high < 0
        if entry.order and not is_refuted and share >= _LEAST_SHARE and _tells(usage):
            found.append(
                RankedProcedure(
                    id=entry.signature,
                    tools=entry.order,
                    score=share,
                    lines={
                        language: procedure_line(entry.order, usage, language)
                        for language in _LANGUAGES
                    },
                    **usage._asdict(),
                )
            )
    return sorted(found, key=lambda each: (-each.score, each.id))[:_MOST]


def _tells(usage: Usage) -> bool:
    """Whether successes used it more often than failures did."""
    if usage.used_by_successes < _LEAST_SUCCESSES:
        return False
    return usage.used_by_successes * usage.failures > usage.used_by_failures * usage.successes or (
        not usage.failures
    )
