"""Amendments that arrive on the stream: learnt once, whatever dies, and bounded."""

import signal
import time
from typing import Any

import pytest
from sqlalchemy import Engine

from tests.support.dying import exit_code_of
from tests.worker.dying_drain import drain_until
from tests.worker.working import body, publish
from trackrecord.store.database.engine import reading
from trackrecord.store.intake import amending
from trackrecord.store.intake.amending import MOST_ENTRIES
from trackrecord.store.ledger.read import read_counts
from trackrecord.store.ledger.subjects import CLAIMED, HARMFUL, HELPFUL, PATTERN
from trackrecord.store.outcomes.projects import count_outcomes

OUTCOMES = 20


def amended(number: int, **fields: object) -> bytes:
    """An amendment that says that the task failed after all."""
    given = {"success": False, "outcome_source": "evaluator", "error_count": 9} | fields
    return body(number, patterns=None, duration_ms=None, retry_count=None, **given)


def counted(engine: Engine) -> tuple[int, int, int, int]:
    """Outcomes and successes, and how often the pattern was helpful and harmful."""
    with reading(engine) as connection:
        counts = count_outcomes(connection, None)
        (cells,) = read_counts(connection, None, PATTERN).values()
    helpful, harmful = (
        cells.get(verdict, 0) + cells.get(CLAIMED + verdict, 0) for verdict in (HELPFUL, HARMFUL)
    )
    return counts.outcomes, counts.successes, helpful, harmful


def test_an_amendment_takes_the_place_of_what_was_learnt(worker, store_settings, client, engine):
    """In the batch of its outcome or in a later one, and delivered as often as may be."""
    outcomes = [body(n) for n in range(OUTCOMES)]
    publish(client, store_settings, *outcomes, *(amended(n) for n in range(5)))
    done = worker.drain.run()
    assert (done["recorded"], done["amended"], done["duplicates"]) == (OUTCOMES, 5, 0)
    publish(client, store_settings, *(amended(n) for n in range(10)), *outcomes)
    done = worker.drain.run()
    assert (done["recorded"], done["amended"], done["duplicates"]) == (0, 5, OUTCOMES + 5)
    total, won, helpful, harmful = counted(engine)
    assert (total, won) == (OUTCOMES, OUTCOMES - 10)
    assert helpful == OUTCOMES - 10
    assert harmful <= 10


def test_what_an_outcome_has_no_room_for_is_a_dead_letter(
    worker, store_settings, client, monkeypatch
):
    """With the reason, and as it came; the others are learnt."""
    monkeypatch.setattr(amending, "MOST_ENTRIES", 5)
    many = [body(0, **{f"own{n:03}": n}) for n in range(5 + 2)]
    publish(client, store_settings, *many, body(1))
    done = worker.drain.run()
    assert (done["recorded"], done["refused"]) == (2, 2)
    letters: Any = client.xrange(store_settings.keys.dead)
    assert [fields[b"body"] for _, fields in letters] == many[-2:]
    for _, fields in letters:
        assert f"{MOST_ENTRIES} other entries" in fields[b"reason"].decode()


@pytest.mark.faults
@pytest.mark.parametrize("point", ["30", "commit", "acknowledge"])
def test_killed_while_it_amends(point, worker, store_settings, client, engine, worker_of):
    """The next worker finishes, and nothing is taken back twice."""
    publish(client, store_settings, *(body(n) for n in range(OUTCOMES)))
    worker.drain.run()
    before = counted(engine)
    publish(client, store_settings, *(amended(n) for n in range(OUTCOMES)))
    assert exit_code_of(drain_until, point, store_settings) == -signal.SIGKILL
    is_learnt = point == "acknowledge"
    assert (counted(engine) == before) is not is_learnt
    time.sleep(2 * store_settings.claim_idle_s)
    other = worker_of(store_settings)
    other.drain.take_over()
    other.drain.run()
    total, won, helpful, harmful = counted(engine)
    assert (total, won, helpful) == (OUTCOMES, 0, 0)
    assert harmful in (0, OUTCOMES)
