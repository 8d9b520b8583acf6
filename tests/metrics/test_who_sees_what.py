"""What a scrape shows to whom, in which format, and while a server is away."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import redis
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from sqlalchemy import update
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from tests.metrics.scraped import Scrape, read_scrape
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import connect_store, writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.outcomes.tables import projects
from trackrecord_capture.history.counts import CountedSinks
from trackrecord_door.metrics.routes import CountRequests, Requests, routes
from trackrecord_door.protocol.callers import OWNER, Caller, Permission
from trackrecord_door.query_service import QueryService
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

HOSTILE = 'sh"op\\\n# HELP x y\ntrackrecord_workers 99\n\u2028{}'


class By:
    """An application that lets everybody in as one caller, in the place of `Access`."""

    def __init__(self, app, caller: Caller) -> None:
        self._app, self._caller = app, caller

    async def __call__(self, scope, receive, send) -> None:
        scope["caller"] = self._caller
        await self._app(scope, receive, send)


@contextmanager
def surface(settings: DaemonSettings, caller: Caller = OWNER) -> Iterator[Starlette]:
    """The metrics alone, for one caller."""
    service, requests = QueryService(settings), Requests()
    yield Starlette(
        routes=routes(service, CountedSinks(), requests),
        middleware=[Middleware(CountRequests, requests=requests), Middleware(By, caller=caller)],
    )
    service.close()


async def get(app: Starlette, accept: str = "*/*", *, path: str = "/metrics") -> httpx.Response:
    """A scrape, or another request."""
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.get(path, headers={"Accept": accept}, timeout=60)


def scrape_of(settings: DaemonSettings, caller: Caller = OWNER) -> Scrape:
    """Return a caller's scrape."""
    with surface(settings, caller) as app:
        answer = asyncio.run(get(app))
    assert answer.status_code == 200
    return read_scrape(answer.text)


@pytest.fixture
def two_projects(
    migrated_home: Path, settings: Settings, redis_server: EmbeddedRedis, client: redis.Redis
) -> Settings:
    """A store with the projects "web", "secret" and one with a hostile name."""
    engine = connect_store(settings.effective_database_url)
    with writing(engine) as connection:
        ensure_projects(connection, ["web", "secret", HOSTILE])
        connection.execute(update(projects).values(outcomes=3, successes=1))
    engine.dispose()
    client.xadd(settings.keys.dead, {"reason": "x"})
    return settings


def test_a_caller_of_one_project_sees_that_one(two_projects: Settings) -> None:
    """Neither the names nor the figures of others, nor what concerns all of them."""
    seen = scrape_of(two_projects, Caller("web", Permission.READ))
    assert seen.value("trackrecord_outcomes", project="web", verdict="success") == 1
    assert seen.values_of("project") == {"web"}
    assert "secret" not in seen.text
    assert "trackrecord_dead_letters" not in seen.names
    assert not [name for name in seen.names if "request" in name or "memory" in name]


def test_a_caller_of_an_unknown_project_sees_nothing(two_projects: Settings) -> None:
    """And is not told which projects there are."""
    seen = scrape_of(two_projects, Caller("unknown", Permission.READ))
    assert seen.values_of("project") == set()
    assert seen.value("trackrecord_server_up", server="database") == 1


def test_a_hostile_name_is_a_label_and_nothing_else(two_projects: Settings) -> None:
    """Whatever a project is called, it adds no line of its own."""
    seen = scrape_of(two_projects)
    shown = HOSTILE.replace("\\", "\\\\").replace("\n", "\\n").replace("\u2028", "\\u2028")
    assert seen.values_of("project") == {"web", "secret", shown}
    assert seen.value("trackrecord_workers") == 0


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("*/*", "text/plain; version=0.0.4"),
        ("", "text/plain; version=0.0.4"),
        ("text/plain;version=0.0.4;q=0.3", "text/plain; version=0.0.4"),
        ("text/plain;version=1.0.0", "text/plain; version=1.0.0"),
        ("application/openmetrics-text", "application/openmetrics-text; version=1.0.0"),
        (
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,*/*;q=0.1",
            "application/openmetrics-text; version=1.0.0",
        ),
        ("application/openmetrics-text;version=x", "text/plain; version=0.0.4"),
        ("text/plain;version=9.x", "text/plain; version=0.0.4"),
        ("application/openmetrics-text;version=2.0.0", "text/plain; version=0.0.4"),
        ("application/openmetrics-text;version=2.0.x", "text/plain; version=0.0.4"),
        (",;=" * 2000, "text/plain; version=0.0.4"),
    ],
)
def test_the_format_that_is_asked_for(two_projects: Settings, accept: str, media_type: str) -> None:
    """OpenMetrics or text; a header that makes no sense is answered in text."""
    with surface(two_projects) as app:
        answer = asyncio.run(get(app, accept))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(media_type)
    if "openmetrics" in media_type:
        assert answer.text.endswith("# EOF\n")
        families = {family.name for family in read_openmetrics(answer.text)}
    else:
        families = read_scrape(answer.text).kinds.keys()
    assert {"trackrecord_outcomes", "trackrecord_batch_duration_seconds"} <= families


def test_the_database_away(settings: Settings, redis_server: EmbeddedRedis) -> None:
    """The rest is shown, and that the database is away; when it is back, so are its figures."""
    broken = settings.home / "trackrecord.db"
    broken.mkdir()
    with surface(settings) as app:
        seen = read_scrape(asyncio.run(get(app)).text)
        assert seen.value("trackrecord_server_up", server="database") == 0
        assert seen.value("trackrecord_server_up", server="redis") == 1
        assert seen.value("trackrecord_workers") == 0
        broken.rmdir()
        seen = read_scrape(asyncio.run(get(app)).text)
        assert seen.value("trackrecord_server_up", server="database") == 1


@contextmanager
def silent() -> Iterator[socket.socket]:
    """A socket on which connections are accepted, and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def port_of(listener: socket.socket) -> int:
    """The port that a socket listens on."""
    port: int = listener.getsockname()[1]
    return port


def test_servers_that_hang(home: Path) -> None:
    """A scrape is answered all the same, and other requests are answered meanwhile."""
    with silent() as postgres, silent() as other:
        settings = load_settings(
            home=home,
            database_url=f"postgresql://trackrecord@127.0.0.1:{port_of(postgres)}/trackrecord",
            redis_url=f"redis://127.0.0.1:{port_of(other)}/0",
            redis_timeout_s=30.0,
            database_timeout_s=3.0,
        )
        with surface(settings) as app:

            async def both() -> tuple[httpx.Response, bool, httpx.Response]:
                scrape = asyncio.ensure_future(get(app))
                connection, _ = await asyncio.to_thread(postgres.accept)
                with connection:  # now it hangs
                    health = await get(app, path="/health")
                    return health, scrape.done(), await scrape

            health, was_done, answer = asyncio.run(both())
    assert health.status_code == 200
    assert not was_done
    seen = read_scrape(answer.text)
    assert answer.status_code == 200
    for server in ("database", "redis"):
        assert seen.value("trackrecord_server_up", server=server) == 0


def test_every_request_is_counted_once() -> None:
    """By the class of its status; one that ends in an exception has failed."""
    requests = Requests()

    async def fails(_request) -> None:
        message = "as the test asked"
        raise RuntimeError(message)

    app = CountRequests(Starlette(routes=[Route("/fails", fails)]), requests)

    async def ask() -> None:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            for path in ("/fails", "/none", "/none"):
                await client.get(path)

    asyncio.run(ask())
    counted = requests.answered()
    assert counted.by_status == {("page", "5xx"): 1, ("page", "4xx"): 2}
    assert sum(counted.durations["page"].buckets) == 3
