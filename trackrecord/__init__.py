"""A track record for a fleet of AI agents: what helps, what hurts, which procedures succeed.

Everything an agent needs is here:

    import trackrecord

    trackrecord.publish(task_id="build-4711", success=True, strategy="file-based")

    with trackrecord.attempt("build-4711") as attempt:
        attempt.tool("grep", ok=True)

    trackrecord.rankings(task="fix the build")
    trackrecord.context(task="fix the build", candidates=[...], budget=4000)
    trackrecord.error_context("build-4711")

Each call that may wait has a form for event loops, with an "a" in front: `await
trackrecord.arankings(task="fix the build")`. `trackrecord.testing` is for an agent's own tests.

Publishing is imported with the package, other names when they are first used: an agent that only
publishes pays for nothing else.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from .forking import not_while_forking

if TYPE_CHECKING:
    from trackrecord_capture.forgetting.call import aforget, forget
    from trackrecord_producers.attempts.attempt import Attempt, attempt, current_attempt
    from trackrecord_producers.attempts.errors_in_flight import (
        dropped_errors,
        error_context,
        error_stats,
        list_errors,
        record_error,
        resolve_error,
    )
    from trackrecord_producers.awaitable import (
        aartifact,
        acontext,
        aerror_context,
        aerror_stats,
        aflush,
        alist_errors,
        arankings,
        arecord_error,
        aresolve_error,
        aspool,
        asummarise,
    )
    from trackrecord_producers.bodies.outcome_fields import (
        AttemptFields,
        CostFields,
        OutcomeFields,
        ProcessFields,
        ToolCallFields,
        TriggerFields,
    )
    from trackrecord_producers.delivery.stats import Stats
    from trackrecord_producers.prompting.context_call import context
    from trackrecord_producers.prompting.rankings_call import rankings
    from trackrecord_producers.publishing.feedback_call import feedback
    from trackrecord_producers.publishing.memory_call import remember
    from trackrecord_producers.publishing.publish import dropped, flush, publish, spool, stats

    from .artifacts.client import artifact, summarise
    from .artifacts.pages import Page
    from .artifacts.wrapping import summarised
    from .async_calls import awaited
    from .calls.criteria import aweigh, weigh
    from .calls.effect import aeffect, effect
    from .calls.strategies import astrategies, strategies
    from .inflight.classification import classify, classify_failure
    from .prompt.candidates.candidate import Candidate
    from .prompt.candidates.rank import rank
    from .prompt.candidates.select import select
    from .resources.artifacts import list_artifacts
    from .resources.benchmark import benchmark_gate, benchmark_run, benchmark_runs
    from .resources.competences import (
        add_competence,
        list_competences,
        select_competences,
        show_competence,
    )
    from .resources.criteria import list_criteria, show_criterion
    from .resources.dead_letters import (
        discard_dead_letters,
        list_dead_letters,
        replay_dead_letters,
    )
    from .resources.explanations import explain, explain_procedure, explain_run
    from .resources.feedback import give_feedback, list_feedback
    from .resources.kinds import list_kinds
    from .resources.lessons import dismiss_lesson, list_lessons, restore_lesson, show_lesson
    from .resources.memories import (
        add_memory,
        confirm_memory,
        forget_memory,
        list_memories,
        recall,
        reject_memory,
        show_memory,
        similar_tasks,
    )
    from .resources.patterns import (
        deprecate_pattern,
        list_patterns,
        promote_pattern,
        reset_pattern,
        show_pattern,
        tag_pattern,
    )
    from .resources.projects import list_projects
    from .resources.runs import list_runs, show_run

    aadd_competence = awaited(add_competence)
    alist_competences = awaited(list_competences)
    aselect_competences = awaited(select_competences)
    ashow_competence = awaited(show_competence)
    alist_artifacts = awaited(list_artifacts)
    abenchmark_gate = awaited(benchmark_gate)
    abenchmark_run = awaited(benchmark_run)
    abenchmark_runs = awaited(benchmark_runs)
    alist_criteria = awaited(list_criteria)
    ashow_criterion = awaited(show_criterion)
    aexplain = awaited(explain)
    aexplain_procedure = awaited(explain_procedure)
    aexplain_run = awaited(explain_run)
    adiscard_dead_letters = awaited(discard_dead_letters)
    alist_dead_letters = awaited(list_dead_letters)
    areplay_dead_letters = awaited(replay_dead_letters)
    agive_feedback = awaited(give_feedback)
    alist_feedback = awaited(list_feedback)
    alist_kinds = awaited(list_kinds)
    adismiss_lesson = awaited(dismiss_lesson)
    alist_lessons = awaited(list_lessons)
    arestore_lesson = awaited(restore_lesson)
    ashow_lesson = awaited(show_lesson)
    aadd_memory = awaited(add_memory)
    aconfirm_memory = awaited(confirm_memory)
    aforget_memory = awaited(forget_memory)
    alist_memories = awaited(list_memories)
    arecall = awaited(recall)
    areject_memory = awaited(reject_memory)
    ashow_memory = awaited(show_memory)
    alist_projects = awaited(list_projects)
    alist_runs = awaited(list_runs)
    ashow_run = awaited(show_run)
    asimilar_tasks = awaited(similar_tasks)
    adeprecate_pattern = awaited(deprecate_pattern)
    alist_patterns = awaited(list_patterns)
    apromote_pattern = awaited(promote_pattern)
    areset_pattern = awaited(reset_pattern)
    ashow_pattern = awaited(show_pattern)
    atag_pattern = awaited(tag_pattern)

# The version of the package, too: pyproject.toml reads it from here.
__version__ = "0.1.0"

__all__ = [
    "Attempt",
    "AttemptFields",
    "Candidate",
    "CostFields",
    "OutcomeFields",
    "Page",
    "ProcessFields",
    "Stats",
    "ToolCallFields",
    "TriggerFields",
    "aadd_competence",
    "aadd_memory",
    "aartifact",
    "abenchmark_gate",
    "abenchmark_run",
    "abenchmark_runs",
    "aconfirm_memory",
    "acontext",
    "add_competence",
    "add_memory",
    "adeprecate_pattern",
    "adiscard_dead_letters",
    "adismiss_lesson",
    "aeffect",
    "aerror_context",
    "aerror_stats",
    "aexplain",
    "aexplain_procedure",
    "aexplain_run",
    "aflush",
    "aforget",
    "aforget_memory",
    "agive_feedback",
    "alist_artifacts",
    "alist_competences",
    "alist_criteria",
    "alist_dead_letters",
    "alist_errors",
    "alist_feedback",
    "alist_kinds",
    "alist_lessons",
    "alist_memories",
    "alist_patterns",
    "alist_projects",
    "alist_runs",
    "apromote_pattern",
    "arankings",
    "arecall",
    "arecord_error",
    "areject_memory",
    "areplay_dead_letters",
    "areset_pattern",
    "aresolve_error",
    "arestore_lesson",
    "artifact",
    "aselect_competences",
    "ashow_competence",
    "ashow_criterion",
    "ashow_lesson",
    "ashow_memory",
    "ashow_pattern",
    "ashow_run",
    "asimilar_tasks",
    "aspool",
    "astrategies",
    "asummarise",
    "atag_pattern",
    "attempt",
    "aweigh",
    "benchmark_gate",
    "benchmark_run",
    "benchmark_runs",
    "classify",
    "classify_failure",
    "confirm_memory",
    "context",
    "current_attempt",
    "deprecate_pattern",
    "discard_dead_letters",
    "dismiss_lesson",
    "dropped",
    "dropped_errors",
    "effect",
    "error_context",
    "error_stats",
    "explain",
    "explain_procedure",
    "explain_run",
    "feedback",
    "flush",
    "forget",
    "forget_memory",
    "give_feedback",
    "list_artifacts",
    "list_competences",
    "list_criteria",
    "list_dead_letters",
    "list_errors",
    "list_feedback",
    "list_kinds",
    "list_lessons",
    "list_memories",
    "list_patterns",
    "list_projects",
    "list_runs",
    "promote_pattern",
    "publish",
    "rank",
    "rankings",
    "recall",
    "record_error",
    "reject_memory",
    "remember",
    "replay_dead_letters",
    "reset_pattern",
    "resolve_error",
    "restore_lesson",
    "select",
    "select_competences",
    "show_competence",
    "show_criterion",
    "show_lesson",
    "show_memory",
    "show_pattern",
    "show_run",
    "similar_tasks",
    "spool",
    "stats",
    "strategies",
    "summarise",
    "summarised",
    "tag_pattern",
    "weigh",
]

_HOMES = {
    "Attempt": "trackrecord_producers.attempts.attempt",
    "AttemptFields": "trackrecord_producers.bodies.outcome_fields",
    "Candidate": "trackrecord.prompt.candidates.candidate",
    "CostFields": "trackrecord_producers.bodies.outcome_fields",
    "OutcomeFields": "trackrecord_producers.bodies.outcome_fields",
    "Page": "trackrecord.artifacts.pages",
    "ProcessFields": "trackrecord_producers.bodies.outcome_fields",
    "Stats": "trackrecord_producers.delivery.stats",
    "ToolCallFields": "trackrecord_producers.bodies.outcome_fields",
    "TriggerFields": "trackrecord_producers.bodies.outcome_fields",
    "aartifact": "trackrecord_producers.awaitable",
    "acontext": "trackrecord_producers.awaitable",
    "add_competence": "trackrecord.resources.competences",
    "add_memory": "trackrecord.resources.memories",
    "aeffect": "trackrecord.calls.effect",
    "aerror_context": "trackrecord_producers.awaitable",
    "aerror_stats": "trackrecord_producers.awaitable",
    "aflush": "trackrecord_producers.awaitable",
    "aforget": "trackrecord_capture.forgetting.call",
    "alist_errors": "trackrecord_producers.awaitable",
    "arankings": "trackrecord_producers.awaitable",
    "arecord_error": "trackrecord_producers.awaitable",
    "aresolve_error": "trackrecord_producers.awaitable",
    "artifact": "trackrecord.artifacts.client",
    "aspool": "trackrecord_producers.awaitable",
    "astrategies": "trackrecord.calls.strategies",
    "asummarise": "trackrecord_producers.awaitable",
    "attempt": "trackrecord_producers.attempts.attempt",
    "aweigh": "trackrecord.calls.criteria",
    "benchmark_gate": "trackrecord.resources.benchmark",
    "benchmark_run": "trackrecord.resources.benchmark",
    "benchmark_runs": "trackrecord.resources.benchmark",
    "classify": "trackrecord.inflight.classification",
    "classify_failure": "trackrecord.inflight.classification",
    "confirm_memory": "trackrecord.resources.memories",
    "context": "trackrecord_producers.prompting.context_call",
    "current_attempt": "trackrecord_producers.attempts.attempt",
    "deprecate_pattern": "trackrecord.resources.patterns",
    "dismiss_lesson": "trackrecord.resources.lessons",
    "discard_dead_letters": "trackrecord.resources.dead_letters",
    "dropped": "trackrecord_producers.publishing.publish",
    "dropped_errors": "trackrecord_producers.attempts.errors_in_flight",
    "effect": "trackrecord.calls.effect",
    "error_context": "trackrecord_producers.attempts.errors_in_flight",
    "error_stats": "trackrecord_producers.attempts.errors_in_flight",
    "explain": "trackrecord.resources.explanations",
    "explain_procedure": "trackrecord.resources.explanations",
    "explain_run": "trackrecord.resources.explanations",
    "feedback": "trackrecord_producers.publishing.feedback_call",
    "flush": "trackrecord_producers.publishing.publish",
    "forget": "trackrecord_capture.forgetting.call",
    "forget_memory": "trackrecord.resources.memories",
    "give_feedback": "trackrecord.resources.feedback",
    "list_competences": "trackrecord.resources.competences",
    "list_artifacts": "trackrecord.resources.artifacts",
    "list_criteria": "trackrecord.resources.criteria",
    "list_dead_letters": "trackrecord.resources.dead_letters",
    "list_errors": "trackrecord_producers.attempts.errors_in_flight",
    "list_feedback": "trackrecord.resources.feedback",
    "list_kinds": "trackrecord.resources.kinds",
    "list_lessons": "trackrecord.resources.lessons",
    "list_memories": "trackrecord.resources.memories",
    "list_patterns": "trackrecord.resources.patterns",
    "promote_pattern": "trackrecord.resources.patterns",
    "list_projects": "trackrecord.resources.projects",
    "list_runs": "trackrecord.resources.runs",
    "publish": "trackrecord_producers.publishing.publish",
    "rank": "trackrecord.prompt.candidates.rank",
    "rankings": "trackrecord_producers.prompting.rankings_call",
    "recall": "trackrecord.resources.memories",
    "record_error": "trackrecord_producers.attempts.errors_in_flight",
    "reject_memory": "trackrecord.resources.memories",
    "remember": "trackrecord_producers.publishing.memory_call",
    "reset_pattern": "trackrecord.resources.patterns",
    "replay_dead_letters": "trackrecord.resources.dead_letters",
    "resolve_error": "trackrecord_producers.attempts.errors_in_flight",
    "restore_lesson": "trackrecord.resources.lessons",
    "select": "trackrecord.prompt.candidates.select",
    "select_competences": "trackrecord.resources.competences",
    "show_competence": "trackrecord.resources.competences",
    "show_criterion": "trackrecord.resources.criteria",
    "show_lesson": "trackrecord.resources.lessons",
    "show_memory": "trackrecord.resources.memories",
    "show_pattern": "trackrecord.resources.patterns",
    "show_run": "trackrecord.resources.runs",
    "similar_tasks": "trackrecord.resources.memories",
    "spool": "trackrecord_producers.publishing.publish",
    "stats": "trackrecord_producers.publishing.publish",
    "strategies": "trackrecord.calls.strategies",
    "summarise": "trackrecord.artifacts.client",
    "summarised": "trackrecord.artifacts.wrapping",
    "tag_pattern": "trackrecord.resources.patterns",
    "weigh": "trackrecord.calls.criteria",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None and name in __all__:
        return _awaited_form(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(sys.modules.get(home), name, None)
    if value is None:
        # A child forked in the middle of this import could never finish it.
        with not_while_forking():
            value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def _awaited_form(name: str) -> object:
    """Return the form for event loops of the call that is named after the "a"."""
    from .async_calls import awaited

    call: Callable[..., object] = getattr(sys.modules[__name__], name[1:])
    value = globals()[name] = awaited(call)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


# Publishing is imported with the package: a program expects imports to take time, and the first
# `publish()` not to. Whatever else it needs is imported by the thread that writes.
import trackrecord_producers.publishing.publish  # noqa: E402, F401 - needs the names above
