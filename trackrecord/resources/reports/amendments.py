"""Amending runs by hand: a person's verdict, or that of a system which may judge."""

import time
from collections.abc import Sequence
from typing import Any, Final, Literal

from sqlalchemy import Connection, Engine

from trackrecord.resources.declaration.resource import Answer
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.intake import learn
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.wire.join import EVIDENCE
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord.wire.outcome_scorer import scorer_of

from .runs import RunAnswer, verdict_of

Evidence = Literal["evaluator", "explicit", "tests", "heuristic"]
_GROUND: Final = "amended"


class RunAmended(Answer, frozen=True, kw_only=True):
    """The result of an amendment.

    Attributes:
        outcome_id: the run.
        before: its verdict before.
        after: its verdict since.
        stronger: the stronger evidence that the verdict on record stands by; null where it changed.
        refused: why the amendment was not recorded; null if it was.
    """

    outcome_id: str
    before: str
    after: str
    stronger: str | None
    refused: str | None = None


def amend_runs(
    engine: Engine,
    settings: DaemonSettings,
    amended: Sequence[RunAnswer],
    *,
    success: bool,
    evidence: Evidence,
    by: str,
    reason: str,
) -> list[RunAmended]:
    """Record how runs really went.

    It is written to the store: whoever may do that may judge. What agents report on the stream
    cannot claim as much.

    Args:
        engine: the store.
        settings: the rules.
        amended: the runs.
        success: whether their tasks reached their goals.
        evidence: how that is known; a verdict with stronger evidence stands.
        by: the person or the system that says so.
        reason: why; the runs keep it.
    """
    said = {
        "success": success,
        "outcome_source": evidence,
        "grounds": [{"kind": _GROUND, "says": f"{by}: {reason}"}],
        "judged_by": by,
    }
    with writing(engine) as connection:
        found = [_amend(connection, settings, run, said) for run in amended]
    # A run whose outcome was not known before may be a past task now.
    index_past_tasks(engine)
    return found


def _amend(
    connection: Connection, settings: DaemonSettings, run: RunAnswer, said: dict[str, Any]
) -> RunAmended:
    now = time.time()
    known = {
        "outcome_id": run.outcome_id,
        "project": run.project,
        "task_id": run.task_id,
        "timestamp": now,
    }
    body = encode_body(known | said)
    scored = scorer_of(settings.rules).score(
        decode_outcome(body), body, received_at=now, outcome_id=run.outcome_id
    )
    learnt = learn(connection, [scored], settings.rules, now=now)
    held = run.outcome
    wins = held.success is None or (
        EVIDENCE[said["outcome_source"]] >= EVIDENCE[held.outcome_source]
        or held.amended_by is not None
    )
    return RunAmended(
        outcome_id=run.outcome_id,
        before=verdict_of(held.success),
        after=verdict_of(said["success"] if wins else held.success),
        stronger=None if wins else held.outcome_source,
        refused="the outcome has too many entries" if learnt.refused else None,
    )
