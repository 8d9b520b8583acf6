"""Every page, as a person meets it: in a real browser, by day and by night, on a phone."""

import pytest

from tests.door.page.addresses import addresses
from tests.door.page.shown_store import FLEET
from trackrecord_door.page.table import ACTIONS, VIEWS
from trackrecord_door.page.views import function_named

# Each page of the table is opened, on a machine that may be busy.
pytestmark = pytest.mark.timeout(1200)


def test_every_page_is_sound(window, shown_store):
    """No errors in the console, no request that fails or leaves, nothing that axe finds serious.

    In light and dark; on a desk and on a phone nothing is wider than the window, nor scrolls
    within it.
    """
    look = window()
    wrong = []
    for address in addresses(shown_store, FLEET):
        look.open(address)
        wrong += [f"{address}, light: {each}" for each in look.findings()]
        wrong += [f"{address}: {each}" for each in look.overflow()]
        with look.in_the_dark():
            wrong += [f"{address}, dark: {each}" for each in look.findings("color-contrast")]
        with look.on_a_phone():
            wrong += [f"{address}, on a phone: {each}" for each in look.overflow()]
        wrong += [f"{address}: {each}" for each in look.take_wrong()]
    assert wrong == []


def test_every_view_by_keyboard_alone(window, shown_store):
    """The Tab key comes to all that a pointer can use, and what it comes to is seen."""
    look = window()
    for address in addresses(shown_store, FLEET):
        look.open(address)
        assert (address, look.tabbed()) == (address, [])
    assert look.take_wrong() == []


def test_what_all_views_have_by_keyboard_alone(window):
    """The first stop skips to the content; Enter and Space fold, and press the first button."""
    look = window()
    address = f"/runs?project={FLEET}"
    look.open(address)
    look.page.keyboard.press("Tab")
    assert look.page.evaluate("document.activeElement.matches('.skip')")
    look.page.keyboard.press("Enter")
    assert look.page.evaluate("document.activeElement.id") == "main"
    look.open(address)
    folded = look.page.locator("details", has=look.page.get_by_text("More", exact=True))
    is_open = folded.evaluate("each => each.open")
    for key in ("Enter", "Space"):
        look.come_to(folded.locator("summary"))
        look.page.keyboard.press(key)
        is_open = not is_open
        assert folded.evaluate("each => each.open") == is_open
    look.open(address)
    for key in ("Enter", "Space"):
        look.come_to(look.page.locator("button").first)
        with look.page.expect_navigation():
            look.page.keyboard.press(key)
    assert look.take_wrong() == []


def test_filters_are_folded_on_a_phone_until_one_is_set(window):
    """The list begins within the first screen; on a desk there is room for all."""
    look = window()
    field, folded = look.page.get_by_label("Tool"), look.page.get_by_text("More filters")
    look.open(f"/runs?project={FLEET}")
    assert field.is_visible()
    assert not folded.is_visible()
    with look.on_a_phone():
        assert not field.is_visible()
        assert look.page.locator("tbody tr").first.bounding_box()["y"] < 600
        look.come_to(folded)
        look.page.keyboard.press("Space")
        field.fill("grep")
        with look.page.expect_navigation():
            field.press("Enter")
        assert field.is_visible()
        assert field.input_value() == "grep"
    assert look.take_wrong() == []


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
    assert callable(function_named(view.function))


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.path)
def test_the_function_of_an_action_exists(action):
    """As above."""
    assert callable(function_named(action.function))
