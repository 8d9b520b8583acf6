"""The tools' work: each is a call of the Python API, with an answer in words."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

import trackrecord
from trackrecord.errors import InvalidRequest, ServerUnavailable, TrackrecordError
from trackrecord.prompt.question.rules import ContextRules
from trackrecord_producers.bodies.body import build_body
from trackrecord_producers.delivery.ids import new_id

from .arguments import (
    Entry,
    OutcomeArguments,
    RecallArguments,
    Recalled,
    RememberArguments,
    Remembered,
    Reported,
    ReportedRecallArguments,
)

if TYPE_CHECKING:
    from msgspec import Struct

    from trackrecord.prompt.answers.rankings_answer import Rankings

_PATIENCE_S: Final = 10.0
_USUAL_SOURCE: Final = "mcp"
_ID_CHARS: Final = 32
# What `new_id` returns, or a UUID.
_MADE_ID: Final = re.compile(r"[0-9a-f-]{8,64}")


class ToolAnswer(NamedTuple):
    """The answer of a tool.

    Attributes:
        text: in words.
        document: as a structure.
    """

    text: str
    document: Struct


def recall(
    project: str, arguments: RecallArguments, source: str | None, _reporter: str
) -> ToolAnswer:
    """Return what is known that has to do with a task.

    Raises:
        ServerUnavailable: Redis is away, and nothing was read before.
    """
    task_id = None
    if isinstance(arguments, ReportedRecallArguments):
        task_id = arguments.task_id or new_id()
    hint, of_hint = _hint(project, arguments)
    answer = trackrecord.rankings(
        project=project,
        task=arguments.task,
        budget=max(0, arguments.budget - of_hint),
        task_id=task_id,
        source=source,
    )
    problem = _problem(answer)
    context = "\n\n".join(filter(None, (hint, answer.prompt)))
    document = Recalled(
        project=answer.project,
        context=context,
        tokens=answer.tokens + of_hint,
        entries=_entries(answer),
        task_id=task_id,
        problem=problem,
    )
    lines = [context or _nothing(answer), problem and f"These may be out of date: {problem}."]
    lines.append(task_id and f"The task_id for report_outcome is {task_id}.")
    return ToolAnswer("\n\n".join(filter(None, lines)), document)


def _hint(project: str, arguments: RecallArguments) -> tuple[str, int]:
    """Return what is known of a command that has just failed, "" for nothing, and its tokens."""
    if not arguments.failed_command:
        return "", 0
    from trackrecord_producers.prompting.failure_call import known_of_failure

    hint = known_of_failure(arguments.failed_command, arguments.error, project=project)
    return hint, ContextRules().tokens_of(hint)


def remember(
    project: str, arguments: RememberArguments, source: str | None, _reporter: str
) -> ToolAnswer:
    """Store a memory.

    Raises:
        TrackrecordError: it is not a memory, or it was dropped.
    """
    from trackrecord.learning.text.redaction import redacted
    from trackrecord.wire.memory import checked_text

    text = checked_text(redacted(arguments.text))
    memory_id = trackrecord.remember(text, project=project, source=source or _USUAL_SOURCE)
    if memory_id is None:
        raise InvalidRequest(_dropped("memory"))
    problem = _delivery_problem()
    said = (
        f"Remembered in the project {_named(project)}, as {memory_id} if it was not known already"
    )
    document = Remembered(project=project, memory_id=memory_id, problem=problem)
    return ToolAnswer(_sentence(said, problem), document)


def report_outcome(
    project: str, arguments: OutcomeArguments, source: str | None, reporter: str
) -> ToolAnswer:
    """Publish an outcome.

    Raises:
        TrackrecordError: it is not an outcome, or it was dropped.
    """
    from trackrecord.learning.text.redaction import redacted

    texts = {
        "instruction": arguments.task,
        "strategy": arguments.strategy,
        "failure_details": arguments.failure_details,
    }
    fields = {
        # Of one task there is one report: another one amends it.
        "outcome_id": f"mcp-{sha256(arguments.task_id.encode()).hexdigest()[:_ID_CHARS]}",
        "task_id": arguments.task_id,
        "success": arguments.success,
        "project": project,
        "source": source or _USUAL_SOURCE,
        "reporter": reporter,
        "outcome_source": arguments.outcome_source,
        "memory_ids": arguments.memory_ids or None,
        **{name: redacted(text) for name, text in texts.items() if text},
    }
    # Publishing never raises: what is wrong is said here.
    build_body(dict(fields))
    outcome_id = trackrecord.publish(**fields)  # type: ignore[arg-type]  # of many types
    if outcome_id is None:
        raise InvalidRequest(_dropped("outcome"))
    how = "a success" if arguments.success else "a failure"
    problem = _delivery_problem()
    document = Reported(
        project=project, outcome_id=outcome_id, task_id=arguments.task_id, problem=problem
    )
    return ToolAnswer(
        _sentence(f"Reported as {how} in the project {_named(project)}", problem), document
    )


def in_one_line(error: TrackrecordError) -> str:
    """Return an error as an agent gets it."""
    return " ".join(str(error).split())


def _problem(answer: Rankings) -> str | None:
    """Return why the answer may be out of date; None if it is current.

    Raises:
        ServerUnavailable: there is no answer at all.
    """
    from trackrecord.prompt.reading.client import NOTHING_LEARNT

    if answer.problem in (None, NOTHING_LEARNT):
        return None
    if answer.age_s is None:
        message = f"nothing can be recalled now ({answer.problem}): go on without it"
        raise ServerUnavailable(message)
    return answer.problem


def _nothing(answer: Rankings) -> str:
    if answer.arm == "withheld":
        return "Nothing is handed out for this task: it is one that others are compared with."
    project = _named(answer.project)
    return f"Nothing that has to do with this task is known in the project {project} yet."


def _named(project: str) -> str:
    """Return a project's name for a model: its words come from the author of a repository."""
    from trackrecord.learning.text.inert import identifier

    return repr(identifier(project))


def _entries(answer: Rankings) -> list[Entry]:
    """Return the entries of the answer; ids that agents chose have the form of names.

    The id that trackrecord gives a memory stays whole: outcomes name the memory by it.
    """
    from trackrecord.learning.text.inert import identifier
    from trackrecord.prompt.candidates.sections import FEEDS

    return [
        Entry(
            section=feed.field,
            id=entry.id if _MADE_ID.fullmatch(entry.id) else identifier(entry.id),
            label=entry.label,
            score=round(entry.score, 4),
        )
        for feed in FEEDS
        for entry in answer.told.get(feed.field, ())
    ]


def _delivery_problem() -> str | None:
    """Wait until the report is safe; return the problem of its delivery, None if there is none."""
    before = trackrecord.stats().spooled
    if not trackrecord.flush(_PATIENCE_S):
        return "it waits to be delivered"
    is_spooled = trackrecord.stats().spooled > before
    return "redis is unavailable, so it waits in the spool" if is_spooled else None


def _sentence(said: str, problem: str | None) -> str:
    return f"{said}; {problem}." if problem else f"{said}."


def _dropped(what: str) -> str:
    reasons = ", ".join(trackrecord.dropped()) or "unknown"
    return f"the {what} was dropped, and the log of trackrecord says why ({reasons})"
