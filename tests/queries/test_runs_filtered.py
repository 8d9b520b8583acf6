"""Lists of runs: whatever is asked for, the runs that a look at each of them finds."""

import random
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete

import trackrecord
from tests.store.teaching import DAY, NOW, RULES, outcome, teach
from trackrecord.errors import UnknownId
from trackrecord.resources.access.project_store import ProjectStore, given_stores
from trackrecord.settings.daemon_settings import DaemonSettings, RetentionSettings
from trackrecord.store.advice.runs import list_again
from trackrecord.store.advice.tables import listed_runs
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.rebuild import rebuild_patterns
from trackrecord.store.transfer.export import export_project
from trackrecord.store.transfer.importing import import_project
from trackrecord_consolidation.retention import remove_old

RUNS = 50
QUESTIONS = 15
PAST = (NOW + RUNS * 0.7 * DAY, NOW + RUNS * 1.5 * DAY)
SOURCES = (None, "bot", "Bot", "50%_off", "a/b")
TOOLS = ("find", "book", "Find", "shell:git commit", "b\u00fccher_suche", "%", None)
KINDS = ("tests", "interrupted", "Tests")
COMMITS = ("0123456789abcdef", "0123456fedcba", "ffffffff00")
# Letters of any case, what a pattern would stand for, and more than a database looks for at once.
TEXTS = (
    None, "", "Mend the LOGIN page", "Stra\u00dfe nach \u0130stanbul", "100%_done/by\\me [x]*?",
    "the login" + " and so on" * 400 + " until the End", "login\nof two lines",
)  # fmt: skip
WANTED = ("login", "STRASSE", "100%_d", "%", "_", "*", "by\\ME", "page", "\u0130", "Login\nOf",
          "and so on " * 200 + "until the end", "nothing of the kind")  # fmt: skip


@pytest.fixture
def calls(store: Engine):
    """Lets the Python calls ask the store."""
    settings = DaemonSettings(home=Path("/nowhere"))
    with given_stores.within(ProjectStore(store, settings, "default")):
        yield


def some_calls(chance):
    count = chance.choice((0, 1, 1, 2, 3, 5))
    return [
        {
            "tool": chance.choice(TOOLS),
            "ok": chance.choice((True, True, False, None)),
            "error": chance.choice((None, None, "no seat is left", {"code": 7})),
        }
        for _ in range(count)
    ]


def reports(chance):
    """Reports of runs, some of which end at one moment; and later ones that amend some of them."""
    first = [
        outcome(
            number, received=NOW + number * DAY, timestamp=NOW + number // 3 * DAY,
            success=chance.choice((True, False, None)), source=chance.choice(SOURCES),
            task_id=f"t{number % 40}", instruction=chance.choice(TEXTS),
            grounds=[{"kind": kind} for kind in chance.sample(KINDS, chance.randrange(2))],
            commits=chance.sample(COMMITS, chance.randrange(2)), tool_graph=some_calls(chance),
            outcome_source="heuristic",
        )
        for number in range(RUNS)
    ]  # fmt: skip
    later = [
        outcome(
            number, received=NOW + (RUNS + number) * DAY, task_id=f"t{number % 40}",
            success=chance.choice((True, False)), grounds=[{"kind": "person"}],
            outcome_source="tests", source=first[number].speaker.partition(":")[2] or None,
        )
        for number in chance.sample(range(RUNS), 12)
    ]  # fmt: skip
    return [*first, *later]


def question(chance):
    """Two filters or so, some of them of the past."""
    asked = {
        "source": chance.choice([*SOURCES[1:], "nobody"]),
        "verdict": chance.choice(["success", "failure", "none"]),
        "ground": chance.choice([*KINDS, "person", "nothing"]),
        "tool": chance.choice([*TOOLS[:-1], "nothing"]),
        "failed": True,
        "task_id": f"t{chance.randrange(40)}",
        "commit": chance.choice(["0123456", "0123456789abcdef", "FFFFFFFF", "7777777"]),
        "text": chance.choice(WANTED),
    }
    names = chance.sample([*asked], chance.choice((0, 1, 1, 2, 2, 3)))
    return {name: asked[name] for name in names}, chance.choice((None, None, *PAST))


def admitted(run, asked):
    """Return whether a run is asked for, by what a list shows of it."""
    called = [
        call for call in run.calls if asked.get("tool") in (None, call.tool)
        and (call.failed or "failed" not in asked)
    ]  # fmt: skip
    return all((
        asked.get("source") in (None, run.source),
        asked.get("verdict") in (None, run.verdict),
        asked.get("ground") in (None, *(ground.kind for ground in run.grounds)),
        asked.get("task_id") in (None, run.task_id),
        any(each.startswith(asked.get("commit", "").lower()) for each in (*run.commits, "")),
        asked.get("text", "").casefold() in (run.instruction or "").casefold(),
        called or not {"tool", "failed"} & asked.keys(),
    ))  # fmt: skip


def check(chance, **where):
    """Compare some questions with a look at each run; return what a list of all of them has."""
    whole = {at: trackrecord.list_runs(limit=None, at=at, **where) for at in (None, *PAST)}
    for _ in range(QUESTIONS):
        asked, at = question(chance)
        wanted = [run for run in whole[at] if admitted(run, asked)]
        if not wanted and ("task_id" in asked or asked.get("ground") == "nothing"):
            continue  # what does not exist is refused
        paged, after = [], None
        while page := trackrecord.list_runs(limit=9, after=after, at=at, **asked, **where):
            paged += page
            after = page[-1].cursor
        assert paged == wanted, (asked, at)
        oldest = trackrecord.list_runs(limit=None, sort="ended", at=at, **asked, **where)
        assert oldest == wanted[::-1], (asked, at)
    return whole[None]


@pytest.mark.usefixtures("calls")
def test_filters_find_what_a_look_at_each_run_finds(store, tmp_path):
    """After amendments, a rebuild, an import, a migration, and without the texts, too."""
    chance = random.Random(0)
    for each in reports(chance):
        teach(store, [each], now=each.received_at)
    learnt = check(chance)
    with writing(store) as connection:
        rebuild_patterns(connection, 1, RULES, now=NOW)
    assert check(chance) == learnt
    file = tmp_path / "export.jsonl"
    with file.open("wb") as out, reading(store) as connection:
        export_project(connection, 1, "default", out, now=NOW, report=lambda *_told: None)
    import_project(store, file, "other", RULES.memories, now=NOW, report=lambda _bytes: None)
    imported = check(chance, project="other")
    assert [run.outcome_id for run in imported] == [run.outcome_id for run in learnt]
    with writing(store) as connection:
        connection.execute(delete(listed_runs))
        list_again(connection)
    assert check(chance) == learnt
    until = NOW + 3 * RUNS * DAY
    settings = RetentionSettings(bodies_days=2 * RUNS + RUNS // 2)
    remove_old(store, settings, RULES, "default", now=until)
    thinned = check(chance)
    ids = [run.outcome_id for run in thinned]
    assert ids == [run.outcome_id for run in learnt]
    failed = [run.failed_calls for run in thinned]
    assert failed == [run.failed_calls for run in learnt]
    texts = [sum(bool(run.instruction) for run in found) for found in (thinned, learnt)]
    assert 0 < texts[0] < texts[1]


@pytest.mark.usefixtures("calls")
def test_a_task_that_nobody_knows_is_not_an_empty_list(store):
    """A known one without a run that is asked for is."""
    teach(store, [outcome(1)])
    with pytest.raises(UnknownId, match="t7"):
        trackrecord.list_runs(task_id="t7")
    assert trackrecord.list_runs(task_id="t1", verdict="failure") == []
