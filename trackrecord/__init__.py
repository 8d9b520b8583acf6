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

from importlib import import_module
from typing import TYPE_CHECKING

from .forking import not_while_forking

if TYPE_CHECKING:
    from trackrecord_producers.attempt import Attempt, attempt, current_attempt
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
    from trackrecord_producers.composing import context
    from trackrecord_producers.errors_in_flight import (
        dropped_errors,
        error_context,
        error_stats,
        list_errors,
        record_error,
        resolve_error,
    )
    from trackrecord_producers.giving_feedback import feedback
    from trackrecord_producers.handing_out import rankings
    from trackrecord_producers.outcome_fields import (
        AttemptFields,
        CostFields,
        OutcomeFields,
        ProcessFields,
        ToolCallFields,
        TriggerFields,
    )
    from trackrecord_producers.publish import dropped, flush, publish, spool, stats
    from trackrecord_producers.remembering import remember
    from trackrecord_producers.stats import Stats

    from .artifacts.client import artifact, summarise
    from .artifacts.pages import Page
    from .artifacts.wrapping import summarised
    from .calls.criteria import aweigh, weigh
    from .calls.memories import (
        aconfirm_memory,
        aforget_memory,
        arecall,
        areject_memory,
        confirm_memory,
        forget_memory,
        recall,
        reject_memory,
    )
    from .inflight.classification import classify, classify_failure
    from .prompt.candidates.candidate import Candidate
    from .prompt.candidates.rank import rank
    from .prompt.candidates.select import select

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
    "aartifact",
    "aconfirm_memory",
    "acontext",
    "aerror_context",
    "aerror_stats",
    "aflush",
    "aforget_memory",
    "alist_errors",
    "arankings",
    "arecall",
    "arecord_error",
    "areject_memory",
    "aresolve_error",
    "artifact",
    "aspool",
    "asummarise",
    "attempt",
    "aweigh",
    "classify",
    "classify_failure",
    "confirm_memory",
    "context",
    "current_attempt",
    "dropped",
    "dropped_errors",
    "error_context",
    "error_stats",
    "feedback",
    "flush",
    "forget_memory",
    "list_errors",
    "publish",
    "rank",
    "rankings",
    "recall",
    "record_error",
    "reject_memory",
    "remember",
    "resolve_error",
    "select",
    "spool",
    "stats",
    "summarise",
    "summarised",
    "weigh",
]

_HOMES = {
    "Attempt": "trackrecord_producers.attempt",
    "AttemptFields": "trackrecord_producers.outcome_fields",
    "Candidate": "trackrecord.prompt.candidates.candidate",
    "CostFields": "trackrecord_producers.outcome_fields",
    "OutcomeFields": "trackrecord_producers.outcome_fields",
    "Page": "trackrecord.artifacts.pages",
    "ProcessFields": "trackrecord_producers.outcome_fields",
    "Stats": "trackrecord_producers.stats",
    "ToolCallFields": "trackrecord_producers.outcome_fields",
    "TriggerFields": "trackrecord_producers.outcome_fields",
    "aartifact": "trackrecord_producers.awaitable",
    "aconfirm_memory": "trackrecord.calls.memories",
    "acontext": "trackrecord_producers.awaitable",
    "aerror_context": "trackrecord_producers.awaitable",
    "aerror_stats": "trackrecord_producers.awaitable",
    "aflush": "trackrecord_producers.awaitable",
    "aforget_memory": "trackrecord.calls.memories",
    "alist_errors": "trackrecord_producers.awaitable",
    "arankings": "trackrecord_producers.awaitable",
    "arecall": "trackrecord.calls.memories",
    "arecord_error": "trackrecord_producers.awaitable",
    "areject_memory": "trackrecord.calls.memories",
    "aresolve_error": "trackrecord_producers.awaitable",
    "artifact": "trackrecord.artifacts.client",
    "aspool": "trackrecord_producers.awaitable",
    "asummarise": "trackrecord_producers.awaitable",
    "attempt": "trackrecord_producers.attempt",
    "aweigh": "trackrecord.calls.criteria",
    "classify": "trackrecord.inflight.classification",
    "classify_failure": "trackrecord.inflight.classification",
    "confirm_memory": "trackrecord.calls.memories",
    "context": "trackrecord_producers.composing",
    "current_attempt": "trackrecord_producers.attempt",
    "dropped": "trackrecord_producers.publish",
    "dropped_errors": "trackrecord_producers.errors_in_flight",
    "error_context": "trackrecord_producers.errors_in_flight",
    "error_stats": "trackrecord_producers.errors_in_flight",
    "feedback": "trackrecord_producers.giving_feedback",
    "flush": "trackrecord_producers.publish",
    "forget_memory": "trackrecord.calls.memories",
    "list_errors": "trackrecord_producers.errors_in_flight",
    "publish": "trackrecord_producers.publish",
    "rank": "trackrecord.prompt.candidates.rank",
    "rankings": "trackrecord_producers.handing_out",
    "recall": "trackrecord.calls.memories",
    "record_error": "trackrecord_producers.errors_in_flight",
    "reject_memory": "trackrecord.calls.memories",
    "remember": "trackrecord_producers.remembering",
    "resolve_error": "trackrecord_producers.errors_in_flight",
    "select": "trackrecord.prompt.candidates.select",
    "spool": "trackrecord_producers.publish",
    "stats": "trackrecord_producers.publish",
    "summarise": "trackrecord.artifacts.client",
    "summarised": "trackrecord.artifacts.wrapping",
    "weigh": "trackrecord.calls.criteria",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    # A child forked in the middle of this import could never finish it.
    with not_while_forking():
        value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


# Publishing is imported with the package: a program expects imports to take time, and the first
# `publish()` not to. Whatever else it needs is imported by the thread that writes.
import trackrecord_producers.publish  # noqa: E402, F401 - needs the names above
