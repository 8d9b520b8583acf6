"""Patterns, lessons, memories and criteria on the page: found, explained, and decided about."""

import re
import time
from html import unescape
from urllib.parse import quote

import httpx
import pytest

import trackrecord
from tests.door.page.shown_store import FLEET
from tests.support.no_tls import NO_TLS

DAY = 86_400.0


def get(door, path, **query):
    """The status of a page and its HTML."""
    answer = httpx.get(door.url.rstrip("/") + path, params=query or None, timeout=60, verify=NO_TLS)
    return answer.status_code, answer.text


def linked(html, path):
    """The ids of the entries that a list links to, in its order."""
    return re.findall(rf'href="{path}/([^"?]+)\?', html)


def outcome(number, *, success=True, days_ago=1.0, **fields):
    return {
        "task_id": f"t{number}",
        "success": success,
        "error_count": 0 if success else 9,
        "retry_count": 0 if success else 9,
        "timestamp": time.time() - days_ago * DAY,
        **fields,
    }


@pytest.fixture(scope="module")
def entries(shown_store):
    """A project of this module's own: nothing else changes it."""
    project = "entries"
    calls = [{"tool": "pay", "ok": False, "error": "Error: no funds"}] * 2
    shown_store.teach(
        project,
        [
            *(
                outcome(n, days_ago=30 - n, patterns=["reads first"],
                        source="ana" if n % 2 else "dora", outcome_source="tests",
                        criteria={"polite": "helpful", "a/b?c#d %25": "harmful"})
                for n in range(8)
            ),
            *(
                outcome(n, success=False, days_ago=20, patterns=["guesses"], source="ben",
                        tool_graph=calls)
                for n in range(20, 26)
            ),
            *(
                outcome(n, success=False, days_ago=20, patterns=["guesses"], source="cem")
                for n in range(30, 36)
            ),
            *(outcome(n, patterns=[f"pattern {n}"]) for n in range(100, 160)),
        ],
    )  # fmt: skip
    shown_store.remember(project, ["Payments need an id.", "Ärger mit Umlauten: ÄÖÜ."])
    return project


def test_lists_are_searched_filtered_sorted_and_paged(page_door, entries):
    """As the command line filters, and each page leads to the next."""

    def patterns(**query):
        status, html = get(page_door, "/patterns", project=entries, **query)
        assert status == 200, html
        return linked(html, "/patterns"), html

    first, html = patterns()
    assert len(first) == 50
    assert first[0] == "reads-first"
    after = re.search(r'rel="next" href="([^"]+)"', html)[1]
    assert len(linked(get(page_door, unescape(after))[1], "/patterns")) == 12
    assert patterns(q="READS")[0] == ["reads-first"]
    assert patterns(state="anti-pattern")[0] == ["anti-guesses"]
    assert patterns(source="ben")[0] == ["anti-guesses"]
    assert patterns(sort="-harmful")[0][0] == "anti-guesses"
    assert patterns(tag="nobody")[0] == []
    assert "No pattern is as you ask" in patterns(tag="nobody")[1]
    assert get(page_door, "/patterns", project=entries, sort="luck")[0] == 422
    assert get(page_door, "/patterns", project=entries, cursor="-1")[0] == 422
    assert get(page_door, "/patterns", project=entries, state="lucky")[0] >= 400


def test_lessons_memories_and_criteria_are_filtered(page_door, entries):
    """Each by what its command filters by."""
    _, lessons = get(page_door, "/lessons", project=entries, source="ben", tool="pay")
    assert len(linked(lessons, "/lessons")) == 1
    for query in ({"source": "ana"}, {"kind": "then-works"}, {"q": "nothing of it"}):
        _, html = get(page_door, "/lessons", project=entries, **query)
        assert linked(html, "/lessons") == [], query
    _, memories = get(page_door, "/memories", project=entries, q="ärger MIT")
    assert linked(memories, "/memories") == ["entries-m1"]
    for query in ({"source": "nobody"}, {"type": "anti-pattern"}, {"min_confidence": "0.9"}):
        _, html = get(page_door, "/memories", project=entries, **query)
        assert linked(html, "/memories") == [], query
    _, criteria = get(page_door, "/criteria", project=entries, sort="-weight")
    assert linked(criteria, "/criteria") == ["polite", quote("a/b?c#d %25", safe="")]


def test_a_mistyped_id_is_answered_with_the_nearest_one(page_door, entries):
    """And an entry of another project is as unknown as one that never was."""
    for path, mistyped, nearest in (
        ("/patterns", "read-first", "reads-first"),
        ("/memories", "entries-m11", "entries-m1"),
        ("/criteria", "polit", "polite"),
    ):
        status, html = get(page_door, f"{path}/{mistyped}", project=entries)
        assert status == 404
        assert nearest in html, path
    assert get(page_door, "/patterns/reads-first", project=FLEET)[0] == 404
    assert get(page_door, "/memories/entries-m1", project=FLEET)[0] == 404


def test_everything_that_can_be_decided_about_a_pattern(window, shown_store, entries):
    """Asked about with a reason, done, said as the command says it, and kept in the history."""
    look = window()
    look.open(f"/patterns/reads-first?project={entries}")
    assert "tasks with it succeeded. That is enough to call it proven." in look.text("main")
    assert "after decay" not in look.text("main")
    look.click("Deprecate")
    look.page.evaluate("document.querySelector('textarea').required = false")
    look.click("Deprecate it")
    assert "reason" in look.text("[role=alert]")
    look.page.fill("textarea", "The policy changed.")
    look.page.fill("input[name=by]", "carla")
    look.click("Deprecate it")
    assert look.said() == "reads-first: proven → deprecated"
    assert "deprecated: proven → deprecated by carla: The policy changed." in look.text("main")
    look.click("Reset")
    look.click("Reset it")
    assert look.said() == "reads-first: deprecated → proven"
    look.click("Promote")
    look.click("Promote it")
    assert look.said() == "reads-first: proven → proven"
    look.page.fill("input[name=add]", "audited")
    look.click("Add")
    look.click("Add the tag")
    assert look.said() == "reads-first: audited"
    look.click("Remove")
    look.click("Remove the tag")
    assert look.said() == "reads-first: no tags"
    look.click("It was harmful")
    look.click("It was harmful")
    assert look.said().endswith(": harmful")
    assert "8 of the 8 tasks with it succeeded" in look.text("main")
    look.page.get_by_text("The numbers behind it").click()
    assert "8 · 0 · 1" in look.text("main")
    with look.page.expect_navigation():
        look.page.locator("tbody a").first.click()
    assert "/runs/entries-" in look.page.url
    with shown_store.calls(entries):
        (pattern,) = trackrecord.list_patterns(content="reads first")
    assert (pattern.standing.state, pattern.standing.evidence.harmful) == ("proven", 1)
    look.take_wrong()


def test_a_memory_is_added_judged_and_forgotten(window, shown_store, entries):
    """Its confidence follows, its history says why; forgetting leads back to the list."""
    look = window()
    look.open(f"/memories?project={entries}")
    look.page.click(".adding summary")
    look.page.fill("textarea", "Refunds take <b>five</b> days.")
    look.page.fill(".adding input[name=source]", "dora")
    look.click("Add it")
    look.click("Remember it")
    memory_id = look.said()
    look.open(f"/memories/{memory_id}?project={entries}")
    assert look.text("h1") == "Refunds take <b>five</b> days."
    assert "dora" in look.text("main")
    look.click("Confirm")
    look.click("Confirm it")
    assert look.said() == f"{memory_id}: memory, 0.6"
    look.click("Reject")
    look.click("Reject it")
    assert look.said() == f"{memory_id}: memory, 0.45"
    assert "rejected, confidence 0.45" in look.text("main")
    look.click("Forget")
    assert "cannot be undone" in look.text("main")
    look.click("Forget it")
    assert look.said() == f"{memory_id}: forgotten"
    with shown_store.calls(entries):
        assert memory_id not in [memory.id for memory in trackrecord.list_memories()]
    assert look.take_wrong() == []


def test_a_criterion_with_any_name_is_judged(window, shown_store, entries):
    """Its page is found under its name, and the form comes back to it."""
    look = window()
    look.open(f"/criteria?project={entries}")
    with look.page.expect_navigation():
        look.page.get_by_role("link", name="a/b?c#d %25").click()
    assert look.text("h1") == "a/b?c#d %25"
    assert "deprecated" in look.text("main")
    look.click("It was right")
    look.click("It was helpful")
    assert look.text("h1") == "a/b?c#d %25"
    assert "1 of 9 times it was called helpful" in look.text("main")
    look.page.get_by_text("The numbers behind it").click()
    assert "1 · 0 · 8" in look.text("main")
    with shown_store.calls(entries):
        details = trackrecord.show_criterion("a/b?c#d %25")
    assert details.standing.evidence.helpful == 1
    assert look.take_wrong() == []


def test_pages_stay_small_in_a_large_project(page_door, shown_store):
    """With five thousand patterns, all of which have just become warnings."""
    names = [f"pattern number {n}" for n in range(5000)]
    shown_store.teach(
        "large",
        [
            # Of a kind of its own: there is nothing that the patterns could be compared with.
            outcome(
                1000 * number + start,
                success=False,
                patterns=names[start : start + 50],
                trigger={"signal": f"signal {start}"},
            )
            for number in range(6)
            for start in range(0, len(names), 50)
        ],
    )
    status, html = get(page_door, "/", project="large")
    assert status == 200
    assert re.search(r"and 5\W000 warnings", html)
    assert re.search(r"lists 4\W990 more", html)
    assert len(linked(html, "/patterns")) == 10
    assert len(html.encode()) <= 100_000
    status, html = get(page_door, "/patterns", project="large")
    assert (status, len(html.encode()) <= 200_000) == (200, True)
