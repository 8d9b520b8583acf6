"""What the effect and the dead letters offer, done by a person in a real browser."""

import trackrecord
from tests.door.page.browsing import sign_in
from trackrecord.resources.operation.dead_letters import read_letters
from trackrecord.store.advice.hints import ReceivedHint, record_hints
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.wire.hint import HintBody

OWN = "advised"
NOW = 1_772_884_800.0


def test_a_command_is_dismissed_and_restored(window, shown_store):
    """With who and why; the list does without it until it is restored."""
    failing = {
        "tool": "shell", "args": {"command": "rtk bun run test"}, "ok": False,
        "error": "error: unrecognized subcommand 'bun'",
    }  # fmt: skip
    sessions = [
        {"outcome_id": f"r{n}", "task_id": f"r{n}", "success": None,
         "metadata": {"session": f"r{n}"}, "tool_graph": [failing]}
        for n in range(3)
    ]  # fmt: skip
    shown_store.teach("launched", sessions)
    with shown_store.calls("launched"):
        (command,) = trackrecord.list_commands()
    look = window()
    look.open(f"/commands/{command.id}?project=launched")
    look.click("Dismiss")
    look.page.get_by_label("Reason").fill("It is known")
    look.page.get_by_label("By", exact=True).fill("Ada")
    look.click("Dismiss it")
    assert look.said().endswith(": dismissed")
    with shown_store.calls("launched"):
        assert trackrecord.list_commands() == []
        (change,) = trackrecord.show_command(command.id).history
    assert (change.action, change.by, change.reason) == ("dismiss", "Ada", "It is known")
    look.click("Restore")
    look.click("Restore it")
    with shown_store.calls("launched"):
        assert [each.id for each in trackrecord.list_commands()] == [command.id]
    assert look.take_wrong() == []


def test_the_effect_of_hints_is_told(window, shown_store):
    """Words of an agent among them are shown as they are."""
    entry = "known failure: line <b>make</b> test"
    hurts = []
    for number in range(200):
        fails = number % 10 < (8 if number % 2 == 0 else 2)
        calls = [
            {"tool": "shell:make", "args": {"command": "<b>make</b> test"}, "ok": not fails,
             "timestamp": NOW + 2, **({"error": "make: no rule"} if fails else {})}
            for _ in range(2)
        ]  # fmt: skip
        hurts.append(
            {"outcome_id": f"h{number}", "task_id": f"h{number}", "success": None,
             "timestamp": NOW + 60, "metadata": {"session": f"h{number}"}, "tool_graph": calls}
        )  # fmt: skip
    shown_store.teach("hinted", hurts)
    bodies = [
        HintBody(
            session=f"h{number}", entry=entry, kind="known failure", given=number % 2 == 0,
            probability=0.5, project="hinted", at=NOW, tool="shell:make",
        )
        for number in range(200)
    ]  # fmt: skip
    with writing(shown_store.engine) as connection:
        received = [ReceivedHint(each, each.session, NOW) for each in bodies]
        record_hints(connection, ensure_projects(connection, ["hinted"]), received)
    look = window()
    look.open("/effect?project=hinted")
    assert "they hurt" in look.text("main")
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
    """By the letter and all; those that come meanwhile stay."""
    store = shown_store
    first = store.set_aside("weather 1 is bad", b"{}")
    second = store.set_aside("weather 2 is bad", b"{}")
    stream = store.settings.keys.outcomes
    look = window()
    look.open("/dead-letters?q=weather")
    assert "weather 2 is bad" in look.text("main")

    look.page.locator(f"input[name=letter][value='{first}']").check()
    look.click("Replay")
    look.click("Replay 1 dead letter")
    assert look.said() == "1 dead letter put back."
    assert store.client.xlen(stream) == 1

    look.page.locator(f"input[name=letter][value='{second}']").check()
    look.click("Discard")
    assert "Delete 1 dead letter for good?" in look.text("main")
    look.click("Discard 1 dead letter")
    assert look.said() == "1 dead letter discarded."

    letters = list(read_letters(store.client, store.settings.keys))
    look.click("Replay")
    late = store.set_aside("weather 3 is bad", b"{}")
    look.click(f"Replay {len(letters)} dead letters")
    look.open("/dead-letters")
    assert "weather 3 is bad" in look.text("main")
    assert store.client.xlen(stream) == 1 + len(letters)
    store.client.xdel(store.settings.keys.dead, late)
    for letter in letters:  # as other tests found it
        store.set_aside(letter.reason, letter.body.encode(errors="replace"))
    store.client.delete(stream)
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
