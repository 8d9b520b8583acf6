"""Runs and the prompt on the page: filtered, opened, tried; and looking hands nothing out."""

import time

import pytest
from sqlalchemy import func, select

from trackrecord.inflight.reports import error_report
from trackrecord.inflight.store import write_reports
from trackrecord.store.database.engine import reading
from trackrecord.store.database.metadata import metadata
from trackrecord_worker.caching.advise import Adviser

NOW = time.time()


def call(tool, start, took_ms, *, ok=True):
    return {
        "tool": tool,
        "ok": ok,
        "timestamp": NOW - 100 + start,
        "duration_ms": took_ms,
        "args": {"query": "Zürich", "city": 7},
        "error": None if ok else "no seat is left",
    }


def outcomes():
    for number in range(70):
        yield {
            "outcome_id": f"search-{number:02}",
            "task_id": f"task-{number // 2}",
            "success": number % 3 != 0,
            "source": "planner" if number % 2 else "searcher",
            "timestamp": NOW - 10_000 + number,
            "instruction": "Find a flight to Zürich on Friday.",
            "tool_graph": [{"tool": "search", "ok": True}],
        }
    yield {
        "outcome_id": "booking",
        "task_id": "task-b",
        "success": False,
        "timestamp": NOW - 50,
        "tool_graph": [
            call("find_user", 0, 1000),
            call("search", 2, 8000),
            call("search_hotels", 4, 4000),
            call("book", 11, 2000, ok=False),
        ],
        "instruction": "Book a seat,\nthen a HOTEL by the lake.",
        "grounds": [{"kind": "result", "says": "the booking is missing", "call": 3}],
        "outcome_source": "evaluator",
        "memory_ids": ["m1"],
        "commits": ["0123abcdef"],
        "patterns": ["asks first"],
        "metadata": {"work_folder": "travel", "seats": {"row": 7}},
    }


@pytest.fixture(scope="module")
def project(shown_store):
    name = "travel"
    shown_store.teach(name, outcomes())
    shown_store.hand_out(name, [("task-b", ("asks-first", "memory:m1"), False)])
    shown_store.consolidate(name)
    shown_store.remember(name, ["Flights to Zürich on Friday are sold out by Wednesday."])
    shown_store.refresh(name)
    return name


def test_runs_are_filtered_paged_and_opened(window, project):
    """From the list to the one run with a failed call: its time line, grounds, and what it got."""
    look = window()
    look.open(f"/runs?project={project}")
    rows = look.page.locator("main tbody tr")
    assert rows.count() == 50
    look.page.get_by_role("link", name="Older").click()
    assert rows.count() == 21
    look.page.get_by_role("link", name="Newest").click()
    look.page.check("[name=failed]")
    look.click("Show")
    assert rows.count() == 1
    assert look.text("main tbody a") == "Book a seat, then a HOTEL by the lake."
    look.page.locator("main tbody a").click()
    assert look.text("h1") == "Book a seat, then a HOTEL by the lake."
    numbers = look.page.locator("td.numeric.narrow").all_inner_texts()
    lines = look.page.locator("td.tool code").all_inner_texts()
    assert (numbers, lines) == (["1", "2", "3", "4"], ["Zürich"] * 4)
    main = look.text("main")
    for words in (
        "did not reach its goal, as an evaluator found",
        "the booking is missing (call 4)",
        "✕ failed: no seat is left",
        "in parallel",
        "asks-first",
    ):
        assert words in main
    bars = look.page.locator("td.lane rect.fill-good, td.lane rect.fill-bad")
    assert [bar.get_attribute("class") for bar in bars.all()] == ["fill-good"] * 3 + ["fill-bad"]
    starts = [float(bar.get_attribute("x") or "nan") for bar in bars.all()]
    assert starts == sorted(starts)
    look.page.get_by_text("✕ failed").click()
    assert "Zürich" in look.text("td details[open]")
    assert look.take_wrong() == []


def test_a_run_shows_what_its_task_was_handed_and_the_errors_in_flight(http, shown_store, project):
    """With links to what was handed out; an error of the task stands there until it expires."""
    report = error_report("task-b", "timeout", "the hotel did not answer", tool_name="search")
    settings = shown_store.settings
    write_reports(shown_store.client, settings.keys, settings.errors, [(project, report)])
    page = http.get(f"/runs/booking?project={project}").text
    assert f"/patterns/asks-first?project={project}" in page
    assert f"/memories/m1?project={project}" in page
    assert f"/lessons?project={project}&amp;tool=book" in page
    assert "runs do not show it" in page
    assert "the hotel did not answer" in page
    assert "<dt>Work folder</dt><dd><bdi>travel</bdi></dd>" in page
    assert "<dt>Seats</dt>" in page
    assert "<dt>More</dt>" not in page
    # Where there is nothing to say, nothing is said.
    assert "What it was handed" in page
    assert "What it was handed" not in http.get(f"/runs/search-00?project={project}").text


def test_a_run_tells_each_amendment(http, shown_store):
    """Also what was said before the last word."""
    name = "amended"
    run = {"outcome_id": "o", "task_id": "t", "timestamp": NOW, "tool_graph": [{"tool": "find"}]}
    words = [
        {"success": n % 2 == 0, "grounds": [{"kind": "seen", "says": f"no {n}"}]} for n in (1, 2, 3)
    ]
    shown_store.teach(name, [run | {"success": True}])
    for number, word in enumerate(words):
        later = {"outcome_id": "o", "task_id": "t", "timestamp": NOW + number + 1}
        shown_store.teach(name, [later | word])
    page = http.get(f"/runs/o?project={name}").text
    told = page.split("<h3>Amended</h3>")[1]
    assert [f"seen: no {n}" in told for n in (1, 2, 3)] == [True] * 3


def test_what_an_agent_would_get_follows_the_task_and_the_budget(window, project):
    """Typed and shown; the slider takes it all away again, and says why."""
    look = window()
    look.open(f"/prompt?project={project}")
    look.page.fill("[name=task]", "Find a flight to Zürich on Friday")
    look.click("Show what an agent would get")
    assert "sold out by Wednesday" in look.text("main pre")
    assert "similarity" in look.text("[aria-label='Lines that are in, and why']")
    slider = look.page.locator("[name=budget]")
    with look.page.expect_navigation():
        slider.focus()
        look.page.keyboard.press("Home")
    assert "An empty text is a valid answer" in look.text("main")
    assert "no room in the budget" in look.text("main")
    assert look.take_wrong() == []


def snapshot(store):
    """Everything in the database and in Redis."""
    with reading(store.engine) as connection:
        counts = {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in metadata.sorted_tables
        }
    names = sorted(store.client.keys())
    return counts, {name: store.client.dump(name) for name in names}


def test_looking_hands_nothing_out(http, shown_store, project):
    """No exposure, no recall, nothing on the stream: with an id of a task, too."""
    task = "task=Find+a+flight+to+Z%C3%BCrich&task_id=task-new&budget=800"
    http.get(f"/prompt?project={project}&{task}")
    before = snapshot(shown_store)
    for query in (task, "budget=0", ""):
        answer = http.get(f"/prompt?project={project}&{query}")
        assert answer.status_code == 200
    assert "sold out by Wednesday" in http.get(f"/prompt?project={project}&{task}").text
    assert snapshot(shown_store) == before


def test_the_overview_shows_the_days_on_which_tasks_ended(shown_store, http):
    """Of a month that was imported half a year later, too."""
    name, day = "imported", 86_400
    told = [
        {"task_id": f"t{n}", "success": [True, True, True, False, None][n % 5], "timestamp": at}
        for n, at in enumerate(NOW - (180 + n) * day for n in range(10))
    ]
    shown_store.teach(name, told)
    page = http.get(f"/?project={name}").text.split("<main")[1]
    assert page.index("How tasks went") < page.index("the loop")
    assert "last seven days" not in page
    assert "Outcomes by day: 10 in all" in page
    # The chart ends with the last day on which one ended, not a year of nothing later.
    last, today = (time.strftime("%Y-%m-%d", time.gmtime(at)) for at in (NOW - 180 * day, NOW))
    labels = page.split('class="plot-labels"')[1].split("</div>")[0]
    assert (last in labels, today in labels) == (True, False)


def _session(number: int, days_ago: float, *, kind: str | None = None):
    """A captured run of a session whose tests did not start, and a minute later did."""
    at = NOW - days_ago * 86_400
    calls = [
        {
            "tool": "shell:npm test", "args": {"command": line}, "ok": ok,
            "timestamp": at - 60 * left,
            "error": None if ok else "sh: 1: vitest: not found",
            "checks": [{
                "kind": "test", "state": "passed" if ok else "not started", "line": line,
                "is_whole": True,
            }],
        }
        for line, ok, left in (("npm test", False, 2), ("npx vitest", True, 1))
    ]  # fmt: skip
    return {
        "outcome_id": f"claude-code:s{number}:p", "task_id": f"s{number}", "success": True,
        "timestamp": at, "tool_graph": calls, "captured_from": "transcript",
        "metadata": {"session": f"s{number}"},
        "grounds": [{"kind": kind}] if kind else [],
    }  # fmt: skip


def test_the_overview_compares_the_last_week_with_the_one_before(shown_store, window):
    """What never runs is a card with both lines to copy; runs are listed by session."""
    told = [_session(number, 8 + number / 10) for number in range(6)]
    told += [_session(10, 1, kind="no check"), _session(11, 2, kind="interrupted")]
    shown_store.teach("weekly", told)
    Adviser(shown_store.engine, shown_store.client, shown_store.settings).advise("weekly")
    look = window()
    look.open("/?project=weekly")
    rows = [" ".join(row.split()) for row in look.page.locator("tbody tr").all_inner_texts()]
    assert rows[:5] == [
        "Runs 2 6",
        "Sessions 2 6",
        "Edits that nothing checked 1 0",
        "Interrupted 1 0",
        "Lost to commands that never run 2 min 6 min",
    ]
    lines = look.page.locator(".card .line code").all_inner_texts()
    assert lines == ["npm test", "npx vitest"]
    look.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    look.page.click(".card .line:last-child button")
    assert look.page.evaluate("navigator.clipboard.readText()") == "npx vitest"
    look.open("/runs?project=weekly")
    assert look.page.locator("tr.session").count() == 8
    assert look.page.locator("nav.main a:visible").count() == 4
