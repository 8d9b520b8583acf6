"""Recommended procedures: those that the successes of similar tasks speak for.

What is said must be more than chance: of a procedure with votes the similar tasks that succeeded
used it more often than those that failed, by an exact test; of one that such tasks go better with,
see `learning/advice/estimates/estimates`. And it must be a recipe, see `learning/advice/recipes`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, TypeVar

from trackrecord.learning.advice.lessons.chance import Stratum, chance_of
from trackrecord.learning.advice.past.votes import Voted
from trackrecord.learning.advice.texts import Gain, ProcedureUsage, gain_line, procedure_line
from trackrecord.learning.competences.episodes.signatures import signature_of
from trackrecord.learning.text.language import LANGUAGES, Language

from ..documents.advice_document import AdviceDocument, Expected, ProcedureEntry
from ..documents.rankings_document import RankedProcedure
from .expectation import runs_of
from .inputs import LEAST_PROBABLE, PromptInputs

ProcedureBasis = Literal["votes", "tools"]
_Recommended = tuple[RankedProcedure, float, ProcedureBasis]
_Counts = TypeVar("_Counts", ProcedureUsage, Gain)

# What fewer of the votes speak for may be looked at, and is not handed out.
_LEAST_SHARE: Final = 0.5
# The successes of one task may be its own.
_LEAST_TASKS: Final = 2
# That successes used it more often than failures must be less probable than this by chance, for it
# is asked of one task after another.
_CHANCE: Final = 0.01
_MOST: Final = 2


def recommended_procedures(known: PromptInputs) -> list[_Recommended]:
    """Return the few procedures that are worth recommending for a task, best first.

    Those with most votes of similar successes come first, then those with which such tasks
    surely succeed more often than otherwise. A procedure that the failures of similar tasks used as
    often is not recommended: its successes only say that the tasks were easy.

    Returns:
        Each procedure with its relevance, and what that follows from.
    """
    if known.advice is None:
        return []
    voted: list[_Recommended] = [
        (each, each.score, "votes") for each in _voted(known, known.advice)
    ]
    voted.sort(key=lambda each: known.procedures[each[0].id].is_outranked)
    ids = {each.id for each, _, _ in voted}
    better = [each for each in _better(known) if each[0].id not in ids]
    return [*voted, *better][:_MOST]


def _voted(known: PromptInputs, advice: AdviceDocument) -> Iterator[RankedProcedure]:
    votes = known.expectation.votes
    for voted in _by_conditions(known, votes.ranked)[:_MOST]:
        signature = signature_of(voted.tools)
        entry = known.procedures.get(signature)
        if voted.share < _LEAST_SHARE or entry is None or not entry.is_recipe:
            continue
        usage = _usage_of(known, advice, voted.tools)
        if (
            voted.texts >= _LEAST_TASKS
            and _tells(usage)
            and known.can_use(voted.tools)
            and signature not in known.document.disputed
            and not _is_refuted(known, entry)
        ):
            yield _procedure(voted.tools, voted.share, procedure_line, usage)


def _by_conditions(known: PromptInputs, ranked: Sequence[Voted]) -> Sequence[Voted]:
    """Return the candidates with votes that the task's conditions do not contradict, best first."""
    if known.conditions is None:
        return ranked
    fitting = [(known.fit_of_signature(signature_of(voted.tools)), voted) for voted in ranked]
    # A stable sort: among equals the votes decide.
    fitting.sort(key=lambda each: each[0], reverse=True)
    return [voted for fit, voted in fitting if not fit.contradicts]


def _better(known: PromptInputs) -> list[_Recommended]:
    """Return procedures that such tasks surely go better with, if the task may use their tools."""
    tools = known.expectation.tools
    found: list[_Recommended] = []
    for entry, expected in _surely_better(known) if tools else ():
        relevance = min(tools.get(tool, 0.0) for tool in entry.order)
        if (
            relevance >= LEAST_PROBABLE
            and known.can_use(entry.order)
            and _is_open_to(known, entry.signature)
        ):
            gain = Gain(expected.successes, expected.runs, expected.effect or 0.0)
            score = relevance * expected.order_key
            found.append((_procedure(entry.order, score, gain_line, gain), relevance, "tools"))
    return sorted(found, key=lambda each: (-each[0].score, each[0].id))


def _is_open_to(known: PromptInputs, signature: str) -> bool:
    """Return whether a procedure is undisputed and the task's conditions do not contradict it."""
    fit = known.fit_of_signature(signature)
    return signature not in known.document.disputed and not fit.contradicts


def _surely_better(known: PromptInputs) -> Sequence[tuple[ProcedureEntry, Expected]]:
    """Return the procedures that go better at the task's kind of task, with how often they do."""
    kind = known.kind

    def found(advice: AdviceDocument) -> dict[str, list[tuple[ProcedureEntry, Expected]]]:
        expected = (
            (entry, entry.expected_at(kind)) for entry in advice.procedures if entry.is_recipe
        )
        return {"all": [(entry, each) for entry, each in expected if each.is_surely_better]}

    return known.once(f"better procedures at {kind}", found)["all"]


def _usage_of(
    known: PromptInputs, advice: AdviceDocument, tools: tuple[str, ...]
) -> ProcedureUsage:
    """Count the runs of similar tasks that used exactly these tools."""
    wanted = frozenset(tools)
    won = won_with = lost = lost_with = 0
    for _, order, successes, failures in runs_of(advice, known.expectation.similar):
        used = wanted == frozenset(order)
        won, lost = won + successes, lost + failures
        won_with, lost_with = won_with + used * successes, lost_with + used * failures
    return ProcedureUsage(won_with, won, lost_with, lost)


def _tells(usage: ProcedureUsage) -> bool:
    """Return whether most successes used it, and more often than failures by more than chance."""
    if usage.used_by_successes < max(1, _LEAST_SHARE * usage.successes):
        return False
    runs = usage.successes + usage.failures
    used = usage.used_by_successes + usage.used_by_failures
    stratum = Stratum(runs, usage.successes, used, usage.used_by_successes)
    return chance_of([stratum]) <= _CHANCE


def _is_refuted(known: PromptInputs, entry: ProcedureEntry) -> bool:
    """Return whether such tasks go better without the procedure."""
    high = entry.expected_at(known.kind).effect_high
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
        lines={language: line(tools, counts, language) for language in LANGUAGES},
        **(counts._asdict() if isinstance(counts, ProcedureUsage) else {}),
    )
