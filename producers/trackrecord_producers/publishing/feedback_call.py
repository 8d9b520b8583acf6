"""The function for agents to judge one pattern, criterion or memory: fire and forget."""

from trackrecord.errors import InvalidFeedback
from trackrecord.wire.feedback import Verdict

from ..bodies.scalars import as_text
from ..delivery.ids import new_id
from .publish import encoded_fields, publish_report


def feedback(
    *,
    verdict: Verdict,
    pattern: str | None = None,
    criterion: str | None = None,
    memory: str | None = None,
    task_id: str | None = None,
    source: str | None = None,
    project: str | None = None,
    feedback_id: str | None = None,
) -> str | None:
    """Judge one pattern, criterion or memory, and go on: never raises, never waits.

    It goes the way of an outcome: a bounded queue, a background thread, Redis or the spool. It
    counts once, as the verdict of one outcome would; a memory is confirmed or rejected. Feedback on
    a pattern or a memory that the project does not know waits until the project knows it.

    Args:
        verdict: "helpful", "harmful" or "neutral".
        pattern: the name or the id of a pattern; the id of an anti-pattern names the pattern that
            it warns of, and the verdict is on that.
        criterion: the name of a criterion.
        memory: the id of a memory. Exactly one of the three is given.
        task_id: the task in which it showed.
        source: the name of the reporting agent.
        project: the project; the settings' project when not given.
        feedback_id: the idempotency key; made when not given.

    Returns:
        The feedback's id, or None when it was dropped; `dropped` counts why.
    """
    made_id = new_id()

    def body() -> bytes:
        fields = {
            "feedback_id": feedback_id or made_id, "verdict": verdict, "pattern": pattern,
            "criterion": criterion, "memory": memory, "task_id": as_text(task_id),
            "source": as_text(source), "project": project,
        }  # fmt: skip
        return encoded_fields(fields, what="feedback", refusal=InvalidFeedback)

    is_accepted = publish_report("feedback", body, names_project=project is not None)
    return (feedback_id or made_id) if is_accepted else None
