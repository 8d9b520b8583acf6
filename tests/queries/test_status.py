"""The status: what it shows of servers, and what its verdict says."""

import time
from dataclasses import replace

import pytest
import sqlalchemy

from tests.store.teaching import learn_reports
from trackrecord.resources.access.project_store import Transaction
from trackrecord.resources.experience.patterns import patterns_of
from trackrecord.resources.operation.flow import Flow
from trackrecord.resources.operation.status import _learnt, _verdict
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.server_urls import without_password
from trackrecord.store.database.engine import reading

NOW = time.time() - 3600.0
SETTINGS = DaemonSettings()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:hunter2@host:6379/0", "redis://:***@host:6379/0"),
        ("rediss://me:hunter2@host:6379/0?password=hunter2", "rediss://me:***@host:6379/0"),
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("redis://[::1]:6379/0", "redis://[::1]:6379/0"),
        ("unix:///run/redis.sock?db=1", "unix:///run/redis.sock"),
        ("postgresql+psycopg://me:hun@ter2@host/x?password=hunter2",
         "postgresql+psycopg://me:***@host/x"),
        ("sqlite:////var/lib/trackrecord/trackrecord.db",
         "sqlite:////var/lib/trackrecord/trackrecord.db"),
    ],
)  # fmt: skip
def test_a_servers_address_is_shown_without_its_password(url, shown):
    """Options of the URL are left out: one of them may be a password."""
    assert without_password(url) == shown


def _of(workers=1, rebuild_due=(), spooled=0, **changed):
    flow = Flow(0, None, 0, 0, 0, 0, memory_full=False, alive=("worker",) * workers)
    return _verdict(replace(flow, **changed), rebuild_due=dict(rebuild_due), spooled=spooled)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "Outcomes are being learnt by 1 worker; all is well."),
        ({"workers": 2, "waiting": 5, "oldest_waiting_s": 1.0},
         "Outcomes are being learnt by 2 workers; all is well."),
        ({"workers": 0}, "Nothing can be learnt: no worker is running. Start one with "),
        ({"workers": 0, "waiting": 1}, "1 outcome will wait until then"),
        ({"waiting": 7, "oldest_waiting_s": 90.0}, "the oldest of 7 waiting outcomes is 90 s old"),
        ({"dead_letters": 1}, "1 dead letter (`trackrecord dead list`)"),
        ({"dead_letters": 9, "dead_letters_dropped": 5},
         "9 dead letters, 5 older ones dropped (`trackrecord dead list`)"),
        ({"memory_full": None}, "Outcomes are being learnt by 1 worker; all is well."),
        ({"memory_full": True, "waiting": 3, "spooled": 2},
         "agents spool (2 outcomes so far); 1 worker is making room, with 3 outcomes to be"),
        ({"memory_full": True, "workers": 0}, "Redis's memory is full"),
        ({"memory_full": True, "workers": 0}, "no worker asks for outcomes: start one"),
        ({"spooled": 3}, "3 outcomes in the spool"),
        ({"rebuild_due": {"a": ["x"]}}, "1 project to rebuild (`trackrecord rebuild`)"),
    ],
)  # fmt: skip
def test_the_verdict_is_one_sentence_about_what_matters(changed, said):
    """Whether outcomes are learnt, and what to look into."""
    assert said in _of(**changed)
    assert "\n" not in _of(**changed)


def taught(store, project, patterns):
    """Learn what {pattern: [(source, successes, failures)]} says."""
    reports = [
        {
            "outcome_id": f"{project} {name} {source} {success} {number}",
            "task_id": f"{name} {source} {success} {number}", "project": project,
            "success": success, "patterns": [name], "source": source, "timestamp": NOW,
        }
        for name, told in patterns.items()
        for source, *counts in told
        for success, count in zip((True, False), counts, strict=True)
        for number in range(count)
    ]  # fmt: skip
    learn_reports(store, reports, SETTINGS.rules, now=NOW)


def asked_of(store, project):
    """Return the status, and how often the database was queried for it."""
    statements = []
    sqlalchemy.event.listen(
        store, "before_cursor_execute", note := lambda *given: statements.append(given[2])
    )
    with reading(store) as connection:
        found = _learnt(connection, SETTINGS, project)
    sqlalchemy.event.remove(store, "before_cursor_execute", note)
    return (found["patterns"], found["anti_patterns"]), len(statements)


def test_warnings_are_counted_by_what_their_sources_agree_on(store):
    """As the lists have them: where several speak, one source alone makes no warning."""
    taught(store, "one", {"fails": [("x", 0, 9)], "works": [("x", 9, 0)], "new": [("x", 0, 1)]})
    taught(
        store,
        "several",
        {
            "agreed": [("x", 0, 9), ("y", 1, 9)],
            "of one": [("x", 0, 9), ("y", 3, 0)],
            "works": [("y", 9, 0)],
        },
    )
    for project, counts in (("one", (2, 1)), ("several", (2, 1)), (None, (4, 2))):
        assert asked_of(store, project)[0] == counts
    with reading(store) as connection:
        listed = [
            each.standing.is_inverted
            for project in ("one", "several")
            for each in patterns_of(Transaction(connection, SETTINGS, project))
        ]
    assert (listed.count(False), listed.count(True)) == (4, 2)


def test_many_projects_are_counted_as_fast_as_few(store):
    """The database is asked as often for twelve projects as for two."""
    for number in range(2):
        taught(store, f"p{number}", {"works": [("x", 3, 0)], "mixed": [("y", 2, 2)]})
    few = asked_of(store, None)
    for number in range(2, 12):
        taught(store, f"p{number}", {"works": [("x", 3, 0)], "mixed": [("y", 2, 2)]})
    many = asked_of(store, None)
    assert (few[0], many[0]) == ((4, 0), (24, 0))
    assert many[1] == few[1]
