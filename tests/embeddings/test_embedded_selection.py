"""Selection by meaning: a real endpoint over HTTP, real PostgreSQL with pgvector."""

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from structlog.testing import capture_logs

from tests.support.endpoint_server import serving
from trackrecord.embeddings.client import embed
from trackrecord.embeddings.embedder import Embedder, embed_everything
from trackrecord.embeddings.endpoint import EmbeddingEndpoint
from trackrecord.errors import EndpointAway, WrongDimension
from trackrecord.learning.competences.record import (
    Competence,
    Performance,
    RecipeStep,
    TriggerCounts,
)
from trackrecord.learning.competences.rules import Lifecycle
from trackrecord.learning.competences.update import RecordAction, RecordUpdate
from trackrecord.resources.experience.select_competences import Selector
from trackrecord.settings.settings import load_settings
from trackrecord.store.competences.write import SignedChange, write_changes
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.intake.intake import ensure_projects

NOW = 1_780_000_000.0
TASK = "why is everything broken"


def known_record(some_id, signal, tool="a", *, at=NOW):
    """Return a record that was learnt from two runs."""
    return Competence(
        id=some_id, project="default", skill_name=f"skill:{tool}", signature=tool,
        triggers=(TriggerCounts(signal, None, 2, 0),), recipe=(RecipeStep(1, tool, {}),),
        failure_modes=(), performance=Performance(2, 0), confidence=0.8,
        salience=1.0, lifecycle=Lifecycle(30, 0.1, 0.0, at), created_at=at, updated_at=at,
    )  # fmt: skip


def put(store, *records):
    with writing(store) as connection:
        project_id = ensure_projects(connection, ["default"])["default"]
        changes = [
            SignedChange(None, RecordUpdate(RecordAction.CREATED, each, "test")) for each in records
        ]
        write_changes(connection, project_id, changes, actor="test", now=NOW)
    return project_id


@pytest.fixture
def endpoint():
    with serving() as server:
        yield server


@pytest.fixture
def store(postgres_url):
    engine = connect_store(postgres_url, timeout_s=20.0)
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def filled(store):
    put(
        store,
        known_record("ci", "red build"),
        known_record("ship", "release day"),
        known_record("else", "other"),
    )
    return store


def selector(store, endpoint, home, **options):
    given = {"url": endpoint.url, "model": "words", "retry_after_s": 0.001, **options}
    return Selector(store, load_settings(home=home, embeddings=EmbeddingEndpoint(**given)))


def fits(selection):
    return {
        each.record.id: pytest.approx(each.signals.applicability, abs=1e-6)
        for each in selection.answer.candidates
    }


def test_tasks_are_compared_by_meaning(filled, endpoint, home):
    """(cosine + 1)/2, whatever the words; the best record comes first."""
    answer = selector(filled, endpoint, home).select("default", task=TASK, limit=5, now=NOW)
    assert answer.compared_by == "embeddings"
    assert fits(answer) == {"ci": 1.0, "ship": 0.5, "else": 0.5}
    assert answer.answer.candidates[0].record.id == "ci"
    assert answer.answer.candidates[0].signals.score == pytest.approx(1.0)
    chinese = selector(filled, endpoint, home).select("default", task="上线", limit=5, now=NOW)
    assert chinese.answer.candidates[0].record.id == "ship"


def test_each_text_is_embedded_once(filled, endpoint, home):
    """By model and content: by whoever asks, in whatever process; a changed record anew."""
    for _ in range(3):
        selector(filled, endpoint, home).select("default", task=TASK, limit=5, now=NOW)
    assert sorted(endpoint.texts) == sorted([TASK, "red build\na", "release day\na", "other\na"])
    put(filled, known_record("else", "broken glass"), known_record("more", "red build"))
    answer = selector(filled, endpoint, home).select("default", task=TASK, limit=5, now=NOW)
    assert endpoint.texts[4:] == ["broken glass\na"]
    assert fits(answer) == {"ci": 1.0, "else": 1.0, "more": 1.0, "ship": 0.5}
    selector(filled, endpoint, home, model="other").select("default", task=TASK, limit=5, now=NOW)
    assert len(endpoint.texts) == 9
    assert endpoint.asked[-1]["model"] == "other"


def test_texts_go_in_batches(filled, endpoint, home):
    """No more in one request than the setting says; the nightly job embeds all of them."""
    put(filled, *(known_record(f"r{number}", f"signal {number}") for number in range(20)))
    embed_everything(
        filled, EmbeddingEndpoint(url=endpoint.url, model="words", batch_size=8), now=NOW
    )
    assert [len(body["input"]) for body in endpoint.asked] == [8, 8, 7]
    answer = selector(filled, endpoint, home).select("default", task=TASK, limit=50, now=NOW)
    assert endpoint.texts[23:] == [TASK]
    assert answer.answer.count == 23


@pytest.mark.parametrize(
    ("mood", "reason"),
    [
        ({"status": 500}, "status 500"),
        ({"status": 401}, "status 401"),
        ({"delay_s": 0.6}, "timed out"),
        ({"answer": b"<html>"}, "cannot be read"),
        ({"answer": b'{"data": []}'}, "0 vectors for 4 texts"),
    ],
)
def test_an_endpoint_that_is_away_costs_only_the_meaning(filled, endpoint, home, mood, reason):
    """Tasks are compared by words, which is said once; when it is back, by meaning again."""
    for name, value in mood.items():
        setattr(endpoint, name, value)
    patience = 0.2 if endpoint.delay_s else 60.0
    asking = selector(filled, endpoint, home, timeout_s=patience)
    with capture_logs() as logs:
        for _ in range(3):
            answer = asking.select("default", task="red build", limit=5, now=NOW)
            assert answer.compared_by == "words"
            assert fits(answer) == {"ci": 1.0, "ship": 0.0, "else": 0.0}
    (said,) = [each for each in logs if each["log_level"] == "warning"]
    assert reason in said["reason"]
    endpoint.status, endpoint.delay_s, endpoint.answer = 200, 0.0, None
    # Several times, since a busy machine may take longer than the short patience.
    assert any(
        asking.select("default", task=TASK, limit=5, now=NOW).compared_by == "embeddings"
        for _ in range(50)
    )


def test_the_wrong_dimension_is_a_clear_error(filled, endpoint, home):
    """Both against the setting and against what is stored; nothing of it is stored."""
    with pytest.raises(WrongDimension, match=r"4 dimensions, not 8.*EMBEDDINGS__DIMENSIONS"):
        selector(filled, endpoint, home, dimensions=8).select(
            "default", task=TASK, limit=5, now=NOW
        )
    with reading(filled) as connection:
        assert connection.execute(text("SELECT count(*) FROM text_vectors")).scalar() == 0
    selector(filled, endpoint, home).select("default", task=TASK, limit=5, now=NOW)
    endpoint.dimensions = 6
    with pytest.raises(WrongDimension, match="6 dimensions, not 4"):
        selector(filled, endpoint, home).select("default", task="new", limit=5, now=NOW)
    changed = selector(filled, endpoint, home, dimensions=6)
    assert fits(changed.select("default", task=TASK, limit=5, now=NOW))["ci"] == 1.0


def test_the_key_travels_as_a_bearer_token_and_never_shows(endpoint):
    """And the request is the one of OpenAI's API, whether the path is in the URL or not."""
    with_key = EmbeddingEndpoint(url=endpoint.url + "/embeddings", model="m", api_key="s3cret")
    assert embed(with_key, ["one"]) == [(0.0, 0.0, 0.0, 1.0)]
    assert endpoint.headers[0]["Authorization"] == "Bearer s3cret"
    assert endpoint.asked[0] == {
        "path": "/v1/embeddings", "model": "m", "input": ["one"], "encoding_format": "float",
    }  # fmt: skip
    assert "s3cret" not in repr(with_key)
    endpoint.status = 403
    with pytest.raises(EndpointAway) as raised:
        embed(with_key, ["one"])
    assert "s3cret" not in str(raised.value)


def test_redirects_are_not_followed(endpoint):
    """The key goes to the host that the settings name, and to no other one."""
    with serving() as elsewhere:
        endpoint.status, endpoint.location = 307, elsewhere.url + "/embeddings"
        with pytest.raises(EndpointAway, match="status 307"):
            embed(EmbeddingEndpoint(url=endpoint.url, model="m", api_key="s3cret"), ["one"])
        assert elsewhere.headers == []


def test_the_proxy_of_the_environment_is_used(endpoint, monkeypatch):
    """It is asked for the endpoint's own URL; one that cannot be used is said in one line."""
    monkeypatch.setenv("HTTP_PROXY", endpoint.url.removesuffix("/v1"))
    with_query = EmbeddingEndpoint(url="http://embeddings.invalid/v1?version=2", model="m")
    assert embed(with_query, ["one"]) == [(0.0, 0.0, 0.0, 1.0)]
    assert endpoint.asked[0]["path"] == "http://embeddings.invalid/v1/embeddings?version=2"
    monkeypatch.setenv("ALL_PROXY", "nothing://127.0.0.1:1")
    monkeypatch.delenv("HTTP_PROXY")
    with pytest.raises(EndpointAway, match="proxy that the environment names"):
        embed(with_query, ["one"])


def test_on_sqlite_tasks_are_compared_by_words(endpoint, home):
    """Vectors need PostgreSQL; that is said once and the endpoint is not asked."""
    store = connect_store("sqlite:///:memory:")
    migrate(store)
    put(store, known_record("ci", "red build"))
    asking = selector(store, endpoint, home)
    with capture_logs() as logs:
        for _ in range(2):
            answer = asking.select("default", task="red build", limit=5, now=NOW)
    assert answer.compared_by == "words"
    assert fits(answer) == {"ci": 1.0}
    assert [each["reason"] for each in logs] == ["the database is not PostgreSQL"]
    assert endpoint.asked == []
    store.dispose()


def test_without_the_right_to_make_pgvector_words_are_compared(postgres_url, endpoint, home):
    """A user who may not create the extension has everything else."""
    engine = connect_store(postgres_url, timeout_s=20.0)
    migrate(engine)
    project_id = put(engine, known_record("ci", "red build"))
    with writing(engine) as connection:
        connection.execute(text("CREATE ROLE humble LOGIN"))
        connection.execute(text("GRANT ALL ON ALL TABLES IN SCHEMA public TO humble"))
    url = make_url(postgres_url).set(username="humble").render_as_string(hide_password=False)
    humble = connect_store(url)
    try:
        embedder = Embedder(humble, EmbeddingEndpoint(url=endpoint.url, model="words"))
        with capture_logs() as logs:
            assert embedder.applicability(project_id, TASK, now=NOW) is None
        assert "pgvector is not available" in logs[0]["reason"]
        assert endpoint.asked == []
    finally:
        humble.dispose()
        with writing(engine) as connection:
            connection.execute(text("DROP OWNED BY humble"))
            connection.execute(text("DROP ROLE humble"))
        engine.dispose()
