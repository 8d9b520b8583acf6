"""SIGKILL at the worst points of a batch: nothing is lost, nothing counts twice."""

import signal
import time
from typing import Any

import pytest

from tests.support.dying import exit_code_of
from tests.worker.dying_drain import drain_until
from tests.worker.working import all_counted, body, learnt_counts, publish
from trackrecord.prompt.documents.rankings_document import decode_document

OUTCOMES = 200

pytestmark = pytest.mark.faults


# The statements: 2 is within the batch's transaction, 8 after its outcomes were inserted.
@pytest.mark.parametrize("point", ["2", "8", "commit", "acknowledge", "acknowledged", "refresh"])
def test_killed_while_it_learns(point, store_settings, client, engine, worker_of):
    """The next worker finishes: each outcome once, each bad body once among the dead letters."""
    publish(client, store_settings, *(body(n) for n in range(OUTCOMES)), b"bad", b"worse")
    assert exit_code_of(drain_until, point, store_settings) == -signal.SIGKILL
    learnt_by_the_dead = OUTCOMES if point in ("acknowledge", "acknowledged", "refresh") else 0
    assert learnt_counts(engine) == all_counted(learnt_by_the_dead)

    time.sleep(2 * store_settings.claim_idle_s)
    worker = worker_of(store_settings)
    taken, drained = worker.drain.take_over(), worker.drain.run()
    assert taken["recorded"] + drained["recorded"] == OUTCOMES - learnt_by_the_dead
    assert learnt_counts(engine) == all_counted(OUTCOMES)
    assert client.xlen(store_settings.keys.outcomes) == 0
    letters: Any = client.xrange(store_settings.keys.dead)
    assert sorted(fields[b"body"] for _, fields in letters) == [b"bad", b"worse"]

    worker.refresher.refresh_stale()
    document: Any = client.hget(store_settings.keys.rankings("default"), "document")
    (pattern,) = decode_document(document).patterns
    assert pattern.helpful_count == OUTCOMES
