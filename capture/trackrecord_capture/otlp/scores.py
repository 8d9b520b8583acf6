"""Scores that come on their own: evaluation events, and what Langfuse's clients post."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

import msgspec

from .evaluations import EVENT, evaluation_in, evaluation_of_langfuse
from .ids import SPAN_ID_DIGITS, TRACE_ID_DIGITS, usable_id
from .runs import TraceScore
from .safe_facts import evaluation_without_secrets
from .span import LogRecord
from .values import as_text

_ID_CHARS: Final = 256
_SESSION: Final = ("session.id", "gen_ai.conversation.id")


class ReportedScore(msgspec.Struct, frozen=True, kw_only=True):
    """A score and its subject.

    Attributes:
        id: its id; the same score again has the same one.
        trace: the trace; "" if it is about a session.
        session: the session; "" if it is about a trace.
        score: the score.
    """

    id: str
    trace: str
    session: str
    score: TraceScore


def score_events(
    records: Iterable[LogRecord],
) -> tuple[list[ReportedScore], list[LogRecord]]:
    """Return the scores among log records, and the other records.

    A score that says neither a trace nor a session is about nothing, and stays with the others.
    """
    scores, others = [], []
    for record in records:
        given = _score_event(record) if _is_score(record) else None
        if given is None:
            others.append(record)
        else:
            scores.append(given)
    return scores, others


def _is_score(record: LogRecord) -> bool:
    return EVENT in (record.event_name, record.attributes.get("event.name"), record.body)


def _score_event(record: LogRecord) -> ReportedScore | None:
    session = next((record.attributes[name] for name in _SESSION if name in record.attributes), "")
    if not record.trace_id and not session:
        return None
    evaluation = evaluation_in(record)
    return ReportedScore(
        id=_digest(record.trace_id, record.span_id, evaluation.name, str(record.at_ns)),
        trace=record.trace_id,
        session="" if record.trace_id else as_text(session)[:_ID_CHARS],
        score=TraceScore(span=record.span_id, evaluation=evaluation_without_secrets(evaluation)),
    )


def scores_of_langfuse(scores: Sequence[Mapping[str, Any]]) -> list[ReportedScore]:
    """Return scores as Langfuse's clients post them, without those that name nothing to score."""
    return [given for score in scores if (given := _langfuse_score(score)) is not None]


def _langfuse_score(score: Mapping[str, Any]) -> ReportedScore | None:
    trace = usable_id(as_text(score.get("traceId") or "").replace("-", ""), TRACE_ID_DIGITS)
    session = as_text(score.get("sessionId") or "")[:_ID_CHARS]
    if not trace and not session:
        return None
    span = usable_id(as_text(score.get("observationId") or ""), SPAN_ID_DIGITS)
    evaluation = evaluation_of_langfuse(score)
    told = as_text(score.get("id") or "") or evaluation.name
    return ReportedScore(
        id=_digest("langfuse", trace, session, span, told),
        trace=trace,
        session="" if trace else session,
        score=TraceScore(span=span, evaluation=evaluation_without_secrets(evaluation)),
    )


def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode(errors="replace"), digest_size=16).hexdigest()
