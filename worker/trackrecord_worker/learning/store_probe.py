"""Find out whether a refused outcome or the database itself is at fault."""

import time
import uuid

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from trackrecord.errors import StoreUnavailable
from trackrecord.learning.rules_bundle import Rules
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.intake import learn
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import OutcomeScorer

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
