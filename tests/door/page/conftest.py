"""A front door with something on every page, and a real headless browser to look at it.

For tests of further pages:

- `page_door` is the running front door, `shown_store` its store (see `ShownStore`): two projects,
  "fleet" and "hostile", whose data `shown_store.fill` makes. Add there what your page shows. Tests
  that change something use a project of their own: `shown_store.teach(project, ...)`.
- `window()` opens a window of Chromium: `look = window(); look.open("/patterns?project=fleet")`,
  then `look.page` is Playwright's page. A test ends with `assert look.take_wrong() == []`.
- Pages whose path has a part in braces get an example in `addresses.EXAMPLES`. Every page of the
  table is then checked by test_every_page.py, and with hostile texts by test_hostile_texts.py.

Tests with the browser are few and do much each: every process of pytest-xdist that gets one starts
a browser of its own. The browser ends with this folder, because Playwright leaves an event loop in
the thread, beside which other tests could not run theirs: none in this folder may need one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.door.filled_store import opened_store
from tests.door.page.browsing import Browsing, windows
from tests.door.page.hostile_texts import HOSTILE_TEXTS
from tests.door.page.shown_store import ShownStore, fill
from tests.door.running_door import Door
from tests.support.folder_scope import shared_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome", "chromium-browser")

_HERE = Path(__file__).parent
_STORE = pytest.StashKey[ShownStore]()
_DOOR = pytest.StashKey[Door]()
_BROWSER = pytest.StashKey["Browser"]()


@pytest.fixture(scope="module")
def shown_store(request: pytest.FixtureRequest) -> ShownStore:
    """A store with something on every page."""
    return shared_in(_HERE, request, _STORE, _shown_store)


@contextmanager
def _shown_store() -> Iterator[ShownStore]:
    with opened_store(ShownStore) as store:
        fill(store, HOSTILE_TEXTS)
        yield store


@pytest.fixture(scope="module")
def page_door(shown_store: ShownStore, request: pytest.FixtureRequest) -> Door:
    """A front door on that store."""
    return shared_in(_HERE, request, _DOOR, lambda: Door(shown_store.home))


@pytest.fixture
def http(page_door: Door) -> Iterator[httpx.Client]:
    """A client of the user who runs it."""
    with page_door.client() as client:
        yield client


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Browser:
    """A real headless browser."""
    return shared_in(_HERE, request, _BROWSER, _browser)


@contextmanager
def _browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser on the PATH: install one of {', '.join(_BROWSERS)}")
    # Only a process of pytest that runs such a test imports it.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found)
        yield launched
        launched.close()


@pytest.fixture
def window(browser: Browser, page_door: Door) -> Iterator[Callable[[], Browsing]]:
    """Opens windows of the browser, with nothing stored from before."""
    yield from windows(browser, page_door)
