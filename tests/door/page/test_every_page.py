"""Every page, as a person meets it: in a real browser, by day and by night, on a phone."""

import pytest

from tests.door.page.addresses import addresses
from tests.door.page.shown_store import FLEET
from trackrecord_door.page.table import ACTIONS, VIEWS
from trackrecord_door.page.views import action_named, view_named


def test_every_page_is_sound(window, shown_store):
    """No errors in the console, no request that fails or leaves, nothing that axe finds serious.

    In light and dark; on a desk and on a phone nothing is wider than the window, nor scrolls
    within it; the Tab key comes to every link, button and field.
    """
    look = window()
    wrong = []
    for address in addresses(shown_store, FLEET):
        look.open(address)
        wrong += [f"{address}, light: {each}" for each in look.findings()]
        wrong += [f"{address}: {each}" for each in look.overflow()]
        wrong += [f"{address}: the Tab key misses {each}" for each in look.unreachable()]
        with look.in_the_dark():
            wrong += [f"{address}, dark: {each}" for each in look.findings()]
        with look.on_a_phone():
            wrong += [f"{address}, on a phone: {each}" for each in look.overflow()]
        wrong += [f"{address}: {each}" for each in look.take_wrong()]
    assert wrong == []


def test_the_first_view_is_light(window):
    """At most 100 KB, with all that the overview loads."""
    look = window()
    loaded = []

    def note(request):
        loaded.append(request)

    look.page.on("requestfinished", note)
    look.open(f"/?project={FLEET}")
    look.page.wait_for_load_state("load")
    bodies = {each.url: len(each.response().body()) for each in loaded}
    assert len(bodies) >= 4, bodies
    assert sum(bodies.values()) <= 100_000, bodies
    assert look.take_wrong() == []


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.path)
def test_the_function_of_a_view_exists(view):
    """The table names it as a text."""
    assert callable(view_named(view.function))


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.path)
def test_the_function_of_an_action_exists(action):
    """As above."""
    assert callable(action_named(action.function))
