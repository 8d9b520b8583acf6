"""Learn the outcomes that arrive on the stream."""

import time
import uuid
from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from trackrecord.errors import StoreUnavailable
from trackrecord.learning.rules_bundle import Rules
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.amending import MOST_ENTRIES
from trackrecord.store.intake.intake import BatchChanges, learn
from trackrecord.wire.outcome import decode_outcome, decode_reported
from trackrecord.wire.outcome_scorer import OutcomeScorer, ScoredOutcome

from .entries import (
    DecodedEntry,
    EntryKind,
    IntakeContext,
    IntakeResult,
    ReceivedEntry,
    RefusedEntry,
    keep_name,
)

# It touches everything that an outcome can touch.
_BODY = b'{"task_id":"trial","success":true,"patterns":["trial"],"tool_graph":[{"tool":"trial"}]}'


def try_store(engine: Engine, rules: Rules, scorer: OutcomeScorer) -> None:
    """Learn a valid outcome, and roll it back.

    Raises:
        StoreUnavailable: the database refuses that one too: tables are missing or damaged, or
            rights are; the outcomes have to wait.
    """
    now = time.time()
    name = f"trial-{uuid.uuid4().hex}"
    faultless = scorer.score(decode_outcome(_BODY), _BODY, received_at=now, outcome_id=name)
    try:
        with writing(engine) as connection:
            learn(connection, [faultless], rules, now=now)
            connection.rollback()
    except SQLAlchemyError as error:
        message = f"the database refuses every outcome ({type(error).__name__})"
        raise StoreUnavailable(message) from error


_REFUSED = "the database refuses it"
_NO_ROOM = f"the outcome is put together from {MOST_ENTRIES} other entries, which is the most"


def _decode(body: bytes, entry: ReceivedEntry, context: IntakeContext) -> ScoredOutcome:
    outcome = decode_reported(body, max_bytes=context.settings.max_body_bytes)
    is_captured = outcome.captured_from is not None
    keep_name(context.settings.home, outcome.project, is_captured=is_captured)
    return context.scorer.score(
        outcome,
        body,
        received_at=entry.received_at,
        outcome_id=outcome.outcome_id or entry.default_id,
    )


def _take_in(
    decoded: Sequence[DecodedEntry[ScoredOutcome]], context: IntakeContext
) -> IntakeResult:
    result = IntakeResult()
    _learn(decoded, context, result)
    return result


def _learn(
    decoded: Sequence[DecodedEntry[ScoredOutcome]],
    context: IntakeContext,
    result: IntakeResult,
    *,
    is_last_try: bool = False,
) -> None:
    """Learn outcomes in one transaction; refuse those that the database cannot take."""
    rules = context.settings.rules
    try:
        with writing(context.engine) as connection:
            learnt = learn(connection, [each.report for each in decoded], rules, now=time.time())
    except SQLAlchemyError as error:
        if len(decoded) == 1 and not is_last_try:
            if not any(each.counted_as == "refused_by_database" for each in result.refused):
                # Before blaming the first one: does the database accept any?
                try_store(context.engine, rules, context.scorer)
            # Then what was wrong may be over.
            _learn(decoded, context, result, is_last_try=True)
            return
        if is_last_try:
            reason = f"{_REFUSED} ({type(error).__name__})"
            result.refused.append(decoded[0].entry.refused(reason, "refused_by_database"))
            return
        # One outcome must not hold up the others: halve until it stands alone.
        middle = len(decoded) // 2
        _learn(decoded[:middle], context, result)
        _learn(decoded[middle:], context, result)
        return
    result.add(
        IntakeResult(
            counts=Counter(
                recorded=learnt.recorded,
                amended=learnt.amended,
                duplicates=learnt.duplicates,
                forgotten=learnt.forgotten,
                too_old=learnt.too_old,
            ),
            refused=_without_room(decoded, learnt),
            projects=set(learnt.projects),
        )
    )


def _without_room(
    decoded: Sequence[DecodedEntry[ScoredOutcome]], learnt: BatchChanges
) -> list[RefusedEntry]:
    """Return the entries that the store had no room for."""
    if not learnt.refused:
        return []
    refused = {id(outcome) for outcome in learnt.refused}
    return [
        each.entry.refused(_NO_ROOM, "no_room") for each in decoded if id(each.report) in refused
    ]


OUTCOME = EntryKind("outcome", _decode, _take_in)
