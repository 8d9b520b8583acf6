"""Many outcomes on record, as learning them would leave them, written within seconds."""

from sqlalchemy import Engine, insert, text

from trackrecord.learning.numbers.decay import Bases, HalfLives
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.store.database.engine import writing
from trackrecord.store.database.upsert import insert_rows
from trackrecord.store.ledger.ledger import Ledger, LedgerEntry
from trackrecord.store.ledger.receipts import OUTCOME
from trackrecord.store.ledger.subjects import CRITERION, DAY_ITEM, PATTERN, cell_in, day_row
from trackrecord.store.outcomes.recorded_rules import replace_bases
from trackrecord.store.outcomes.tables import outcomes, projects

PROJECT_ID = 1
SLUG = "plan"
JUDGED = "type_safe"
_HALF_LIFE_DAYS = 90.0
_CHUNK = 10_000
# As large as the outcomes that agents report.
_BODY = b'{"task_id":"t","success":true,"patterns":["plan"]}' + b" " * 650
_VERDICTS = ((Verdict.HELPFUL, 1.0), (Verdict.HELPFUL, 0.8), (Verdict.NEUTRAL, 0.5),
             (Verdict.HARMFUL, 0.1))  # fmt: skip


def record_outcomes(engine: Engine, count: int, *, now: float) -> None:
    """Record outcomes a second apart, the last one now, each of a pattern and a criterion.

    Args:
        engine: an empty store.
        count: how many.
        now: when the last one was received, seconds since the epoch.
    """
    bases = Bases(HalfLives(_HALF_LIFE_DAYS, _HALF_LIFE_DAYS), now)
    with writing(engine) as connection:
        connection.execute(
            insert(projects).values(
                id=PROJECT_ID, name="default", revision=1, outcomes=count, successes=0
            )
        )
        replace_bases(connection, PROJECT_ID, bases)
    recorded = tuple(outcomes.c[name] for name in (
        "id", "project_id", "outcome_id", "task_id", "received_at", "ended_at", "success",
        "raw_score", "verdict", "names_criteria", "body",
    ))  # fmt: skip
    for start in range(0, count, _CHUNK):
        rows, seen = [], []
        for number in range(start, min(start + _CHUNK, count)):
            verdict, score = _VERDICTS[number % len(_VERDICTS)]
            at = now - count + number
            rows.append((number + 1, PROJECT_ID, f"o{number}", f"t{number}", at, at,
                         score > 0.5, score, verdict.value, False, _BODY))  # fmt: skip
            said = [
                (PATTERN, (SLUG, cell_in(verdict), 1, "Plan", "named")),
                (CRITERION, (JUDGED, cell_in(verdict), score, "", "")),
                (DAY_ITEM, day_row(at, score > 0.5)),
            ]
            seen.append(LedgerEntry(PROJECT_ID, at, OUTCOME, number + 1, "", said))
        with writing(engine) as connection:
            insert_rows(connection, outcomes, recorded, rows)
            ledger = Ledger(connection, {PROJECT_ID: bases})
            ledger.add(seen)
            ledger.write()
    # Autovacuum does this by itself, some time later.
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
