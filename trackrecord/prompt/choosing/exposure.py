"""The exposure of a task: its arm, the entries tried on it, and the record of both."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from trackrecord.learning.advice.assignment import Assignment, assign
from trackrecord.learning.advice.estimates.posterior import PRIOR_STRENGTH
from trackrecord.learning.advice.exploring import Draw, Prospect, promising
from trackrecord.learning.advice.rules import Explore
from trackrecord.learning.text.language import Language, both
from trackrecord.wire.exposure import MAX_ENTRIES, ExposureBody

from ..documents.advice_document import AdviceDocument, Expected
from ..documents.rankings_document import ProjectDocuments, RankingsDocument, made_once
from ..question.question import PromptQuestion

# The blank in front: behind a label in brackets it would be a link in Markdown.
TRIED: Final = both(" (little known, worth trying)", " (所知甚少,值得一试)")
TRIED_ANYWAY: Final = both(" (worth trying)", " (值得一试)")
_LONGEST_ID: Final = 256
_LEAST_MASS: Final = 1e-3


@dataclass(frozen=True)
class ExposurePlan:
    """The arm and draws of one task.

    Attributes:
        project: the task's project.
        task_id: the task; None where nothing is recorded.
        assignment: what was drawn for the task.
        draws: by field of the rankings, what is drawn of its entries; empty where nothing is tried.
    """

    project: str = ""
    task_id: str | None = None
    assignment: Assignment = field(default=Assignment())
    draws: Mapping[str, Draw] = field(default_factory=dict)

    def tried(self, name: str) -> frozenset[str]:
        """Return the ids of the little known entries of a field that are tried."""
        return self.draws[name].tried if name in self.draws else frozenset()

    def line(self, name: str, entry_id: str, line: str, language: Language) -> str:
        """Return the line of an entry that is being tried, with a mark of it."""
        is_little_known = entry_id in self.tried(name)
        return line + (TRIED if is_little_known else TRIED_ANYWAY)[language]


AS_THEY_ARE: Final = ExposurePlan()


def exposure_plan_of(
    question: PromptQuestion, known: ProjectDocuments, *, holdout: float, explore: Explore
) -> ExposurePlan:
    """Return the arm and draws of one task.

    Args:
        question: what is asked for.
        known: the project's documents. Without rankings nothing is recorded. The advice's estimates
            are drawn from where it has any, and the rankings' own counts elsewhere.
        holdout: the setting; a decision in the document goes before it.
        explore: the setting, for a question that does not say whether little known ones are tried.
    """
    document, advice, task = known.document, known.advice, question.task
    if document is None:
        return AS_THEY_ARE
    assignment = assign(
        question.project,
        task_id=question.task_id,
        task=task,
        revision=document.revision,
        holdout=holdout if document.holdout is None else document.holdout,
        explore=question.explore or explore,
    )
    if assignment.seed is None:
        return ExposurePlan(question.project, question.task_id, assignment)
    kind = _kind_of(advice, task)
    by_field = made_once(
        document, advice, "prospects", kind, lambda: _prospects(document, advice, kind)
    )
    draws = {
        name: Draw(prospects, means, assignment.seed, assignment.sharpness)
        for name, (prospects, means) in by_field.items()
    }
    return ExposurePlan(question.project, question.task_id, assignment, draws)


def exposure_of(
    exposure_plan: ExposurePlan, document: RankingsDocument, entries: Iterable[str]
) -> ExposureBody | None:
    """Return the record of a task's exposure; None without a task id.

    Args:
        exposure_plan: how the entries were handed out.
        document: the project's rankings.
        entries: the ids of those that the task got, or would have got, best first.
    """
    if exposure_plan.task_id is None:
        return None
    fitting = [name for name in entries if 1 <= len(name) <= _LONGEST_ID]
    return ExposureBody(
        project=exposure_plan.project,
        task_id=exposure_plan.task_id,
        at=time.time(),
        withheld=exposure_plan.assignment.is_withheld,
        holdout=exposure_plan.assignment.holdout,
        propensity=exposure_plan.assignment.propensity,
        revision=document.revision,
        entries=tuple(fitting[:MAX_ENTRIES]),
    )


_Prospects = dict[str, tuple[list[Prospect], dict[str, float]]]


def _kind_of(advice: AdviceDocument | None, task: str | None) -> int | None:
    if advice is None or not task:
        return None
    # Imported only where runs are counted: it takes an agent's memory.
    from .expectation import expectation_of

    return expectation_of(advice, task).kind


def _prospects(
    document: RankingsDocument, advice: AdviceDocument | None, kind: int | None
) -> _Prospects:
    """Return the promising entries and the means of all by field."""
    patterns: dict[str, Expected] = {}
    procedures: dict[str, Expected] = {}
    if advice is not None:
        patterns = {each.slug: each.expected_at(kind) for each in advice.patterns}
        procedures = {each.signature: each.expected_at(kind) for each in advice.procedures}
    all_of = {
        "patterns": [
            _prospect(each.id, patterns.get(each.id), each.decayed_helpful, each.decayed_harmful)
            for each in (*document.patterns, *document.others)
        ],
        "competences": [
            _prospect(
                each.id, procedures.get(each.signature), each.success_count, each.failure_count
            )
            for each in document.competences
        ],
    }
    return {
        name: (promising(entries), {each.id: each.mean for each in entries})
        for name, entries in all_of.items()
    }


def _prospect(name: str, expected: Expected | None, successes: float, failures: float) -> Prospect:
    """Return the distribution of an entry's rate: as estimated, or else from its own counts."""
    if expected is None:
        half = PRIOR_STRENGTH / 2
        return Prospect(name, half + successes, half + failures)
    # Nothing is drawn from a distribution without mass, as another version may have written it.
    return Prospect(name, max(expected.a, _LEAST_MASS), max(expected.b, _LEAST_MASS))
