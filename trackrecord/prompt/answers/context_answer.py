"""The answer of `context()`: the entries of a prompt, those left out, and the reasons."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from trackrecord.learning.text.language import Language

from ..candidates.candidate import Candidate
from ..candidates.rank import Scored
from ..choosing.exposure import AS_THEY_ARE, ExposurePlan, exposure_of
from ..choosing.inputs import USUAL_RULES, Meaning, PromptInputs, PromptRules, compared_by
from ..documents.labels import label
from ..documents.rankings_document import ProjectDocuments
from ..question.question import PromptQuestion
from .compose import Composition, compose, names_of
from .own_task import NOTHING_OWN, OwnPart, candidates_of
from .rankings_answer import PromptAnswer, assigned_by, chosen_in

Reason = Literal["budget", "share", "max_candidates", "replaced"]
# Why a candidate was left out, by its code.
_LEFT_OUT: Final[dict[Language, dict[Reason, str]]] = {
    "en": {
        "budget": "no room in the budget",
        "share": "no room in the share of its section",
        "max_candidates": "more candidates were handed in than are ranked",
        "replaced": "the agent handed in its own",
    },
    "zh": {
        "budget": "预算已满",
        "share": "所属份额已满",
        "max_candidates": "候选项超过排名上限",
        "replaced": "已由代理自己的候选项取代",
    },
}


class Considered(msgspec.Struct, frozen=True, gc=False):
    """A candidate, and whether it was taken.

    Attributes:
        id: its id.
        kind: its kind.
        rank: its place in the ranking, 1 for the best; None when it was not ranked.
        is_learnt: whether it came from the rankings, and neither from the agent nor from what is
            on record of its task, whose ids begin with "error:" and "artifact:".
        score: what it was ranked by; None when it was not ranked.
        tokens: what it counts for, its heading apart; None when it was not counted.
        reason: why it was left out, None when it was taken. `budget`: it did not fit. `share`: it
            did not fit into what learnt entries, or those of its section, may take of the budget.
            `max_candidates`: the agent handed in more than are ranked. `replaced`: the agent
            handed in one of the same kind and id.
        lang: the language of `label` and `why`.
    """

    id: str
    kind: str
    rank: int | None
    is_learnt: bool
    score: float | None = None
    tokens: int | None = None
    reason: Reason | None = None
    lang: Language = "en"

    @property
    def label(self) -> str:
        """Return the candidate's label for people: its kind in words."""
        return label(self.kind.replace("_", " "), self.lang)

    @property
    def why(self) -> str:
        """Return the reason for leaving it out, in words; "" when it was taken."""
        return "" if self.reason is None else _LEFT_OUT[self.lang][self.reason]


@dataclass(frozen=True, kw_only=True)
class Context(PromptAnswer):
    """The text of a prompt, with the candidates taken and left out; see also `PromptAnswer`.

    Attributes:
        budget: how many tokens the text was allowed; None for no limit.
        taken: the candidates that stand in the text, best first; past tasks last.
        left_out: those that do not, with the reason; those that did not fit first, best first.
        not_competing: how many entries of the rankings were not among the best of their kind.
        memory_ids: the ids of the learnt memories in the text, for the outcome of a task that used
            them.
    """

    budget: int | None
    taken: tuple[Considered, ...] = ()
    left_out: tuple[Considered, ...] = ()
    not_competing: int = 0
    memory_ids: tuple[str, ...] = ()


def context_from(
    question: PromptQuestion,
    known: ProjectDocuments,
    rules: PromptRules = USUAL_RULES,
    own: OwnPart = NOTHING_OWN,
    *,
    now: float,
    exposure_plan: ExposurePlan = AS_THEY_ARE,
    meaning: Meaning | None = None,
) -> Context:
    """Rank learnt entries and the agent's own together, and write those that fit.

    Args:
        question: what is asked for.
        known: the project's documents.
        rules: what is chosen by; of more than `max_candidates` of the agent's own candidates the
            first so many are ranked.
        own: what the agent brings, and what is on record of its task.
        now: seconds since the epoch.
        exposure_plan: what is withheld from the task, and tried on it.
        meaning: how similar the task's embedding is to those of competence records.
    """
    document = known.document
    problem = "; ".join(filter(None, (known.problem, own.task.problem))) or None
    of_task = candidates_of(own.task, own.candidates, question.sections, question.language)

    def composed_of(learnt: PromptInputs | None) -> Composition:
        return compose(
            question,
            learnt,
            rules.context,
            most=rules.context.max_learnt,
            most_learnt=rules.context.learnt_tokens,
            own=own.candidates,
            of_task=of_task,
            tokenizer=own.tokenizer,
        )

    not_learnt = (*own.candidates, *(each.candidate for each in of_task))
    exposure = composed = None
    if document is not None:
        inputs = PromptInputs(question, document, known.advice, rules, exposure_plan, meaning)
        composed = composed_of(inputs)
        exposure = exposure_of(exposure_plan, document, _learnt_names(composed, not_learnt))
    if composed is None or exposure_plan.assignment.is_withheld:
        composed = composed_of(None)
    selection, tell = composed.selection, _Teller(composed, not_learnt, question.language)
    return Context(
        project=question.project,
        prompt=selection.text,
        tokens=selection.tokens,
        budget=question.budget,
        taken=tuple(tell.of(each, None) for each in selection.taken),
        left_out=(
            *(tell.of(each, tell.reason(each)) for each in selection.left_out),
            *(tell.unranked(each, "max_candidates") for each in composed.ranking.beyond),
            *(tell.unranked(each.candidate, "replaced") for each in composed.replaced),
        ),
        not_competing=composed.learnt.left_out,
        age_s=None if document is None else max(0.0, now - document.computed_at),
        is_stale=document is not None and known.problem is not None,
        problem=question.with_(problem),
        **assigned_by(exposure_plan, exposure),
        **chosen_in(composed),
        # A task of the holdout is compared with nothing.
        compared_by=compared_by(None if composed.learnt.known is None else question.task, meaning),
        memory_ids=tuple([memory.id for memory in composed.taken_entries.get("memories", ())]),
    )


def _learnt_names(composed: Composition, not_learnt: Iterable[Candidate]) -> tuple[str, ...]:
    """Return the ids of the learnt entries in the text, best first."""
    others = {id(each) for each in not_learnt}
    return names_of(
        entry for entry in composed.selection.taken if id(entry.candidate) not in others
    )


class _Teller:
    """Knows each candidate's place, and who brought it."""

    def __init__(
        self, composed: Composition, not_learnt: Iterable[Candidate], language: Language
    ) -> None:
        # By identity: an agent's own candidate and a learnt one may have one id.
        ranked = enumerate(composed.ranking.entries, start=1)
        self._ranks = {id(each.candidate): place for place, each in ranked}
        self._not_learnt = {id(each) for each in not_learnt}
        self._over_share = composed.over_share
        self._language = language

    def reason(self, entry: Scored) -> Reason:
        """Return why a candidate that was ranked did not fit."""
        return "share" if id(entry.candidate) in self._over_share else "budget"

    def of(self, entry: Scored, reason: Reason | None) -> Considered:
        """Make the entry of a candidate that was ranked."""
        each = entry.candidate
        rank, is_learnt = self._ranks[id(each)], id(each) not in self._not_learnt
        return Considered(
            each.id, each.kind, rank, is_learnt, entry.score, entry.tokens, reason, self._language
        )

    def unranked(self, each: Candidate, reason: Reason) -> Considered:
        """Make the entry of a candidate that was not ranked."""
        is_learnt = id(each) not in self._not_learnt
        return Considered(each.id, each.kind, None, is_learnt, reason=reason, lang=self._language)
