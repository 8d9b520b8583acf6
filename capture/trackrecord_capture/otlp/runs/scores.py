"""Scores that come on their own: evaluation events."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

import msgspec

from ..encodings.span import LogRecord
from ..facts.evaluations import EVENT, evaluation_in
from ..facts.safe_facts import evaluation_without_secrets
from ..facts.values import as_text
from .runs import TraceScore

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
        named = record.event_name, record.attributes.get("event.name"), record.body
        given = _score_event(record) if EVENT in named else None
        if given is None:
            others.append(record)
        else:
            scores.append(given)
    return scores, others


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


def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode(errors="replace"), digest_size=16).hexdigest()
