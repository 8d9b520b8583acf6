"""A task's meaning at prompt time: a real endpoint over HTTP, real Redis, and no database."""

import logging
import subprocess
import sys
import time
from math import sqrt
from operator import mul

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.embeddings.test_embedded_selection import known_record
from tests.support.endpoint_server import serving
from tests.support.processes import until
from trackrecord.embeddings.packed import cosine, pack, packed_vectors
from trackrecord.prompt.documents.presentation import present_competence
from trackrecord.prompt.documents.rankings_document import RankingsDocument
from trackrecord.prompt.reading import task_vectors
from trackrecord.prompt.reading.cache import read_vectors, write_document, write_vectors
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.settings import load_settings
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord_worker import jobs
from trackrecord_worker.app import create_app
from trackrecord_worker.job_table import UPKEEP
from trackrecord_worker.schedule import beat_schedule
from trackrecord_worker.services import RecordVectors, Services

# Shares no word with any record.
TASK = "why is everything broken"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
KEY = "sk-nobody-may-see-this"


def record(name, signal, tool="a"):
    now = time.time()
    return present_competence(known_record(name, signal, tool, at=now), now=now, base_rate=0.5)


RECORDS = (record("ci", "red build"), record("ship", "release day"), record("else", "other"))


@pytest.fixture
def endpoint():
    with serving() as server:
        yield server


def settings_of(home, endpoint, **more):
    given = {"url": endpoint.url, "model": "words", "api_key": KEY, "prompt_timeout_s": 20.0}
    return load_settings(home=home, embeddings={**given, **more})


def put(client, settings, *records, revision=1):
    document = RankingsDocument(
        project="default", revision=revision, computed_at=time.time(), competences=records
    )
    write_document(client, settings, document)


def embedded(client, settings):
    return RecordVectors(client, settings).renew(["default"])


def with_vectors(client, home, endpoint):
    found = settings_of(home, endpoint)
    put(client, found, *RECORDS)
    assert embedded(client, found) == 3
    endpoint.asked.clear()
    return found


@pytest.fixture
def settings(fake_client, home, endpoint):
    """Settings of agents and workers, with records that have their vectors."""
    return with_vectors(fake_client, home, endpoint)


@pytest.fixture
def served_settings(client, home, endpoint):
    """The same for other processes and for commands."""
    return with_vectors(client, home, endpoint)


def test_a_record_is_found_by_its_meaning(settings, fake_client):
    """The answer says that it was compared so; by words there is nothing."""
    answer = RankingsReader(settings, fake_client).read(task=TASK)
    assert [each.id for each in answer.told["competences"]] == ["ci"]
    assert answer.compared_by == "embeddings"
    assert "red build" in answer.prompt
    assert [why.reason.split(";")[0] for why in answer.why if why.is_in] == [
        "its meaning fits the task, similarity 100%"
    ]
    by_words = RankingsReader(load_settings(home=settings.home), fake_client).read(task=TASK)
    assert by_words.compared_by == "words"
    assert [each.id for each in by_words.told["competences"]] != ["ci"]


def test_the_endpoint_is_asked_once_for_a_task(settings, fake_client, endpoint):
    """Whichever process asks again finds the vector in Redis; what needs none asks for none."""
    reader = RankingsReader(settings, fake_client)
    reader.read()
    reader.read(task="of no competence", exclude="competences")
    for _ in range(3):
        assert RankingsReader(settings, fake_client).read(task=TASK).compared_by == "embeddings"
    assert endpoint.texts == [TASK]
    RankingsReader(settings, fake_client).read(task="another one")
    assert endpoint.texts == [TASK, "another one"]


def test_a_late_answer_is_words_now_and_meaning_next_time(fake_client, home, endpoint):
    """The agent does not wait, and what was asked for is not lost."""
    settings = settings_of(home, endpoint)
    put(fake_client, settings, *RECORDS)
    embedded(fake_client, settings)
    endpoint.asked.clear()
    endpoint.delay_s = 0.5
    reader = RankingsReader(settings_of(home, endpoint, prompt_timeout_s=0.01), fake_client)
    assert reader.read(task=TASK).compared_by == "words"
    until(lambda: reader.read(task=TASK).compared_by == "embeddings")
    # On a busy machine the first answer may come too late even for that, and it is asked again.
    assert set(endpoint.texts) == {TASK}


@pytest.mark.parametrize(
    "mood", [{"status": 500}, {"status": 401}, {"answer": b"<html>"}, {"answer": b'{"data": []}'}]
)
def test_while_the_endpoint_is_away_words_decide(settings, fake_client, endpoint, caplog, mood):
    """One line says so, it is left alone for a while, and nothing is wrong with the answer."""
    for name, value in mood.items():
        setattr(endpoint, name, value)
    reader = RankingsReader(settings, fake_client)
    with caplog.at_level(logging.WARNING, "trackrecord"):
        answers = [reader.read(task=f"{TASK} {number}") for number in range(3)]
    assert {each.compared_by for each in answers} == {"words"}
    assert {each.problem for each in answers} == {None}
    assert len(endpoint.asked) == 1
    (said,) = [each.getMessage() for each in caplog.records]
    assert "compared by words" in said
    assert KEY not in caplog.text


def test_the_endpoint_is_told_no_secrets(settings, fake_client, endpoint):
    """They are replaced before a text leaves the process."""
    RankingsReader(settings, fake_client).read(task=f"deploy with {SECRET}")
    (text,) = endpoint.texts
    assert SECRET not in text
    assert text.startswith("deploy with ")


def test_the_vectors_of_tasks_are_bounded_and_end(served_settings, client, monkeypatch):
    """A task takes the place of another one, and all are forgotten in time."""
    monkeypatch.setattr(task_vectors, "_PLACES", 4)
    reader = RankingsReader(served_settings)
    for number in range(12):
        reader.read(task=f"task {number}")
    key = served_settings.keys.task_vectors("default")
    assert 0 < client.hlen(key) <= 4
    assert 0 < client.ttl(key) <= 7 * 86_400


def test_while_the_endpoint_is_away_the_worker_leaves_it_alone(fake_client, home, endpoint):
    """What it could embed is kept, the rest follows."""
    settings = settings_of(home, endpoint, batch_size=2, retry_after_s=0.05)
    put(fake_client, settings, *RECORDS)
    endpoint.status = 500
    keeper = RecordVectors(fake_client, settings)
    assert keeper.renew(["default"]) == 0
    assert read_vectors(fake_client, settings, "default") == (None, None)
    endpoint.status = 200
    until(lambda: keeper.renew(["default"]) == 3)
    assert keeper.renew(["default"]) == 0


def test_a_project_that_was_erased_does_not_come_back(client, home, endpoint):
    """Vectors stand beside rankings, and go with them."""
    settings = settings_of(home, endpoint)
    vectors = packed_vectors("words", [("ci", b"0" * 16, pack([1.0, 0.5]))])
    assert not write_vectors(client, settings, "default", vectors, of=b"x")
    assert client.keys("*") == []


def test_an_agent_without_an_endpoint_pays_nothing(served_settings, endpoint):
    """Neither a request nor an import, nor the vectors."""
    program = """
import sys, trackrecord
assert trackrecord.rankings(task="why is everything broken").problem is None
unused = {"httpx", "trackrecord.prompt.reading.task_vectors", "trackrecord.learning.text.redaction"}
assert not unused & set(sys.modules)
from trackrecord.prompt.reading.client import process_reader
assert process_reader().cached("default").vectors is None
"""
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={"TRACKRECORD_HOME": str(served_settings.home), "PATH": ""},
        timeout=200,
    )
    assert endpoint.asked == []


def test_beat_embeds_where_there_is_an_endpoint(home, endpoint):
    """Elsewhere nothing wakes up for it."""
    for settings, is_woken in (
        (load_settings(home=home), False),
        (settings_of(home, endpoint), True),
    ):
        (due,) = beat_schedule(settings)[UPKEEP]["args"]
        assert ("trackrecord.embed" in due()) is is_woken


def test_the_task_of_the_worker_embeds_each_project(client, home, endpoint):
    """Under the name that beat sends, for what the store knows."""
    settings = settings_of(home, endpoint)
    app = create_app(settings)
    app.loader.import_task_module("trackrecord_worker.tasks")
    assert "trackrecord.embed" in app.tasks
    services = Services(settings, app)
    try:
        with writing(services.engine) as connection:
            ensure_projects(connection, ["default"])
        put(client, settings, *RECORDS)
        jobs.embed_records(services)
        assert RankingsReader(settings).read(task=TASK).compared_by == "embeddings"
    finally:
        services.engine.dispose()
        services.redis.close()


VECTORS = st.lists(st.floats(-1.0, 1.0), min_size=9, max_size=9)


@given(VECTORS, VECTORS)
def test_packed_vectors_keep_their_angles(one, other):
    """A byte a number changes a cosine by little, and multiplying bit by bit by nothing."""
    sizes = [sqrt(sum(number * number for number in each)) for each in (one, other)]
    packed = [pack(each) for each in (one, other)]
    if not all(packed):
        assert min(max(map(abs, each)) for each in (one, other)) < 1e-300 or 0.0 in sizes
        return
    if min(sizes) < 1e-150:
        return
    expected = sum(a / sizes[0] * (b / sizes[1]) for a, b in zip(one, other, strict=True))
    assert cosine(*packed) == pytest.approx(expected, abs=0.03)
    these, those = ([byte - 128 for byte in each] for each in packed)
    lengths = sqrt(sum(map(mul, these, these))) * sqrt(sum(map(mul, those, those)))
    assert cosine(*packed) == sum(map(mul, these, those)) / lengths
