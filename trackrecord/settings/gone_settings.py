"""Settings of earlier versions that have gone: known by name, they change and stop nothing."""

from collections.abc import Mapping
from typing import Any, Final

from .setting_values import decoded

# By section, with blanks between them; "" has those without a section, and sections that have gone
# as a whole.
_GONE: Final[Mapping[str, str]] = {
    "": (
        "advice backoff_max_s batch_bytes description_max_chars drain_block_s drain_slice_s notify "
        "publish_batch queue_max_bytes rankings_max rankings_ttl_s refresh_every_s spans"
    ),
    "advice": "max_runs",
    "antipatterns": "examples_kept",
    "benchmark": "history_max",
    "competence": "max_arguments max_tools max_triggers",
    "context": (
        "code_ratio json_ratio markdown_ratio mask_past_tasks max_candidates max_learnt prose_ratio"
    ),
    "criteria": "feedback_shown floor little_evidence_below named_value weight_without_feedback",
    "embeddings": "batch_size prompt_timeout_s retry_after_s",
    "errors": (
        "max_in_context max_message_chars max_message_in_context max_per_project max_per_task "
        "max_stack_chars max_stack_in_context"
    ),
    "hooks": "settle_max_s settle_s",
    "http": "max_body_bytes metrics_projects",
    "lessons": "established_tasks max_lessons max_runs_shown",
    "memories": (
        "confirm_gain conflict_from max_candidates max_ranked max_text_chars min_confidence "
        "pitfall_below reject_loss relevance_weight same_from superseded_factor"
    ),
    "notify": "command events timeout_s",
    "spans": "timeout_s url",
    "texts": "limited_below max_chars",
    "traces": "keep_s max_bytes max_trace_bytes max_traces settle_s",
}
GONE: Final = {section: frozenset(names.split()) for section, names in _GONE.items()}


def is_gone(name: str, number: str = "") -> bool:
    """Return whether an earlier version had such a setting, and in its section the number."""
    return number in GONE.get(name, ()) if number else name in GONE[""]


def without_gone(given: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the settings that are left, and the names of those that have gone.

    Args:
        given: values by setting, as the sources have them.
    """
    left: dict[str, Any] = {}
    gone: list[str] = []
    for name, value in given.items():
        section = decoded(value) if name in GONE else value
        numbers = section if isinstance(section, Mapping) else {}
        out = GONE.get(name, frozenset()) & numbers.keys()
        gone += (f"{name}.{number}" for number in sorted(out))
        if name in GONE[""]:
            gone += () if out else (name,)
        elif not out:
            left[name] = value
        elif rest := {number: one for number, one in numbers.items() if number not in out}:
            left[name] = rest
    return left, tuple(gone)


def remark(gone: tuple[str, ...]) -> str | None:
    """Return the line about settings that are still written somewhere; None if there are none."""
    said = f"settings that have gone and change nothing: {', '.join(gone)}; CHANGELOG.md tells more"
    return said if gone else None
