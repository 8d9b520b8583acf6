"""trackrecord prune: what is older than the retention settings say goes, and commands say so."""

import json
import time

import pytest

from tests.store.teaching import DAY, outcome, teach
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.settings.settings import load_settings
from trackrecord.store.database.engine import connect_store, writing
from trackrecord.store.database.migrate import migrate, store_at
from trackrecord_consolidation.run import consolidate
from trackrecord_consolidation.run_lease import RunLease


@pytest.fixture
def aged(home, monkeypatch):
    """A store with an outcome of today, one of last month, and one of last year: without a time."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    engine = connect_store(load_settings().effective_database_url)
    migrate(engine)
    now = time.time()
    for name, days in (("year", 365), ("month", 30), ("today", 0)):
        received = now - days * DAY
        told = outcome(
            name, received=received, timestamp=None if name == "year" else received,
            project="shop", patterns=["plan"],
            instruction="mend the xylophon", criteria={"own": "helpful"},
            tool_graph=[{"tool": "sh", "args": {"x": "xylophon"}}],
        )  # fmt: skip
        teach(engine, [told], now=received)
        consolidate(engine, CompetenceRules(), "shop", now=received, actor="nightly")
    engine.dispose()
    return now


def day_before(now, days):
    """The day up to which what is older than that is removed."""
    return time.strftime("%Y-%m-%d", time.gmtime((now // DAY - days) * DAY))


def test_it_removes_by_the_settings_and_commands_say_so(aged, trackrecord, monkeypatch):
    """Counts stay; what is no longer there is named with its day."""
    ran = trackrecord("prune")
    assert ran.status == 2
    assert "no retention is set" in ran.err
    monkeypatch.setenv("TRACKRECORD_RETENTION__BODIES_DAYS", "7")
    monkeypatch.setenv("TRACKRECORD_RETENTION__OUTCOMES_DAYS", "90")
    would = trackrecord("prune", "--dry-run")
    assert "1 outcome would be removed; the texts of 1 outcome would be removed" in would.out
    ran = trackrecord("prune", "--project", "shop")
    assert ran.status == 0, ran.err
    assert ran.out == would.out.replace("would be ", "")
    (again,) = trackrecord("prune", "--json").json
    assert (again["outcomes"], again["bodies"]) == (0, 0)

    shop = ("--project", "shop")
    until, texts_until = day_before(aged, 90), day_before(aged, 7)
    (pattern,) = trackrecord("patterns", "list", *shop, "--json").json
    assert pattern["helpful_count"] == 3
    gone = trackrecord("runs", "show", "oyear", *shop)
    assert gone.status == 1
    assert f"outcomes received before {until} are removed" in gone.err
    gone = trackrecord("amend", "--commit", "0" * 40, "--success", "--reason", "x", *shop)
    assert gone.status == 1
    assert f"outcomes received before {until} are removed" in gone.err
    thin = trackrecord("runs", "show", "omonth", *shop, "--json")
    assert f"texts of outcomes received before {texts_until} are removed" in thin.json["removed"]
    assert "xylophon" not in thin.out
    whole = trackrecord("runs", "show", "otoday", *shop, "--json")
    assert whole.json["removed"] is None
    assert "xylophon" in whole.out
    because = trackrecord("explain", "plan", *shop, "--json").json["because"]
    assert f"outcomes received before {until} are removed" in because[-1]
    exported = trackrecord("export", *shop)
    assert exported.out.count("xylophon") > 0
    for ran in (trackrecord("rebuild", *shop), exported):
        assert ran.status == 0
        assert f"outcomes received before {until} are removed" in ran.err
        assert f"texts of outcomes received before {texts_until} are removed" in ran.err
    (pattern,) = trackrecord("patterns", "list", *shop, "--json").json
    assert pattern["helpful_count"] == 3


def test_a_busy_project_is_skipped_and_named(store_url, home, trackrecord, monkeypatch):
    """The others are seen to."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    monkeypatch.setenv("TRACKRECORD_DATABASE_URL", store_url)
    store = connect_store(store_url)
    monkeypatch.setenv("TRACKRECORD_RETENTION__OUTCOMES_DAYS", "90")
    long_ago = time.time() - 365 * DAY
    for project in ("busy", "free"):
        teach(store, [outcome(n, received=long_ago, project=project) for n in "ab"], now=long_ago)
    teach(store, [outcome("last", project="free")])
    with writing(store) as connection:
        RunLease("busy", 600.0).take(connection)
    ran = trackrecord("prune", "--json")
    assert ran.status == 2
    assert ran.err.startswith("trackrecord: skipped, because")
    assert "consolidated: busy;" in ran.err
    assert [(each["project"], each["outcomes"]) for each in ran.json] == [("free", 2)]
    store.dispose()


def test_an_export_of_what_is_left_knows_the_rest(aged, trackrecord, monkeypatch, tmp_path):
    """Imported elsewhere, everything counts as it did, also after a rebuild."""
    monkeypatch.setenv("TRACKRECORD_RETENTION__OUTCOMES_DAYS", "90")
    assert trackrecord("prune").status == 0
    shop, copy = ("--project", "shop"), ("--project", "copy")
    file = tmp_path / "shop.jsonl"
    assert trackrecord("export", file, *shop).status == 0
    assert json.loads(file.read_text().splitlines()[0])["project"] == "shop"
    ran = trackrecord("import", "jsonl", file, *copy)
    assert ran.status == 0, ran.err
    for _ in range(2):
        listed = [trackrecord("patterns", "list", *of, "--json").json for of in (shop, copy)]
        assert [found[0]["helpful_count"] for found in listed] == [3, 3]
        projects = trackrecord("projects", "--json").json
        assert [each["outcomes"] for each in projects] == [3, 3]
        assert trackrecord("rebuild", *copy).status == 0
    with store_at(load_settings().effective_database_url) as engine:
        again = [outcome("year", received=aged, project=each) for each in ("shop", "copy")]
        assert teach(engine, again, now=aged).too_old == 2
