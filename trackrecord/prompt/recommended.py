"""Recommended procedures: those that the successes of similar tasks speak for."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, TypeVar

from trackrecord.learning.advice.texts import Gain, ProcedureUsage, gain_line, procedure_line
from trackrecord.learning.advice.votes import NEEDS_MORE_BELOW, Voted
from trackrecord.learning.competences.signatures import signature_of
from trackrecord.learning.text.language import Language

from .advice_document import AdviceDocument, Expected, ProcedureEntry
from .document import RankedProcedure
from .expectation import runs_of
from .known import LEAST_PROBABLE, KnownDocuments

ProcedureBasis = Literal["votes", "tools"]
_Recommended = tuple[RankedProcedure, float, ProcedureBasis]
_Counts = TypeVar("_Counts", ProcedureUsage, Gain)

# One success may have been luck.
_LEAST_SUCCESSES: Final = 2
# How much more often successes used it than failures did.
_LEAST_LIFT: Final = 1.25
_LEAST_RUNS: Final = 4
_MOST: Final = 2
_LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")


def recommended_procedures(known: KnownDocuments) -> list[_Recommended]:
    """Return the few procedures that are worth recommending for a task, best first.

    Those with most votes of similar successes come first, then those with which such tasks
    succeed more often than otherwise. A procedure that the failures of similar tasks used as often
    is not recommended: its successes only say that the tasks were easy.

    Returns:
        Each procedure with its relevance, and what that follows from.
    """
    if known.advice is None:
        return []
    voted: list[_Recommended] = [
        (each, each.score, "votes") for each in _voted(known, known.advice)
    ]
    ids = {each.id for each, _, _ in voted}
    better = [each for each in _better(known) if each[0].id not in ids]
    return [*voted, *better][:_MOST]


def _voted(known: KnownDocuments, advice: AdviceDocument) -> Iterator[RankedProcedure]:
    votes = known.expectation.votes
    if votes.needs_more:
        return
    for voted in _by_conditions(known, votes.ranked)[:_MOST]:
        usage = _usage_of(known, voted.tools, is_part=votes.by_tools)
        is_voted = voted.tools and voted.share >= NEEDS_MORE_BELOW
        if signature_of(voted.tools) in known.document.disputed:
            continue
        if is_voted and _tells(usage) and not _is_refuted(known, advice, voted):
            yield _procedure(voted.tools, voted.share, procedure_line, usage)


def _by_conditions(known: KnownDocuments, ranked: Sequence[Voted]) -> Sequence[Voted]:
    """Return what got votes without what the task's conditions contradict, best first."""
    if known.asked is None:
        return ranked
    fitting = [(known.fit_of_signature(signature_of(voted.tools)), voted) for voted in ranked]
    # A stable sort: among equals the votes decide.
    fitting.sort(key=lambda each: each[0], reverse=True)
    return [voted for fit, voted in fitting if not fit.contradicts]


def _better(known: KnownDocuments) -> list[_Recommended]:
    """Return procedures that such tasks surely go better with, if the task may use their tools."""
    tools = known.expectation.tools
    found: list[_Recommended] = []
    for entry, expected in _surely_better(known) if tools else ():
        relevance = min(tools.get(tool, 0.0) for tool in entry.order)
        if relevance >= LEAST_PROBABLE and _is_open_to(known, entry.signature):
            gain = Gain(expected.successes, expected.runs, expected.effect or 0.0)
            score = relevance * expected.order_key
            found.append((_procedure(entry.order, score, gain_line, gain), relevance, "tools"))
    return sorted(found, key=lambda each: (-each[0].score, each[0].id))


def _is_open_to(known: KnownDocuments, signature: str) -> bool:
    """Return whether nobody disputes a procedure and the task's conditions do not contradict it."""
    fit = known.fit_of_signature(signature)
    return signature not in known.document.disputed and not fit.contradicts


def _surely_better(known: KnownDocuments) -> Sequence[tuple[ProcedureEntry, Expected]]:
    """Return the procedures that go better at the task's kind of task, with how often they do."""
    kind = known.kind

    def found(advice: AdviceDocument) -> dict[str, list[tuple[ProcedureEntry, Expected]]]:
        expected = ((entry, entry.expected_at(kind)) for entry in advice.procedures if entry.order)
        return {
            "all": [
                (entry, each)
                for entry, each in expected
                if each.effect_low is not None and each.effect_low > 0 and each.runs >= _LEAST_RUNS
            ]
        }

    return known.once(f"better procedures at {kind}", found)["all"]


def _usage_of(known: KnownDocuments, tools: tuple[str, ...], *, is_part: bool) -> ProcedureUsage:
    """Count the runs of similar tasks that used exactly these tools, or these among others."""
    assert known.advice is not None  # noqa: S101 - for type checkers
    wanted = frozenset(tools)
    won = won_with = lost = lost_with = 0
    for _, order, successes, failures in runs_of(known.advice, known.expectation.similar):
        used = wanted <= frozenset(order) if is_part else wanted == frozenset(order)
        won, lost = won + successes, lost + failures
        won_with, lost_with = won_with + used * successes, lost_with + used * failures
    return ProcedureUsage(won_with, won, lost_with, lost)


def _tells(usage: ProcedureUsage) -> bool:
    """Return whether many successes used it, and clearly more of them than of the failures."""
    if usage.used_by_successes < max(_LEAST_SUCCESSES, NEEDS_MORE_BELOW * usage.successes):
        return False
    won, lost = usage.used_by_successes / usage.successes, usage.used_by_failures
    return not usage.failures or won >= _LEAST_LIFT * lost / usage.failures


def _is_refuted(known: KnownDocuments, advice: AdviceDocument, voted: Voted) -> bool:
    """Return whether such tasks go better without the procedure."""
    if voted.procedure is None:
        return False
    high = advice.procedures[voted.procedure].expected_at(known.kind).effect_high
    return high is not None and high < 0


def _procedure(
    tools: tuple[str, ...],
    score: float,
    line: Callable[[tuple[str, ...], _Counts, Language], str],
    counts: _Counts,
) -> RankedProcedure:
    return RankedProcedure(
        id=signature_of(tools),
        tools=tools,
        score=score,
        lines={language: line(tools, counts, language) for language in _LANGUAGES},
        **(counts._asdict() if isinstance(counts, ProcedureUsage) else {}),
    )
