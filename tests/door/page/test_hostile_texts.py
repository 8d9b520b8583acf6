"""300 hostile texts in every field that agents control: shown as text, and nothing else."""

from tests.door.page.addresses import addresses
from tests.door.page.hostile_texts import HOSTILE_TEXTS
from tests.door.page.shown_store import HOSTILE


def test_hostile_texts_are_inert(window, shown_store):
    """No script runs, nothing is asked for elsewhere, no dialog opens, the layout holds."""
    assert len(set(HOSTILE_TEXTS)) == 300
    look = window()
    wrong = []
    for address in addresses(shown_store, HOSTILE):
        look.open(address)
        if look.page.evaluate("window.hostile !== undefined"):
            wrong.append(f"{address}: a script ran")
        if look.page.locator("main h1").count() != 1 or look.page.locator("base, main img").count():
            wrong.append(f"{address}: a text became an element")
        # What a person points at or comes to with the keyboard does nothing, either.
        look.page.evaluate(
            """document.querySelectorAll("main *").forEach(each =>
              ["mouseover", "pointerover", "focusin", "toggle"].forEach(name =>
                each.dispatchEvent(new Event(name, {bubbles: true}))))"""
        )
        look.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        with look.on_a_phone():
            wrong += [f"{address}, on a phone: {each}" for each in look.overflow()]
        wrong += [f"{address}: {each}" for each in look.take_wrong()]
    assert wrong == []
