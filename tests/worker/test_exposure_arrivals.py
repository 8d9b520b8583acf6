"""What tasks were handed arrives on the stream: recorded once, and what cannot be is set aside."""

from tests.worker.working import add, body
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.effect_consent import note_effect_consent
from trackrecord.store.advice.effect import (
    HoldoutDecision,
    decide_holdout,
    decided_holdout,
    read_effect,
)
from trackrecord.store.advice.exposures import read_exposures
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord_producers.prompting.rankings_call import publish_exposure
from trackrecord_producers.publishing.publisher import Publisher

ONE = {"task_id": "t1", "entries": ["split-by-feature"], "exposure_id": "e1"}


def on_record(engine, project="default"):
    with reading(engine) as connection:
        project_id = project_id_of(connection, project) or -1
        return read_exposures(connection, project_id, limit=100)


def test_an_exposure_is_recorded(worker, store_settings, client, engine):
    """As it was sent, received when Redis took it; and it is gone from the stream."""
    more = {"withheld": True, "holdout": 0.1, "propensity": 0.02, "revision": 7, "at": 1e9}
    add(client, store_settings, "exposure", {**ONE, **more})
    done = worker.drain.run()
    (exposure,) = on_record(engine)
    assert (exposure.task_id, exposure.entries, exposure.at) == ("t1", ("split-by-feature",), 1e9)
    assert (exposure.is_withheld, exposure.holdout, exposure.propensity) == (True, 0.1, 0.02)
    assert (done["exposures"], exposure.revision) == (1, 7)
    assert client.xlen(store_settings.keys.outcomes) == client.xlen(store_settings.keys.dead) == 0


def test_delivered_again_it_counts_once(worker, store_settings, client, engine):
    """In one batch or later; by its own id, else by that of the entry."""
    add(client, store_settings, "exposure", ONE, ONE)
    worker.drain.run()
    add(client, store_settings, "exposure", ONE, {"task_id": "t2", "entries": []})
    worker.drain.run()
    assert sorted(each.task_id for each in on_record(engine)) == ["t1", "t2"]


def test_what_an_agent_is_handed_is_joined_to_how_its_task_ended(
    worker, store_settings, client, engine, monkeypatch
):
    """From `rankings()` through the stream to the effect: with advice, and without."""
    client.xadd(store_settings.keys.outcomes, {"v": "1", "body": body(0)})
    worker.drain.run()
    reader = RankingsReader(store_settings.model_copy(update={"holdout": 0.5}))
    publisher = Publisher(lambda: store_settings)
    monkeypatch.setattr("trackrecord_producers.publishing.publish._publisher", publisher)
    arms = []
    for number in range(40):
        answer = reader.read(task_id=f"task-{number}")
        arms.append(answer.arm)
        assert (answer.prompt == "") == (answer.arm == "withheld")
        assert publish_exposure(answer.exposure) is not None
    assert publisher.flush(30)
    publisher.close()
    ended = [body(100 + number, task_id=f"task-{number}") for number in range(40)]
    for each in ended:
        client.xadd(store_settings.keys.outcomes, {"v": "1", "body": each})
    worker.drain.run()
    with reading(engine) as connection:
        report = read_effect(connection, project_id_of(connection, "default"))
    assert report.tasks == (arms.count("given"), arms.count("withheld"))
    assert 0 < report.tasks[1] < 40


def test_with_consent_a_project_with_enough_tasks_begins_to_measure(
    worker, store_settings, client, engine
):
    """Not before its 200th task, not without consent, and never against a person's word."""

    def handed(numbers):
        for number in numbers:
            one = {"task_id": f"t{number}", "entries": ["x"], "exposure_id": f"e{number}"}
            add(client, store_settings, "exposure", one)
            client.xadd(store_settings.keys.outcomes, {"v": "1", "body": body(number)})
        worker.drain.run()

    def begun():
        worker.adviser.advise("default")
        with reading(engine) as connection:
            project_id = project_id_of(connection, "default")
            return decided_holdout(connection, project_id)

    handed(range(199))
    add(
        client,
        store_settings,
        "exposure",
        {"task_id": "open", "entries": ["x"], "exposure_id": "open"},
    )
    worker.drain.run()
    note_effect_consent(store_settings.home, is_given=True)
    assert begun() is None
    handed([199])
    note_effect_consent(store_settings.home, is_given=False)
    assert begun() is None
    note_effect_consent(store_settings.home, is_given=True)
    assert begun() == 0.1
    worker.refresher.refresh_stale()
    arms = {RankingsReader(store_settings).read(task_id=f"n{n}").arm for n in range(100)}
    assert arms == {"given", "withheld"}
    with writing(engine) as connection:
        project_id = project_id_of(connection, "default")
        decision = HoldoutDecision(0.0, "ada", "", 1.0)
        decide_holdout(connection, project_id, decision)
    assert begun() == 0.0
