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
from importlib import import_module
from typing import Final

from .process.forking import not_while_forking
from .process.version import __version__ as __version__

# Where the public names are: each is imported when it is first used. Type checkers read them from
# the stub beside this file, which `python -m tests.support.public_stub` makes.
_NAMES: Final = {
    "trackrecord.artifacts.client": "artifact summarise",
    "trackrecord.artifacts.pages": "Page",
    "trackrecord.artifacts.wrapping": "summarised",
    "trackrecord.inflight.classification": "classify classify_failure",
    "trackrecord.prompt.candidates.candidate": "Candidate",
    "trackrecord.prompt.candidates.rank": "rank",
    "trackrecord.prompt.candidates.select": "select",
    "trackrecord.resources.experience.commands": (
        "dismiss_command list_commands restore_command show_command"
    ),
    "trackrecord.resources.experience.competences": (
        "add_competence list_competences select_competences show_competence"
    ),
    "trackrecord.resources.experience.criteria": "list_criteria show_criterion weigh",
    "trackrecord.resources.experience.lessons": (
        "dismiss_lesson list_lessons restore_lesson show_lesson"
    ),
    "trackrecord.resources.experience.memories": (
        "add_memory confirm_memory forget_memory list_memories recall reject_memory "
        "show_memory similar_tasks"
    ),
    "trackrecord.resources.experience.patterns": (
        "deprecate_pattern list_patterns promote_pattern reset_pattern show_pattern tag_pattern"
    ),
    "trackrecord.resources.figures.benchmark": "benchmark_gate benchmark_run benchmark_runs",
    "trackrecord.resources.figures.effect": "effect",
    "trackrecord.resources.figures.explanations": "explain explain_procedure explain_run",
    "trackrecord.resources.operation.dead_letters": (
        "discard_dead_letters list_dead_letters replay_dead_letters"
    ),
    "trackrecord.resources.operation.news": "list_news",
    "trackrecord.resources.operation.projects": "list_projects",
    "trackrecord.resources.reports.artifacts": "list_artifacts",
    "trackrecord.resources.reports.feedback": "give_feedback list_feedback",
    "trackrecord.resources.reports.kinds": "list_kinds",
    "trackrecord.resources.reports.runs": "list_runs show_run",
    "trackrecord.resources.reports.strategies": "strategies",
    "trackrecord_capture.forgetting.call": "aforget forget",
    "trackrecord_producers.attempts.attempt": "Attempt attempt current_attempt",
    "trackrecord_producers.attempts.errors_in_flight": (
        "dropped_errors error_context error_stats list_errors record_error resolve_error"
    ),
    "trackrecord_producers.bodies.outcome_fields": (
        "AttemptFields CostFields OutcomeFields ProcessFields ToolCallFields TriggerFields"
    ),
    "trackrecord_producers.delivery.stats": "Stats",
    "trackrecord_producers.prompting.context_call": "context",
    "trackrecord_producers.prompting.failure_call": "after_failure",
    "trackrecord_producers.prompting.rankings_call": "rankings",
    "trackrecord_producers.publishing.feedback_call": "feedback",
    "trackrecord_producers.publishing.memory_call": "remember",
    "trackrecord_producers.publishing.publish": "dropped flush publish spool stats",
}
_HOMES: Final = {name: home for home, names in _NAMES.items() for name in names.split()}
# What waits for the store, Redis or a disk has a form for event loops, with an "a" in front.
_WAIT: Final = {
    "after_failure", "artifact", "context", "error_context", "error_stats", "flush", "list_errors",
    "rankings", "record_error", "resolve_error", "spool", "summarise",
}  # fmt: skip
_FORMS: Final = {
    f"a{name}": name
    for name, home in _HOMES.items()
    if name in _WAIT or home.startswith("trackrecord.resources.")
}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return sorted({*_HOMES, *_FORMS})
    if name in _HOMES:
        value = _imported(_HOMES[name], name)
    elif name in _FORMS:
        from .process.async_calls import PublicCall, awaited

        value = awaited(PublicCall(_FORMS[name]))
    else:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    globals()[name] = value
    return value


def _imported(home: str, name: str) -> object:
    if (value := getattr(sys.modules.get(home), name, None)) is None:
        # A child forked in the middle of this import could never finish it.
        with not_while_forking():
            value = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    """List the public names: what is imported here for other reasons is not for agents."""
    return sorted({*_HOMES, *_FORMS, *(name for name in globals() if name[:2] == "__")})


# Publishing is imported with the package: a program expects imports to take time, and the first
# `publish()` not to. Whatever else it needs is imported by the thread that writes. Most commands of
# the command line publish nothing.
if "trackrecord_cli" not in sys.modules:
    import trackrecord_producers.publishing.publish  # noqa: F401 - needs the names above
