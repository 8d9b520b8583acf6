"""Many outcomes on record, as learning them would leave them, written within seconds."""

from sqlalchemy import Engine, insert, text

from trackrecord.learning.numbers.decay import Bases, HalfLives
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.store.database.engine import writing
from trackrecord.store.database.upsert import insert_rows
from trackrecord.store.outcomes.days import recount_days
from trackrecord.store.outcomes.recorded_rules import replace_bases
from trackrecord.store.outcomes.tables import outcomes, projects
from trackrecord.store.patterns.tables import observations, patterns

PROJECT_ID = 1
PATTERN_ID = 1
SLUG = "plan"
_HALF_LIFE_DAYS = 90.0
_CHUNK = 10_000
# As large as the outcomes that agents report.
_BODY = b'{"task_id":"t","success":true,"patterns":["plan"]}' + b" " * 650
_VERDICTS = ((Verdict.HELPFUL, 1.0), (Verdict.HELPFUL, 0.8), (Verdict.NEUTRAL, 0.5),
             (Verdict.HARMFUL, 0.1))  # fmt: skip


def record_outcomes(engine: Engine, count: int, *, now: float) -> None:
    """Record outcomes a second apart, the last one now, each with its observation.

    Args:
        engine: an empty store.
        count: how many.
        now: when the last one was received, seconds since the epoch.
    """
    with writing(engine) as connection:
        connection.execute(
            insert(projects).values(
                id=PROJECT_ID, name="default", revision=1, outcomes=count, successes=0
            )
        )
        replace_bases(
            connection, PROJECT_ID, Bases(HalfLives(_HALF_LIFE_DAYS, _HALF_LIFE_DAYS), now)
        )
        connection.execute(
            insert(patterns).values(
                id=PATTERN_ID, project_id=PROJECT_ID, slug=SLUG, kind="named", content="Plan",
                helpful=count // 2, neutral=count // 4, harmful=count // 4,
                helpful_sum=count / 2, harmful_sum=count / 4, reported_inverted=False,
            )
        )  # fmt: skip
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
            seen.append((PATTERN_ID, at, number + 1, at, verdict.value, score > 0.5, None))
        with writing(engine) as connection:
            insert_rows(connection, outcomes, recorded, rows)
            insert_rows(connection, observations, tuple(observations.c), seen)
    with writing(engine) as connection:
        recount_days(connection, PROJECT_ID)
    # Autovacuum does this by itself, some time later.
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
