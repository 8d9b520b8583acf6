"""Which runs count for a competence record, how they went, and what they had been handed."""

from pathlib import Path

from tests.store.teaching import learn_reports
from trackrecord.learning.competences.record import competence_id
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.reports.record_runs import runs_behind_record
from trackrecord.resources.reports.run_exposures import exposures_of_run, kind_of
from trackrecord.resources.reports.runs import find_run
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.advice.exposures import ReceivedExposure, record_exposures
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.wire.exposure import ExposureBody
from trackrecord_consolidation.run import consolidate

# No Redis is there: rankings are a worker's matter then.
SETTINGS = DaemonSettings(home=Path("/nowhere"))
NOW = 1_780_000_000.0
DAY = 86_400.0
RECORD = competence_id("default", "book+find")


def teach(store, bodies, *, first=NOW, step=1.0):
    """Learn outcomes, one received each step."""
    times = [first + number * step for number in range(len(bodies))]
    reports = [
        {"outcome_id": f"o{at:.0f}", "timestamp": at, **fields}
        for at, fields in zip(times, bodies, strict=True)
    ]
    learn_reports(
        store, reports, SETTINGS.rules, now=first, received=lambda number, _: times[number]
    )


def run(number, *tools, success=True, **fields):
    calls = [{"tool": tool.strip("!"), "ok": not tool.endswith("!")} for tool in tools]
    return {"task_id": f"t{number}", "success": success, "tool_graph": calls, **fields}


def bookings(count, *, success=True):
    return [run(number, "find", "book", success=success) for number in range(count)]


def make_records(store, *, now):
    consolidate(store, SETTINGS.competence, "default", now=now, actor="a test")


def behind(store, **asked):
    with reading(store) as connection:
        return runs_behind_record(connection, "default", RECORD, **asked)


def ids(found):
    return [line.outcome_id for line in found]


def test_successes_and_failures_with_its_tools_count_and_others_do_not(store):
    """Newest first."""
    teach(store, [*bookings(3), *bookings(2, success=False), run(9, "find"), run(10, "find")])
    make_records(store, now=NOW + DAY)
    found = behind(store)
    assert ids(found.runs) == [f"o{NOW + number:.0f}" for number in (4, 3, 2, 1, 0)]
    assert not found.are_more


def test_what_a_run_was_handed_says_what_it_followed(store):
    """A pattern by its name, a procedure by its tools; of a memory no run tells."""
    teach(store, bookings(2))
    make_records(store, now=NOW + DAY)
    handed = ("reads-first", "asks-first", RECORD, "memory:m1", "anti-guesses")
    exposure = ExposureBody(task_id="t7", entries=handed, at=NOW + 2 * DAY)
    late = ExposureBody(task_id="t7", entries=("later",), at=NOW + 9 * DAY)
    with writing(store) as connection:
        rows = ensure_projects(connection, ["default"])
        record_exposures(
            connection,
            rows,
            [
                ReceivedExposure(exposure, "e1", NOW + 2 * DAY),
                ReceivedExposure(late, "e2", NOW + 9 * DAY),
            ],
        )
    teach(store, [run(7, "find", "book", patterns=["reads first"])], first=NOW + 3 * DAY)
    with reading(store) as connection:
        shown = find_run(connection, "default", f"o{NOW + 3 * DAY:.0f}")
        given = {"ended_at": shown.ended_at, "at": NOW + DAY}
        row = project_row(connection, "default")
        assert exposures_of_run(connection, row, shown.task_id, None, **given) == ()
    (found,) = shown.handed
    assert (shown.competence, shown.patterns) == (RECORD, ("reads-first",))
    assert [each.followed for each in found.entries] == [True, False, True, None, True]
    assert kind_of("memory:m1") == ("memory", "m1")
    assert found.to_document()["entries"][2]["kind"] == "competence"
