"""The choice of a procedure: how sure it is, and whether more information is needed."""

from dataclasses import dataclass
from math import fsum
from typing import Literal

from trackrecord.learning.advice.past.votes import NEEDS_MORE_BELOW
from trackrecord.learning.competences.conditions import Fit
from trackrecord.learning.competences.episodes.signatures import signature_of
from trackrecord.learning.competences.selection import confidence_of
from trackrecord.learning.numbers.tolerance import ratio_below

from .inputs import PromptInputs
from .offer import SectionOffers
from .section_entries import competences_for

ChosenBy = Literal["votes", "records"]


@dataclass(frozen=True)
class ProcedureChoice:
    """The certainty of choosing a procedure.

    Attributes:
        confidence: 0..1.
        needs_more: whether that is too low to act on.
        by: "votes" of the successes of similar tasks, or "records": how far the best competence
            record stands out. None where nothing could be chosen.
    """

    confidence: float = 0.0
    needs_more: bool = True
    by: ChosenBy | None = None


def choice_of(known: PromptInputs, competences: SectionOffers | None = None) -> ProcedureChoice:
    """Return how sure the choice of a procedure for a task is.

    The successes of similar tasks decide as far as there are any, as in `competences select`; where
    there are none the competence records do.

    Args:
        known: the documents and the task.
        competences: the records that were offered; None where they were not asked for.
    """
    voted = _by_votes(known)
    if voted is not None:
        return ProcedureChoice(voted, voted < NEEDS_MORE_BELOW, "votes")
    offered = competences_for(known) if competences is None else competences
    if not offered.offers:
        return ProcedureChoice()
    values = {offer.entry.id: offer.value for offer in offered.offers}
    confidence = confidence_of(values, offered.fits)
    needs_more = ratio_below(confidence, known.document.needs_more_below)
    return ProcedureChoice(confidence, needs_more, "records")


def _by_votes(known: PromptInputs) -> float | None:
    """Return the best procedure's share of the votes; None without votes.

    What somebody disputes and what the task's conditions contradict is no candidate.
    """
    votes = known.expectation.votes
    if not votes.ranked:
        return None
    is_open = known.conditions is None and not known.document.disputed
    if is_open:
        return votes.confidence
    shares: dict[Fit, list[float]] = {}
    for voted in votes.ranked:
        signature = signature_of(voted.tools)
        fit = known.fit_of_signature(signature)
        if signature not in known.document.disputed and not fit.contradicts:
            shares.setdefault(fit, []).append(voted.share)
    if not shares:
        return 0.0
    total = fsum(share for found in shares.values() for share in found)
    return min(1.0, max(shares[max(shares)]) / total) if total else 0.0
