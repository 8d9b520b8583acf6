"""A real front door, on a store with something of everything in two projects."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import httpx
import pytest

from tests.door.api.served_store import MARKS, OURS, ServedStore, tokens_of
from tests.door.filled_store import opened_store
from tests.door.running_door import Door
from tests.support.folder_scope import shared_in
from tests.support.no_tls import NO_TLS

_HERE = Path(__file__).parent
_STORE = pytest.StashKey[ServedStore]()
_DOOR = pytest.StashKey[Door]()
_TOKENS = pytest.StashKey[dict[str, str]]()


@contextmanager
def _filled() -> Iterator[ServedStore]:
    with opened_store(ServedStore, project=OURS) as store:
        for project in MARKS:
            store.fill(project)
        for project in MARKS:
            store.refresh(project)
        yield store


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
    return shared_in(_HERE, request, _DOOR, lambda: Door(served.home, project=OURS))


@pytest.fixture(scope="module")
def tokens(served: ServedStore, request: pytest.FixtureRequest) -> dict[str, str]:
    """A token of each permission for our project."""
    return shared_in(_HERE, request, _TOKENS, lambda: nullcontext(tokens_of(served)))


@pytest.fixture
def http(api_door: Door) -> Iterator[httpx.Client]:
    """A client of the user who runs it."""
    with api_door.client("/api/v1") as client:
        yield client


@pytest.fixture
def bearer(api_door: Door, tokens: dict[str, str]) -> Iterator[dict[str, httpx.Client]]:
    """By permission, a client that bears a token for our project."""
    clients = {
        name: httpx.Client(
            base_url=f"{api_door.address}/api/v1", timeout=200, verify=NO_TLS,
            headers={"authorization": f"Bearer {token}"},
        )
        for name, token in tokens.items()
    }  # fmt: skip
    yield clients
    for client in clients.values():
        client.close()
