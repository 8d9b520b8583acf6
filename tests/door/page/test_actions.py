"""What the effect and the dead letters offer, done by a person in a real browser."""

import time

from tests.door.page.browsing import sign_in
from trackrecord.resources.figures.effect import measure_effect
from trackrecord.resources.operation.dead_letters import read_letters
from trackrecord.store.database.engine import reading

OWN = "advised"


def effect_of(store):
    with reading(store.engine) as connection:
        return measure_effect(connection, OWN, setting=0.0)


def test_entries_are_withdrawn_and_restored(window, shown_store):
    """After a question that asks for the reason; what was done is said once, and is on record."""
    task = {"success": True, "patterns": ["x"]}
    shown_store.teach(OWN, [{**task, "task_id": f"t{n}"} for n in range(4)])
    shown_store.hand_out(OWN, [(f"t{n}", ["<b>x</b>"], n > 1) for n in range(4)])
    look = window()
    look.open(f"/effect?project={OWN}")

    look.click("Withdraw")
    assert "Take <b>x</b> out of all advice" in look.text("main")
    assert effect_of(shown_store).decisions.withdrawn == ()  # only asked so far
    assert look.findings() + look.unreachable() == []
    look.page.get_by_label("Reason").fill("It is <i>wrong</i>")
    look.page.get_by_label("By", exact=True).fill("Ada")
    look.click("Withdraw it")
    assert look.said() == f"<b>x</b> is handed out no more in project '{OWN}'."
    assert "It is <i>wrong</i>" in look.text("main")
    (decision,) = effect_of(shown_store).decisions.entries.values()
    assert (decision.action, decision.actor, decision.reason) == (
        "withdraw",
        "Ada",
        "It is <i>wrong</i>",
    )
    look.page.reload()
    assert look.page.locator("[role=status]").count() == 0

    look.click("Restore")
    look.page.get_by_role("link", name="Cancel").click()
    assert effect_of(shown_store).decisions.withdrawn == ("<b>x</b>",)
    look.click("Restore")
    look.click("Restore it")
    assert "handed out again" in look.said()
    assert effect_of(shown_store).decisions.withdrawn == ()
    assert look.take_wrong() == []


def test_tasks_are_held_out_and_no_longer(window, shown_store):
    """A share that cannot be is refused in one line on the same page, and can be mended there."""
    shown_store.teach("held-out", [{"success": True, "task_id": "t"}])
    look = window()
    look.open("/effect?project=held-out")
    look.page.get_by_label("Percent").fill("25")
    look.click("Withhold advice")
    look.click("Withhold advice")
    assert "advice is withheld from 25%" in look.said().lower()
    assert "25% of the tasks" in look.text("main")
    look.click("Give all tasks advice")
    look.click("Give all tasks advice")
    assert "no task" in look.said().lower()
    assert look.take_wrong() == []


def test_dead_letters_are_replayed_and_discarded(window, shown_store):
    """By the letter, by the group and all; those that come meanwhile stay."""
    store = shown_store
    first = store.set_aside("weather 1 is bad", b"{}")
    store.set_aside("weather 2 is bad", b"{}")
    store.set_aside("weather 3 is bad", b"{}")
    stream = store.settings.keys.outcomes
    look = window()
    look.open("/dead-letters")
    group = "section:has(h2:has-text('weather'))"
    assert look.text(f"{group} h2").startswith("3 ×")

    look.page.locator(f"{group} summary").click()
    look.page.locator(f"{group} input[value='{first}']").check()
    look.click("Replay", within=group)
    look.click("Replay 1 dead letter")
    assert look.said() == "1 dead letter put back."
    assert store.client.xlen(stream) == 1

    look.click("Discard", within=group)
    assert "Delete 2 dead letters for good?" in look.text("main")
    store.set_aside("weather 4 is bad", b"{}")
    look.click("Discard 2 dead letters")
    assert look.said() == "2 dead letters discarded."
    assert look.text(f"{group} h2").startswith("1 ×")

    letters = list(read_letters(store.client, store.settings.keys))
    look.click("Replay all")
    look.click(f"Replay {len(letters)} dead letters")
    assert "There are no dead letters" in look.text("main")
    assert store.client.xlen(stream) == 1 + len(letters)
    for letter in letters:  # as other tests found it
        store.set_aside(letter.reason, letter.body.encode(errors="replace"))
    store.client.delete(stream)
    assert look.take_wrong() == []


def test_errors_are_pages_as_any_other(window):
    """In light and dark, and on a phone."""
    look = window()
    look.open("/?project=" + "nobody" * 20, status=404)
    wrong = look.findings() + look.unreachable()
    with look.in_the_dark():
        wrong += look.findings()
    with look.on_a_phone():
        wrong += look.overflow()
    assert wrong == []


def test_light_and_dark_can_be_chosen(window):
    """The choice holds on every page; without a script there is a button for it."""
    look = window()
    look.open("/effect?project=fleet")
    with look.page.expect_navigation():
        look.page.get_by_label("Colours").last.select_option("dark")
    assert look.page.url.endswith("/effect?project=fleet")
    look.open("/?project=fleet")
    assert look.page.evaluate("document.documentElement.dataset.theme") == "dark"
    ground = look.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(int(each) for each in ground.strip("rgb()").split(",")) < 120
    assert look.take_wrong() == []


def test_the_page_works_without_scripts(browser, page_door, shown_store):
    """Where scripts are off, actions take the same steps."""
    shown_store.teach("no-scripts", [{"success": True, "task_id": "t"}])
    context = browser.new_context(java_script_enabled=False)
    sign_in(context, page_door)
    page = context.new_page()
    page.goto(f"{page_door.address}/effect?project=no-scripts")
    page.get_by_role("button", name="Withhold advice").click()
    page.get_by_role("button", name="Withhold advice").click()
    assert "withheld from 10%" in page.inner_text("[role=status]")
    context.close()


def test_the_past_of_the_effect_is_what_was_known_then(window, shown_store):
    """Asked about a moment before the decision, the page knows nothing of it."""
    shown_store.teach("past", [{"success": True, "task_id": "t"}])
    before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1))
    look = window()
    look.open(f"/effect?project=past&at={before}")
    assert "The past cannot be changed" in look.text("main")
    assert look.page.get_by_role("button", name="Withhold advice").count() == 0
