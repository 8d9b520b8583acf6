"""Procedures on the page: searched, opened, and revised in a real browser."""

import random
import time

import pytest

from trackrecord.learning.competences.record import competence_id
from trackrecord.resources.access.project_store import Transaction
from trackrecord.resources.experience.competences import details_of
from trackrecord.store.database.engine import reading

HOUR = 3600.0
BOOKING = ("find_user", "check_payment", "update_booking")
SEARCH = ("find_user", "search_flights")


def calls(tools, *, fails=()):
    return [
        {
            "tool": tool,
            "ok": tool not in fails,
            "error": "payment does not match" if tool in fails else None,
        }
        for tool in tools
    ]


def outcomes(project):
    """Bookings that fail at the payment now and then, and searches that always work."""
    chance = random.Random(7)
    for number in range(20):
        fails = ("check_payment",) if chance.random() < 0.4 else ()
        tools = (*BOOKING[:2], *BOOKING[1:]) if fails else BOOKING
        yield {
            "task_id": f"b{number}",
            "success": not fails,
            "timestamp": time.time() - (40 - number) * HOUR,
            "tool_graph": calls(tools, fails=fails),
        }
    for number in range(4):
        yield {"task_id": f"s{number}", "success": True, "tool_graph": calls(SEARCH)}


@pytest.fixture(scope="module")
def project(shown_store):
    name = "procedures"
    shown_store.teach(name, outcomes(name))
    shown_store.consolidate(name)
    return name


def record_of(project, tools):
    return competence_id(project, "+".join(sorted(tools)))


def status_of(store, project, record):
    with reading(store.engine) as connection:
        found = details_of(Transaction(connection, store.settings, project), record)
    return found.status, found.history[-1]


def test_a_procedure_is_searched_opened_and_retracted_with_a_reason(window, shown_store, project):
    """The list finds it by a tool; its page has the runs behind it; a decision is asked about."""
    look = window()
    look.open(f"/procedures?project={project}")
    look.page.fill("[name=q]", "check_payment")
    look.click("Show")
    assert "1–1 of 1" in look.text("nav.paging")
    look.page.locator("main tbody a").click()
    assert look.page.locator("[aria-label^='Runs behind'] tbody tr").count() == 20
    look.click("Retract")
    look.page.fill("[name=reason]", "payments changed")
    look.click("Retract it")
    record = record_of(project, BOOKING)
    assert f"{record} is retracted now" in look.said()
    status, change = status_of(shown_store, project, record)
    assert (status, change.rationale) == ("retracted", "payments changed")
    assert "payments changed" in look.text(".history")
    assert look.page.get_by_role("button", name="Reinforce").count() == 0
    assert look.take_wrong() == []


def posted(http, project, action, fields, **confirmed):
    """Post a form as a browser does from a page of the same server."""
    headers = {"Sec-Fetch-Site": "same-origin", "Origin": f"http://{http.base_url.netloc.decode()}"}
    return http.post(
        f"/procedures/{action}?project={project}", data={**fields, **confirmed}, headers=headers
    )


@pytest.mark.parametrize(
    ("action", "fields", "change"),
    [
        ("reinforce", {}, "reinforced"),
        ("penalize", {"amount": "0.2"}, "penalized"),
        ("contest", {"evidence": "ticket 7"}, "contested"),
        ("supersede", {"other": "{other}"}, "superseded"),
    ],
)
def test_each_revision_is_asked_about_and_then_done(http, shown_store, action, fields, change):
    """Without a confirmation nothing changes; with one the history has the reason."""
    project = f"revised-{action}"
    shown_store.teach(project, outcomes(project))
    shown_store.consolidate(project)
    record, other = record_of(project, SEARCH), record_of(project, BOOKING)
    given = {"id": record} | {name: text.format(other=other) for name, text in fields.items()}
    asked = posted(http, project, action, given)
    assert (asked.status_code, '<textarea name="reason"' in asked.text) == (200, True)
    assert status_of(shown_store, project, record)[1].action == "created"
    without = posted(http, project, action, given, confirmed="yes", by="ann")
    assert without.status_code == 422
    done = posted(http, project, action, given, confirmed="yes", by="ann", reason="seen twice")
    assert (done.status_code, done.headers["location"]) == (
        303,
        f"/procedures/{record}?project={project}",
    )
    _, last = status_of(shown_store, project, record)
    assert (last.action, last.actor, last.rationale) == (change, "ann", "seen twice")
