"""Recommended procedures: those that the successes of similar tasks speak for.

What is said must be more than chance: the successes of such tasks used it more often than their
failures, by an exact test. And most of its successes must have kept to one order of its tools.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from trackrecord.learning.advice.lessons.chance import Stratum, chance_of
from trackrecord.learning.advice.past.votes import Voted
from trackrecord.learning.advice.texts import ProcedureUsage, procedure_line
from trackrecord.learning.competences.episodes.signatures import signature_of
from trackrecord.learning.text.language import LANGUAGES

from ..documents.advice_document import AdviceDocument, ProcedureEntry
from ..documents.rankings_document import RankedProcedure
from .expectation import runs_of
from .inputs import PromptInputs

# What fewer of the successes used is one way of many.
_LEAST_SHARE: Final = 0.25
# The successes of one task may be its own.
_LEAST_TASKS: Final = 2
# That successes used one of the ways more often than failures must be less probable than this by
# chance: it is asked of each way, at one task after another.
_CHANCE: Final = 0.01
_MOST: Final = 2


def recommended_procedures(known: PromptInputs) -> list[RankedProcedure]:
    """Return the procedures that are worth recommending for a task, those of most votes first.

    A procedure that the failures of such tasks used as often is not recommended: its successes only
    say that the tasks were easy.
    """
    voted = () if known.advice is None else _voted(known, known.advice)
    return sorted(voted, key=lambda each: known.procedures[each.id].is_outranked)


def _voted(known: PromptInputs, advice: AdviceDocument) -> Iterator[RankedProcedure]:
    votes = known.expectation.votes
    for voted in _by_conditions(known, votes.ranked)[:_MOST]:
        signature = signature_of(voted.tools)
        entry = known.procedures.get(signature)
        if entry is None or not entry.is_recipe:
            continue
        usage = _usage_of(known, advice, entry)
        if (
            voted.texts >= _LEAST_TASKS
            and _tells(usage, len(votes.ranked))
            and known.can_use(voted.tools)
            and signature not in known.document.disputed
            # What was better long ago may be so no more.
            and entry.expected_at(known.kind).is_worth_recommending
        ):
            lines: dict[str, str] = {
                each: procedure_line(voted.tools, usage, each) for each in LANGUAGES
            }
            yield RankedProcedure(
                id=signature, tools=voted.tools, score=voted.share, lines=lines, **usage._asdict()
            )


def _by_conditions(known: PromptInputs, ranked: Sequence[Voted]) -> Sequence[Voted]:
    """Return the candidates with votes that the task's conditions do not contradict, best first."""
    if known.conditions is None:
        return ranked
    fitting = [(known.fit_of_signature(signature_of(voted.tools)), voted) for voted in ranked]
    # A stable sort: among equals the votes decide.
    fitting.sort(key=lambda each: each[0], reverse=True)
    return [voted for fit, voted in fitting if not fit.contradicts]


def _usage_of(known: PromptInputs, advice: AdviceDocument, entry: ProcedureEntry) -> ProcedureUsage:
    """Count the runs that used these tools: of the task's kind, or else of similar tasks."""
    part = None if known.kind is None else entry.by_kind.get(known.kind)
    if part is not None and known.kind is not None:
        whole = advice.kinds[known.kind].expected
        return ProcedureUsage(
            part.successes,
            whole.successes,
            part.runs - part.successes,
            whole.runs - whole.successes,
        )
    wanted = frozenset(entry.order)
    won = won_with = lost = lost_with = 0
    for _, order, successes, failures in runs_of(advice, known.expectation.similar):
        used = wanted == frozenset(order)
        won, lost = won + successes, lost + failures
        won_with, lost_with = won_with + used * successes, lost_with + used * failures
    return ProcedureUsage(won_with, won, lost_with, lost)


def _tells(usage: ProcedureUsage, ways: int) -> bool:
    """Return whether successes used one of several ways more often than failures, beyond chance."""
    if usage.used_by_successes < _LEAST_SHARE * usage.successes:
        return False
    runs = usage.successes + usage.failures
    used = usage.used_by_successes + usage.used_by_failures
    stratum = Stratum(runs, usage.successes, used, usage.used_by_successes)
    return ways * chance_of([stratum]) <= _CHANCE
