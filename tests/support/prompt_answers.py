"""Both answers about documents that a test has at hand, by the names of a question's fields."""

from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.prompt.answers import context_answer, rankings_answer
from trackrecord.prompt.answers.own_task import UNKNOWN, OwnPart
from trackrecord.prompt.choosing.exposure import AS_THEY_ARE
from trackrecord.prompt.choosing.inputs import PromptRules
from trackrecord.prompt.documents.rankings_document import ProjectDocuments
from trackrecord.prompt.question.question import PromptQuestion, usual_sections
from trackrecord.prompt.question.rules import ContextRules

NOW = 1_800_000_000.0
RULES = ContextRules()
MEMORY_RULES = MemoryRules()


def answer_from(
    document, *, now=NOW, advice=None, rules=RULES, memory_rules=MEMORY_RULES, problem=None,
    exposure_plan=AS_THEY_ARE, **asked,
):  # fmt: skip
    """Return the answer of `rankings()` from these documents."""
    return rankings_answer.answer_from(
        _question(rules, **asked),
        ProjectDocuments(document, advice, problem),
        PromptRules(rules, memory_rules),
        now=now,
        exposure_plan=exposure_plan,
    )


def context_from(
    document, own=(), rules=RULES, *, now=NOW, advice=None, memory_rules=MEMORY_RULES, problem=None,
    exposure_plan=AS_THEY_ARE, own_task=UNKNOWN, tokenizer=None, **asked,
):  # fmt: skip
    """Return the answer of `context()` from these documents and an agent's own candidates."""
    return context_answer.context_from(
        _question(rules, **asked),
        ProjectDocuments(document, advice, problem),
        PromptRules(rules, memory_rules),
        OwnPart(own, own_task, tokenizer),
        now=now,
        exposure_plan=exposure_plan,
    )


def _question(rules, *, project="p", wanted=None, budget=None, **asked):
    wanted = usual_sections(rules) if wanted is None else wanted
    return PromptQuestion(project, budget=budget, sections=wanted, **asked)
