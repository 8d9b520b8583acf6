"""Feedback by a person on one pattern or criterion alone."""

from trackrecord.errors import InvalidRequest
from trackrecord.resources.checks import choice_of
from trackrecord.resources.feedback import give_feedback
from trackrecord.wire.feedback import Verdict
from trackrecord_producers.delivery.ids import new_id

from ..answering import ConfirmedAction
from ..forms import Form
from ..page_request import PageRequest

_VERDICTS = ("helpful", "harmful")


def give(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Record that a pattern or a criterion helped, or hurt."""
    verdict: Verdict = choice_of("verdict", form.text("verdict"), _VERDICTS)  # type: ignore[assignment]
    pattern, criterion = form.optional("pattern"), form.optional("criterion")
    name, path = (pattern, "/patterns") if pattern else (criterion, "/criteria")
    if name is None:
        message = "name a pattern or a criterion"
        raise InvalidRequest(message)
    # The same form, sent twice, counts once.
    feedback_id = form.optional("feedback_id") or new_id()

    def do(by: str, _reason: str | None) -> str:
        given = give_feedback(
            verdict, pattern=pattern, criterion=criterion, source=by, feedback_id=feedback_id,
            project=asked.project,
        )  # fmt: skip
        said = given.feedback_id
        return f"{said}: {verdict}" if given.is_new else f"{said}: counted already"

    question = f"Say that {name} was {verdict}? It counts as the verdict of one more outcome would."
    return ConfirmedAction(
        question, f"It was {verdict}", do, asked.link_to(path, name), reason="none"
    )
