"""The keys that lists can be sorted by: the same for the command line, HTTP and the page.

Nothing is imported here but what an order needs: options name the keys in their help. The keys of
a list that is declared in `trackrecord.resources` are declared with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trackrecord.resources.paging import Sorting

if TYPE_CHECKING:
    from trackrecord.inflight.errors import TaskError
    from trackrecord.resources.competences import RecordChange
    from trackrecord.resources.criteria import CriterionFeedbackAnswer
    from trackrecord.store.competences.runs import StoredRun

    from .news import News
    from .tokens import KnownToken

CRITERION_FEEDBACK: Final[Sorting[CriterionFeedbackAnswer]] = Sorting(
    "entries",
    lambda each: f"{each.criterion} {each.outcome_id or each.feedback_id}",
    {
        "name": lambda each: each.criterion,
        "verdict": lambda each: each.verdict,
        "value": lambda each: each.value,
        "ended": lambda each: each.ended_at,
        "received": lambda each: each.received_at,
    },
)
RECORD_CHANGES: Final[Sorting[RecordChange]] = Sorting(
    "changes",
    lambda each: each.action,
    {
        "at": lambda each: each.at,
        "action": lambda each: each.action,
        "actor": lambda each: each.actor,
        "version": lambda each: each.version,
    },
)
ERRORS: Final[Sorting[TaskError]] = Sorting(
    "errors",
    lambda each: each.id,
    {
        "id": lambda each: each.id,
        "task": lambda each: each.task_id or None,
        "type": lambda each: each.type,
        "tool": lambda each: each.tool_name or None,
        "at": lambda each: each.at,
    },
)
NEWS: Final[Sorting[News]] = Sorting(
    "pieces of news",
    lambda each: f"{each.kind} {each.subject}",
    {
        "at": lambda each: each.at,
        "kind": lambda each: each.kind.value,
        "subject": lambda each: each.subject or None,
    },
)
CONSOLIDATION_RUNS: Final[Sorting[StoredRun]] = Sorting(
    "runs",
    lambda each: str(each.started_at),
    {
        "started": lambda each: each.started_at,
        "took": lambda each: each.duration_ms,
        "episodes": lambda each: each.episodes_read,
    },
)
TOKENS: Final[Sorting[KnownToken]] = Sorting(
    "tokens",
    lambda each: each.id,
    {
        "id": lambda each: each.id,
        "name": lambda each: each.name or None,
        "project": lambda each: each.project,
        "permission": lambda each: each.permission.value,
        "created": lambda each: each.created_at,
        "last-used": lambda each: each.last_used_at,
        "revoked": lambda each: each.revoked_at,
    },
)
