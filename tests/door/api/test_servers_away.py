"""The HTTP API while Redis or the database is away, through a real front door."""

import pytest

from trackrecord.settings.settings import load_settings
from trackrecord.store.database.engine import connect_store
from trackrecord.store.database.migrate import migrate
from trackrecord_worker.app import create_app
from trackrecord_worker.jobs import forward_spooled, learn_waiting
from trackrecord_worker.services import Services


@pytest.fixture
def api(door):
    """A client of the API of a front door that has no Redis, and no store yet."""
    with door.client("/api/v1", timeout=200) as client:
        yield client


def test_outcomes_are_taken_while_redis_is_away_and_learnt_afterwards(door, api, redis_server):
    """They stand in the spool when they are answered, whatever becomes of the front door.

    The store is not needed for it.
    """
    answer = api.post("/outcomes", json=[{"task_id": "t1", "success": True, "patterns": ["p"]}])
    assert (answer.status_code, answer.json()["taken"]) == (202, 1)
    door.process.kill()
    door.process.wait()
    assert not list(door.home.glob("*.db"))

    settings = load_settings(
        home=door.home, redis_url=f"unix://{redis_server.socket}", drain_block_s=0.01
    )
    worker = Services(settings, create_app(settings))
    forward_spooled(worker)
    learn_waiting(worker)
    with worker.engine.connect() as connection:
        learnt = connection.exec_driver_sql("SELECT outcome_id FROM outcomes").all()
    worker.redis.close()
    worker.engine.dispose()
    assert [name for (name,) in learnt] == answer.json()["outcome_ids"]


def test_a_read_while_the_database_is_away_is_a_problem_that_says_so(door, api):
    """It says when to try again; then it is answered."""
    file = door.home / "trackrecord.db"
    file.mkdir()
    answer = api.get("/projects")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    document = answer.json()
    assert set(document) == {"type", "title", "status", "detail"}
    assert (document["title"], document["status"]) == ("Service Unavailable", 503)
    assert "database" in document["detail"]
    assert "\n" not in document["detail"]
    assert int(answer.headers["retry-after"]) > 0

    file.rmdir()
    engine = connect_store(f"sqlite:///{file}")
    migrate(engine)
    engine.dispose()
    again = api.get("/projects")
    assert (again.status_code, again.json()) == (200, {"items": [], "cursor": None})
