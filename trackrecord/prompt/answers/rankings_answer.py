"""The answer of `rankings()`: objects, prompt text, and how far to trust them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

from trackrecord.learning.advice.assignment import Arm
from trackrecord.wire.exposure import ExposureBody

from ..choosing.exposure import AS_THEY_ARE, ExposurePlan, exposure_of
from ..choosing.inputs import (
    USUAL_RULES,
    ComparedBy,
    Meaning,
    PromptInputs,
    PromptRules,
    compared_by,
)
from ..choosing.procedure_choice import ChosenBy
from ..documents.advice_document import LessonEntry
from ..documents.rankings_document import (
    ProjectDocuments,
    RankedCompetence,
    RankedCriterion,
    RankedFailure,
    RankedMemory,
    RankedPattern,
    RankedProcedure,
)
from ..question.question import PromptQuestion
from ..question.rules import ContextRules
from .compose import Composition, compose

if TYPE_CHECKING:
    # Agents that do not ask for it do without.
    from .why import Why

# Those of which an answer has all, and not only those in the text.
_RANKED: Final = ("patterns", "anti_patterns", "competences", "memories")


class AnswerDetails:
    """All entries and the reasons for the lines of a text, computed when asked for.

    Args:
        composed: a prompt's text, without candidates of an agent's own; None for no text.
        budget: the budget that it was composed for.
    """

    def __init__(self, composed: Composition | None = None, budget: int | None = None) -> None:
        self._composed = composed
        self._budget = budget
        self._encoded: dict[str, Any] | None = None

    def encoded(self, encode: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the entries as JSON, which is written once for all answers with this text."""
        if self._encoded is None:
            self._encoded = encode()
        return self._encoded

    @cached_property
    def ranked(self) -> dict[str, tuple[Any, ...]]:
        """All entries by section, those that fit the task first, each group best first."""
        if self._composed is None:
            return dict.fromkeys(_RANKED, ())
        return {name: self._composed.learnt.ranked(name) for name in _RANKED}

    @cached_property
    def fitting(self) -> dict[str, frozenset[str]]:
        """By section, the ids of the entries that have to do with the task."""
        return {} if self._composed is None else self._composed.learnt.fitting

    @cached_property
    def reasons(self) -> "tuple[Why, ...]":
        """The reasons, see `why_of`."""
        if self._composed is None:
            return ()
        from .why import why_of

        return why_of(self._composed, self._budget)

    def __reduce__(self) -> "tuple[Callable[..., AnswerDetails], tuple[dict[str, Any]]]":
        # A copy has what can be asked for, and not all that competed.
        of_copy = {"ranked": self.ranked, "fitting": self.fitting, "reasons": self.reasons}
        return _copied, (of_copy,)


def _copied(values: dict[str, Any]) -> AnswerDetails:
    details = AnswerDetails()
    details.__dict__ |= values
    return details


# An agent asks the same few questions again and again.
_MOST_REMEMBERED: Final = 8

# What was composed of the same documents without a task, and why, by the question.
Compositions = dict[tuple[Any, ...], tuple[Composition, AnswerDetails]]


@dataclass(frozen=True, kw_only=True)
class PromptAnswer:
    """The answer of a call for a prompt, as far as it does not matter which call.

    Attributes:
        project: whose experience this is.
        prompt: the text for the prompt, "" when there is nothing to say.
        tokens: how many tokens the text is counted as.
        age_s: seconds since the rankings were computed, None when there are none.
        is_stale: whether these are the rankings that this process saw last, and not the newest.
        problem: why the rankings are missing or stale, None when all is well.
        arm: "given", or "withheld" for a task of the holdout, which is told nothing that is learnt
            so that others can be compared with it; None without a task id.
        is_explored: whether the order of what is learnt is a draw, so that little known entries are
            tried.
        propensity: how probable it was that the task was assigned to its arm.
        exposure: what is recorded of the task; None without a task id.
        confidence: how sure the choice of a procedure is, 0..1: the first one's share of the votes
            of similar tasks that succeeded, or how far the best competence record stands out.
        needs_more: whether that is too low to act on, so that more information is needed.
        chosen_by: "votes" or "records", None where there was nothing to choose from.
        compared_by: how the task was compared with competence records: "words" or "embeddings";
            None without a task.
    """

    project: str
    prompt: str = ""
    tokens: int = 0
    age_s: float | None = None
    is_stale: bool = False
    problem: str | None = None
    arm: Arm | None = None
    is_explored: bool = False
    propensity: float = 1.0
    exposure: ExposureBody | None = None
    confidence: float = 0.0
    needs_more: bool = True
    chosen_by: ChosenBy | None = None
    compared_by: ComparedBy | None = None


def assigned_by(plan: ExposurePlan, exposure: ExposureBody | None) -> dict[str, Any]:
    """Return the fields of an answer that say how a task was assigned to its arm."""
    assignment = plan.assignment
    return {
        "arm": assignment.arm,
        "is_explored": assignment.is_explored,
        "propensity": assignment.propensity,
        "exposure": exposure,
    }


def chosen_in(composed: Composition) -> dict[str, Any]:
    """Return the fields of an answer that say how sure the choice of a procedure is."""
    choice = composed.choice
    return {
        "confidence": choice.confidence,
        "needs_more": choice.needs_more,
        "chosen_by": choice.by,
    }


@dataclass(frozen=True, kw_only=True)
class Rankings(PromptAnswer):
    """The answer of `rankings()`; see also `PromptAnswer`.

    Attributes:
        told: by section, the entries in the text, best first: "lessons", "anti_patterns",
            "failing", "patterns", "procedures", "competences" and "memories".
        criteria: the weights of criteria, by name, whatever the task and the budget; no part of the
            text. See `trackrecord.weigh`.
        left_out: how many entries did not fit the budget or the limit.
        over_budget: which of them did not fit the budget: their ids, best first.
    """

    told: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    criteria: tuple[RankedCriterion, ...] = ()
    left_out: int = 0
    over_budget: tuple[str, ...] = ()
    _details: AnswerDetails = field(default_factory=AnswerDetails, repr=False, compare=False)

    @property
    def fitting(self) -> Mapping[str, frozenset[str]]:
        """By section, the ids of the entries that fit the task; without one, the project."""
        return self._details.fitting

    @property
    def patterns(self) -> tuple[RankedPattern, ...]:
        """All recommended patterns, those that fit the task first, best first.

        One in the state "deprecated" is recommended because such tasks go better with it all the
        same, or is tried.
        """
        return self._details.ranked["patterns"]

    @property
    def anti_patterns(self) -> tuple[RankedPattern, ...]:
        """All warnings, those that fit the task first, surest first."""
        return self._details.ranked["anti_patterns"]

    @property
    def competences(self) -> tuple[RankedCompetence, ...]:
        """All competence records, those that fit the task first, best first."""
        return self._details.ranked["competences"]

    @property
    def memories(self) -> tuple[RankedMemory, ...]:
        """All memories, those that have to do with the task first, best first."""
        return self._details.ranked["memories"]

    @property
    def lessons(self) -> tuple[LessonEntry, ...]:
        """The lessons from tool calls in the text, best first."""
        return self.told.get("lessons", ())

    @property
    def failing(self) -> tuple[RankedFailure, ...]:
        """The tool procedures in the text that no run succeeded with, surest first."""
        return self.told.get("failing", ())

    @property
    def procedures(self) -> tuple[RankedProcedure, ...]:
        """The tool procedures in the text that successes of similar tasks used, best first."""
        return self.told.get("procedures", ())

    @property
    def memory_ids(self) -> tuple[str, ...]:
        """The ids of the memories in the text, for the outcome of a task that used them."""
        return tuple([memory.id for memory in self.told.get("memories", ())])

    @property
    def details(self) -> AnswerDetails:
        """The part that all answers with this text have in common."""
        return self._details

    @property
    def why(self) -> "tuple[Why, ...]":
        """Return why each line is in the text, and why the best ten others are not."""
        return self._details.reasons

    @classmethod
    def empty(cls, project: str, *, problem: str | None) -> Self:
        """Return an empty answer with its reason."""
        return cls(project=project, problem=problem)


def answer_from(
    question: PromptQuestion,
    known: ProjectDocuments,
    rules: PromptRules = USUAL_RULES,
    *,
    now: float,
    exposure_plan: ExposurePlan = AS_THEY_ARE,
    meaning: Meaning | None = None,
    made: Compositions | None = None,
) -> Rankings:
    """Choose the entries that fit.

    Args:
        question: what is asked for.
        known: the project's documents; without rankings the answer is empty.
        rules: what is chosen by.
        now: seconds since the epoch.
        exposure_plan: what is withheld from the task, and tried on it.
        meaning: how similar the task's embedding is to those of competence records.
        made: what was composed of these documents before.
    """
    document, problem = known.document, question.with_(known.problem)
    if document is None:
        return Rankings.empty(question.project, problem=problem)
    found = _composed(
        PromptInputs(question, document, known.advice, rules, exposure_plan, meaning), made
    )
    composed, details = found
    selection, learnt = composed.selection, composed.learnt
    names = composed.taken_names if exposure_plan.task_id is not None else ()
    of_all: dict[str, Any] = {
        "project": question.project,
        # Also for a task that is withheld advice: both arms are to be judged alike.
        "criteria": document.criteria,
        "age_s": max(0.0, now - document.computed_at),
        "is_stale": known.problem is not None,
        "problem": problem,
        **assigned_by(exposure_plan, exposure_of(exposure_plan, document, names)),
    }
    if exposure_plan.assignment.is_withheld:
        return Rankings(**of_all)
    return Rankings(
        **of_all,
        told=composed.taken_entries,
        prompt=composed.written(question.wording, question.language),
        tokens=selection.tokens,
        left_out=learnt.left_out + len(selection.left_out),
        over_budget=composed.left_out_names,
        **chosen_in(composed),
        compared_by=compared_by(question.task, meaning),
        _details=details,
    )


def _composed(known: PromptInputs, made: Compositions | None) -> tuple[Composition, AnswerDetails]:
    question, rules = known.question, known.rules.context
    most = _most(question, rules)
    key = rules, most, question.budget, question.language, question.sections, question.source
    # Without a task all follows from the documents, which seldom change between two prompts.
    is_usual = not (question.task or known.exposure_plan.draws or question.conditions is not None)
    seen = made if is_usual else None
    found = None if seen is None else seen.get(key)
    if found is None:
        composed = compose(question, known, rules, most=most)
        found = composed, AnswerDetails(composed, question.budget)
        if seen is not None and len(seen) < _MOST_REMEMBERED:
            seen[key] = found
    return found


def _most(question: PromptQuestion, rules: ContextRules) -> int | None:
    if question.limit is not None:
        return max(0, question.limit)
    # No budget has room for more.
    return None if question.budget is None else rules.max_learnt
