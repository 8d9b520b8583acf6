"""Hints arrive on the stream, given or not; what became of the failures is counted."""

import pytest

from tests.worker.working import add, body
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.resources.figures.effect import measure_effect
from trackrecord.store.advice.hints import read_hint_effect, read_hints
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of

NOW = 1_772_884_800.0
LINE = "rtk bun run test"
ENTRY = f"known failure: line {LINE}"


def hint(session, *, given, agent="", **more):
    return {
        "hint_id": f"{session}{agent}", "session": session, "agent": agent, "entry": ENTRY,
        "kind": "known failure", "given": given, "probability": 0.5, "at": NOW,
        "key": f"line {LINE}", "check": "test", "tool": "shell:bun test", "text": "x", **more,
    }  # fmt: skip


def run(number, session, *, passes, success=None):
    """A session that fails, and then runs its tests, or fails again."""
    check = {"kind": "test", "line": "bun run test", "is_whole": True}
    error = "error: unrecognized subcommand 'bun'"

    def call(line, at, state):
        failed = state == "not started"
        made = {
            "tool": "shell:bun test", "args": {"command": line}, "ok": not failed, "timestamp": at,
            "checks": [{**check, "line": line, "state": state}],
        }  # fmt: skip
        return made | ({"error": error} if failed else {})

    later = [call("bun run test", NOW + 2, "passed")]
    if not passes:
        later = [call(LINE, NOW + n, "not started") for n in (2, 3)]
    return body(
        outcome_id=f"o{number}", task_id=f"t{number}", success=success, timestamp=NOW + 60,
        captured_from="transcript", metadata={"session": session},
        tool_graph=[call(LINE, NOW - 1, "not started"), *later],
    )  # fmt: skip


def add_all(client, settings, hints=(), runs=()):
    add(client, settings, "body", *runs)
    add(client, settings, "hint", *hints)


def effect_of(engine):
    with reading(engine) as connection:
        project_id = project_id_of(connection, "default")
        return read_hint_effect(connection, project_id, limit=1000)


def test_a_hint_is_recorded_once(worker, store_settings, client, engine):
    """By its own id; one that is wrong goes to the dead letters."""
    given = hint("s1", given=True)
    add_all(client, store_settings, [given, given, hint("s1", given=False, agent="a")])
    done = worker.drain.run()
    add_all(client, store_settings, [given, given | {"probability": 2}])
    worker.drain.run()
    with reading(engine) as connection:
        found = read_hints(connection, project_id_of(connection, "default"))
    assert sorted((each.agent, each.is_given, each.probability) for each in found) == [
        ("", True, 0.5), ("a", False, 0.5),
    ]  # fmt: skip
    assert done["hints"] == 3
    assert client.xlen(store_settings.keys.dead) == 1


def test_what_became_of_each_failure_is_read_from_its_session(
    worker, store_settings, client, engine
):
    """In whatever order both arrive; a session that is not on record yet is waited for."""
    hints = [hint("s0", given=True), hint("s1", given=False), hint("away", given=True)]
    runs = [run(0, "s0", passes=True, success=True), run(1, "s1", passes=False)]
    add_all(client, store_settings, hints)
    worker.drain.run()
    assert (effect_of(engine).points, effect_of(engine).waiting) == (3, 3)
    add_all(client, store_settings, runs=runs)
    worker.drain.run()
    found = effect_of(engine)
    assert (found.points, found.waiting) == (3, 1)
    means = {each.measure.name: (each.given.mean, each.withheld.mean) for each in found.overall}
    assert means["resumed"] == (1.0, 0.0)
    assert means["repeated"] == (0.0, 1.0)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_what_was_not_left_to_chance_counts_for_no_trial(
    worker, store_settings, client, engine, probability
):
    """As without consent, or where it is recorded only."""
    add_all(client, store_settings, [hint("s0", given=bool(probability), probability=probability)])
    add_all(client, store_settings, runs=[run(0, "s0", passes=True)])
    worker.drain.run()
    assert effect_of(engine).points == 0


def test_hints_that_hurt_are_said_to(worker, store_settings, client, engine):
    """Their whole sequence lies below 0."""
    hints, runs = [], []
    for number in range(200):
        given = number % 2 == 0
        fails = number % 10 < (8 if given else 2)
        hints.append(hint(f"s{number}", given=given))
        runs.append(run(number, f"s{number}", passes=not fails))
    add_all(client, store_settings, hints, runs)
    worker.drain.run()
    worker.adviser.advise("default")
    assert RankingsReader(store_settings).moments("default").points == 200
    with reading(engine) as connection:
        shown = measure_effect(connection, "default", setting=0.0).hints
    assert shown.measures[0].high < 0
    assert any("they hurt" in line for line in shown.in_words)
