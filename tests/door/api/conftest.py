"""A real front door, on a store with something of everything in two projects."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import httpx
import pytest

from tests.door.api.served_store import MARKS, OURS, ServedStore, tokens_of
from tests.door.running_door import Door
from tests.support.folder_scope import shared_in
from tests.support.no_tls import NO_TLS
from trackrecord.settings.daemon_settings import DaemonSettings, HttpSettings
from trackrecord.store.database.engine import connect_store
from trackrecord.store.database.migrate import migrate
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

_HERE = Path(__file__).parent
_STORE = pytest.StashKey[ServedStore]()
_DOOR = pytest.StashKey[Door]()
_TOKENS = pytest.StashKey[dict[str, str]]()


@contextmanager
def _filled() -> Iterator[ServedStore]:
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        settings = DaemonSettings(home=home, project=OURS)
        engine = connect_store(settings.effective_database_url)
        migrate(engine)
        with (
            EmbeddedRedis(home / "redis", home / "redis.sock") as server,
            server.client() as client,
        ):
            store = ServedStore(home, settings, engine, client, {})
            for project in MARKS:
                store.fill(project)
            store.refresh()
            yield store
        engine.dispose()


@pytest.fixture(scope="module")
def served(request: pytest.FixtureRequest) -> ServedStore:
    """The store that the front door serves."""
    return shared_in(_HERE, request, _STORE, _filled)


@pytest.fixture(scope="module")
def fresh_store() -> Iterator[ServedStore]:
    """Such a store for one module, which may spoil it."""
    with _filled() as store:
        yield store


@pytest.fixture(scope="module")
def api_door(served: ServedStore, request: pytest.FixtureRequest) -> Door:
    """A front door on that store, as a user has it."""

    @contextmanager
    def opened() -> Iterator[Door]:
        running = Door(served.home, HttpSettings(port=0), project=OURS)
        yield running
        running.end()

    return shared_in(_HERE, request, _DOOR, opened)


@pytest.fixture(scope="module")
def tokens(served: ServedStore, request: pytest.FixtureRequest) -> dict[str, str]:
    """A token of each permission for our project."""
    return shared_in(_HERE, request, _TOKENS, lambda: nullcontext(tokens_of(served)))


@pytest.fixture
def http(api_door: Door) -> Iterator[httpx.Client]:
    """A client of the user who runs it."""
    with httpx.Client(base_url=f"{api_door.url}/api/v1", timeout=60, verify=NO_TLS) as client:
        yield client


@pytest.fixture
def bearer(api_door: Door, tokens: dict[str, str]) -> Iterator[dict[str, httpx.Client]]:
    """By permission, a client that bears a token for our project."""
    clients = {
        name: httpx.Client(
            base_url=f"{api_door.address}/api/v1",
            timeout=200,
            headers={"authorization": f"Bearer {token}"},
            verify=NO_TLS,
        )
        for name, token in tokens.items()
    }
    yield clients
    for client in clients.values():
        client.close()
