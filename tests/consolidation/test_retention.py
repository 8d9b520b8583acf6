"""Retention: old outcomes go, and what they count for stays.

What is compared is the state of the store before and after, today's and that of the end of each
day, with the state after a rebuild from what is left and the sums by the day.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete, func, insert, select
from structlog.testing import capture_logs

from tests.forgetting.told_store import Told
from tests.store import teaching
from tests.store.teaching import DAY, SCORER, outcome, teach
from tests.transfer.exports import exported, import_into
from tests.worker.working import recorded_ids
from trackrecord.errors import InvalidOutcome, RetentionFailed
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.settings.daemon_settings import RetentionSettings
from trackrecord.store.advice.runs import read_runs, read_tried_runs
from trackrecord.store.advice.tables import exposures, hints, runs, tried_calls
from trackrecord.store.competences.read import read_competences
from trackrecord.store.competences.rebuild_credit import rebuild_credit
from trackrecord.store.competences.tables import (
    episodes,
    removed_episodes,
    signature_facts,
    signatures,
)
from trackrecord.store.criteria.sums import read_criteria
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.database.migrate import store_at
from trackrecord.store.intake.every_table import metadata
from trackrecord.store.intake.rebuild import rebuild_patterns
from trackrecord.store.ledger.read import read_totals
from trackrecord.store.ledger.receipts import OUTCOME
from trackrecord.store.ledger.subjects import PATTERN
from trackrecord.store.ledger.tables import items, receipts
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.store.memories.tables import past_tasks
from trackrecord.store.outcomes.days import read_days
from trackrecord.store.outcomes.projects import count_outcomes, first_received, project_id_of
from trackrecord.store.outcomes.tables import outcome_entries, outcomes
from trackrecord.store.patterns.read import read_standings
from trackrecord.wire.outcome import decode_outcome, decode_reported
from trackrecord.wire.subject import Subject
from trackrecord_consolidation.forget import find_in_store, forget_in_store
from trackrecord_consolidation.rebuild import rebuild_competences
from trackrecord_consolidation.retention import remove_all_old, remove_old
from trackrecord_consolidation.run import consolidate

LEARNING = CompetenceRules(min_successes=2)
RULES = replace(teaching.RULES, competence=LEARNING)
# In the middle of a day; and what is removed is what came in the months before this one.
NOW = teaching.NOW + 9 * DAY
TODAY = NOW // DAY * DAY
DAYS = 12
KEPT = RetentionSettings(outcomes_days=5)
UNTIL = TODAY - 5 * DAY
WORD = "xylophon"
SOURCES = ("ada", "bob", "cleo")


@pytest.fixture
def store_copy(tmp_path: Path) -> Iterator[Engine]:
    """Another store to compare with."""
    with store_at(f"sqlite:///{tmp_path / 'other.db'}") as engine:
        yield engine


def reports(seed: int, *, count: int = 100):
    """Random outcomes of some days, some of which are amended later, in the order of receipt."""
    choose, leave_out = random.Random(seed), random.Random(seed)
    found = []
    for number in range(count):
        received = TODAY - DAYS * DAY + choose.random() * DAYS * DAY
        fields = {
            "source": choose.choice(SOURCES),
            "timestamp": received - choose.choice((5.0, 3000.0, 2 * DAY)),
            "patterns": choose.sample(("plan", "split", "guess", "retry"), choose.randint(0, 3)),
            "duration_ms": choose.randint(1, 900_000),
            "tool_graph": [
                {
                    "tool": tool, "args": {"command": f"make {tool} {WORD}", "times": 3},
                    "result": WORD, "ok": choose.random() < 0.7,
                }
                for tool in choose.sample(("read", "edit", "test"), choose.randint(0, 2))
            ],
            "instruction": f"mend the {WORD}",
            "description": f"we went test-first and then {WORD}",
            "metadata": {"note": WORD},
            "files_touched": [f"{WORD}.py"],
            "trigger": {"signal": choose.choice(("red", "slow"))},
        }  # fmt: skip
        if choose.random() < 0.3:
            fields["criteria"] = {choose.choice(("own", "no_bugs")): "harmful"}
        helpful = choose.random() < 0.6
        if choose.random() < 0.1:
            fields["success"] = None
        ended = fields["timestamp"]
        if leave_out.random() < 0.3:
            del fields["timestamp"]
        delays = [
            choose.choice((0.001, 0.2, 1.0, 4.0)) for _ in range(choose.choice((0, 0, 0, 1, 2)))
        ]
        read_again = {}
        if delays and min(delays) >= 1.0:
            # A later reading of the recording finds another pattern in place of the first one.
            read_again = {"patterns": ["plan"]}
            fields |= {"captured_from": "transcript", "patterns": [f"idea {number}"]}
        found.append(outcome(number, helpful=helpful, received=received, **fields))
        for delay in delays:
            later = received + delay * DAY
            if later < TODAY:
                changed = {**fields, "success": choose.random() < 0.5, "outcome_source": "tests"}
                if "timestamp" in fields or leave_out.random() < 0.5:
                    changed["timestamp"] = ended + 1.0
                found.append(outcome(number, received=later, **{**changed, **read_again}))
    return sorted(found, key=lambda each: each.received_at)


def learn(store, found, *, consolidates: bool = True) -> None:
    """Learn reports in batches; consolidate now and then."""
    for start in range(0, len(found), 20):
        some = found[start : start + 20]
        teach(store, some, now=some[-1].received_at)
        if consolidates and start % 60 == 0:
            consolidate(store, LEARNING, "default", now=some[-1].received_at, actor="nightly")
    if consolidates:
        consolidate(store, LEARNING, "default", now=TODAY, actor="nightly")
    index_past_tasks(store)


def rounded(value):
    """Numbers that were added up in another order are equal in their first digits."""
    if isinstance(value, float):
        return float(f"{value:.7g}") if abs(value) > 1e-9 else 0.0
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(each) for each in value]
    return value


def last_learnt(store) -> float | None:
    """Return when the project learnt its last outcome."""
    with reading(store) as connection:
        project_id = project_id_of(connection, "default")
        return count_outcomes(connection, project_id).last_learnt


def present(store) -> dict[str, object]:
    """Everything that is known today, but for what the newest runs are looked at for."""
    with reading(store) as connection:
        project_id = project_id_of(connection, "default")
        assert project_id is not None
        spoken = read_totals(connection, project_id, PATTERN)
        names = dict(connection.execute(select(items.c.id, items.c.name)).all())
        facts = select(signatures.c.name, signature_facts).join(
            signatures, signatures.c.id == signature_facts.c.signature_id
        )
        state = {
            "counts": asdict(count_outcomes(connection, project_id)),
            "days": [asdict(day) for day in read_days(connection, project_id)],
            "patterns": [
                asdict(each) for each in read_standings(connection, project_id, RULES, now=NOW)
            ],
            "speakers": sorted(
                # Masses are relative to a landmark that a rebuild moves.
                [names[item], speaker, cell, n]
                for item, speakers in spoken.items()
                for speaker, cells in speakers.items()
                for cell, (n, _) in cells.items()
            ),
            "criteria": [
                asdict(each)
                for each in read_criteria(connection, project_id, RULES.criteria, now=NOW)
            ],
            "signatures": sorted(
                [row.name, row.successes, row.failures, row.latency_sum_ms, row.last_used_at]
                for row in connection.execute(select(signatures))
            ),
            "facts": sorted(
                [row.name, row.kind, row.text, row.successes, row.failures]
                for row in connection.execute(facts)
            ),
            "records": sorted(
                [each.id, each.performance.success_count, each.performance.failure_count]
                for each in read_competences(connection, project_id)
            ),
        }
        del state["counts"]["last_learnt"]
        return rounded(state)


def rebuild(store) -> None:
    """Rebuild every statistic."""
    with writing(store) as connection:
        project_id = project_id_of(connection, "default")
        rebuild_patterns(connection, project_id, RULES, now=NOW)
        rebuild_competences(connection, LEARNING, "default", project_id, now=NOW)
        rebuild_credit(connection, project_id)


def remove(store, *, at_once: int = 7, **given):
    """Remove what is old by the settings of these tests."""
    return remove_old(store, KEPT, RULES, "default", now=NOW, at_once=at_once, **given)


def ids_of_old(store) -> set[str]:
    """The outcomes whose record has not changed of late."""
    table = outcomes.c
    query = select(table.outcome_id).where(table.replaced_at == 0, table.received_at < UNTIL)
    with reading(store) as connection:
        return set(connection.execute(query).scalars())


class Killed(Exception):
    """Raised to interrupt a run in these tests."""


def killed_again_and_again(run: Callable[..., object]) -> Iterator[None]:
    """Let a run be killed after each of its transactions, until it has nothing left to do."""

    def kill(_done: int) -> None:
        raise Killed

    for kills in count():
        try:
            run(report=kill)
        except Killed:
            yield
        else:
            assert kills > 3
            return


def test_what_removed_outcomes_counted_for_stays(store):
    """Today, whenever the run is killed, and after a rebuild from what is left."""
    found = reports(0)
    learn(store, found)
    today = present(store)
    assert len(today["signatures"]) > 3
    assert len(today["records"]) > 1
    old = ids_of_old(store)
    assert remove(store, dry_run=True).outcomes == len(old) > 20
    assert present(store) == today
    for _ in killed_again_and_again(partial(remove, store)):
        assert present(store) == today
    assert recorded_ids(store) == {each.outcome_id for each in found} - old
    assert present(store) == today
    rebuild(store)
    assert present(store) == today
    assert remove(store).outcomes == 0


def test_credits_that_were_imported_stay_beside_those_of_what_is_removed_later(
    store, store_copy, tmp_path
):
    """In the new store the numbers of outcomes begin at one again."""
    day = UNTIL - DAY + 60.0
    made = {"received": day, "timestamp": day, "tool_graph": [{"tool": "read"}]}
    teach(store_copy, [outcome("first", **made), outcome("second", **made)], now=day)
    consolidate(store_copy, LEARNING, "default", now=day, actor="nightly")
    with reading(store_copy) as connection:
        (known,) = read_competences(connection, project_id_of(connection, "default"))
    told = {"competence_id": known.id, "received": day + 60.0, "timestamp": day}
    teach(store_copy, [outcome(f"removed{number}", **told) for number in range(4)])
    told |= {"received": UNTIL + DAY}
    teach(store_copy, [outcome(f"later{number}", **told) for number in range(6)])
    teach(store_copy, [outcome("last", received=NOW)])
    records = present(store_copy)["records"]
    assert remove(store_copy).outcomes == 6
    import_into(store, tmp_path / "export.jsonl", exported(store_copy))
    assert remove_old(store, KEPT, RULES, "default", now=NOW + 4 * DAY).outcomes == 6
    assert present(store)["records"] == records
    rebuild(store)
    assert present(store)["records"] == records


def test_nothing_else_of_removed_outcomes_is_left(store):
    """Neither runs nor calls, texts, words, entries nor episodes, nor what they were told."""
    found = reports(9)
    learn(store, found)
    told = Told(store, RULES, "default")
    for name, at in (("old", UNTIL - 1), ("new", UNTIL)):
        told.expose(name, "t1", at)
        told.hint(name, "s1", "ada", at)
    remove(store)
    with reading(store) as connection:
        left = set(connection.execute(select(outcomes.c.id)).scalars())
        ids = set(connection.execute(select(outcomes.c.outcome_id)).scalars())
        for table in (runs, tried_calls, past_tasks, episodes):
            rows = set(connection.execute(select(table.c.outcome)).scalars())
            assert rows
            assert rows <= left, table.name
        entries = set(connection.execute(select(outcome_entries.c.outcome_id)).scalars())
        assert entries
        assert entries <= ids
        kept = select(receipts.c.number).where(receipts.c.kind == OUTCOME)
        assert set(connection.execute(kept).scalars()) <= left
        for told_in in (exposures.c.exposure_id, hints.c.hint_id):
            assert connection.execute(select(told_in)).scalars().all() == ["new"]
        project_id = project_id_of(connection, "default")
        first = first_received(connection, project_id)
    assert first <= min(each.received_at for each in found)


def test_a_removed_outcome_never_counts_twice(store):
    """Neither what is delivered again, in any order, nor what amends it; both are counted."""
    found = reports(1)
    learn(store, found)
    old = ids_of_old(store)
    remove(store)
    today = present(store)
    again = random.Random(1).sample(found, len(found))
    changes = teach(store, again, now=NOW)
    assert (changes.recorded, changes.amended) == (0, 0)
    assert changes.too_old == sum(each.outcome_id in old for each in found)
    # Sent again, not only read again: one without a timestamp seems to end now.
    sent = [
        SCORER.score(decode_outcome(each.body), each.body, received_at=NOW, outcome_id="none")
        for each in again
        if each.outcome_id in old
    ]
    assert sum(each.ended_at == NOW for each in sent) > 10
    changes = teach(store, sent, now=NOW)
    assert (changes.recorded, changes.amended, changes.too_old) == (0, 0, len(sent))
    late = [
        outcome(name[1:], helpful=False, received=NOW, timestamp=UNTIL - 1, outcome_source="tests")
        for name in sorted(old)
    ]
    assert teach(store, late, now=NOW).too_old == len(old)
    assert present(store) == today
    # What ended later is learnt, and what is on record is amended, however old it is.
    assert teach(store, [outcome("new", received=NOW, timestamp=UNTIL)], now=NOW).recorded == 1


def test_what_is_removed_does_not_depend_on_the_order_of_arrival(store, store_copy):
    """Received at the same moments, in other batches."""
    found = reports(6)
    learn(store, found, consolidates=False)
    shuffled = random.Random(1).sample(found, len(found))
    # Amendments go behind what they amend.
    shuffled.sort(key=lambda each: each.received_at // DAY)
    learn(store_copy, shuffled, consolidates=False)
    for each in (store, store_copy):
        consolidate(each, LEARNING, "default", now=TODAY, actor="nightly")
        remove(each)
        rebuild(each)
    assert present(store) == present(store_copy)


@pytest.mark.parametrize(
    ("what", "retains", "days_ago"), [("task", "remove", 0), ("source", "thin", 8)]
)
def test_forgetting_before_and_after_comes_to_the_same(store, store_copy, what, retains, days_ago):
    """Where what is forgotten is not among what was removed, though its texts may be."""
    found = reports(7, count=70)
    mine = [
        outcome(
            f"mine{number}", helpful=number % 2 == 0,
            received=TODAY - days_ago * DAY - 3600.0 - number,
            timestamp=TODAY - days_ago * DAY - 7200.0, task_id="mine", source="dora",
            patterns=["plan", "own idea"],
            tool_graph=[{"tool": "read"}, {"tool": "edit", "args": {"path": "secret-mine.py"}}],
        )
        for number in range(6)
    ]  # fmt: skip
    name = "mine" if what == "task" else "dora"
    subject = Subject(what, "default", name)
    retain = {"remove": remove, "thin": thin}[retains]
    for each, first in ((store, "forget"), (store_copy, "retain")):
        learn(each, sorted(found + mine, key=lambda one: one.received_at))
        for step in ("forget", "retain") if first == "forget" else ("retain", "forget"):
            if step == "forget":
                forget_in_store(each, RULES, subject, (), actor="test", now=NOW)
            else:
                retain(each)
    assert present(store) == present(store_copy)
    assert "own-idea" not in {each["facts"]["slug"] for each in present(store)["patterns"]}
    assert runs_in(store) == runs_in(store_copy)
    assert "secret-mine.py" not in repr(runs_in(store_copy))


def runs_in(store) -> dict[str, list[tuple[float, bytes]]]:
    """The runs and the calls that can be tried again, in the order in which they ended."""
    with reading(store) as connection:
        return {
            table.name: sorted(
                (row.ended_at, bytes(row.digest)) for row in connection.execute(select(table))
            )
            for table in (runs, tried_calls)
        }


def test_a_source_whose_outcomes_are_all_removed_is_forgotten(store, store_copy):
    """What they said of patterns goes, though nothing else of the source is there."""
    found = [each for each in reports(7) if each.received_at < UNTIL]
    mine = [
        outcome(
            f"mine{number}", helpful=number < 4, received=TODAY - 8 * DAY - number,
            source="dora", patterns=["plan", "own idea"],
        )
        for number in range(6)
    ]  # fmt: skip
    for each, told in ((store, found + mine), (store_copy, found)):
        learn(each, sorted(told, key=lambda one: one.received_at))
        teach(each, [outcome("last", received=NOW, project="other")])
        remove(each)
    subject = Subject("source", "default", "dora")
    assert find_in_store(store, subject).counts["observations"] == 12
    assert recorded_ids(store) == {"olast"}
    learnt = last_learnt(store)
    forget_in_store(store, RULES, subject, (), actor="test", now=NOW)
    assert not any(find_in_store(store, subject).counts.values())
    rebuild(store_copy)
    left, others = present(store), present(store_copy)
    assert (left["patterns"], left["speakers"]) == (others["patterns"], others["speakers"])
    assert last_learnt(store) == learnt


THIN = RetentionSettings(bodies_days=5)


def thin(store, *, at_once: int = 7, **given):
    """Take the texts out of what is old by the settings of these tests."""
    return remove_old(store, THIN, RULES, "default", now=NOW, at_once=at_once, **given)


def bodies_in(store) -> dict[str, list[bytes]]:
    """All bodies of each outcome: of its records, and of the entries that they are joined from."""
    found: dict[str, list[bytes]] = {}
    with reading(store) as connection:
        for table in (outcomes, outcome_entries):
            for row in connection.execute(select(table.c.outcome_id, table.c.body)):
                found.setdefault(row.outcome_id, []).append(bytes(row.body))
    return found


def test_texts_go_and_everything_that_is_counted_stays(store):
    """Also after a rebuild: by the same rules, and by others; and when killed in the middle."""
    found = reports(1)
    learn(store, found)
    today, old = present(store), ids_of_old(store)
    before = bodies_in(store)
    assert thin(store, dry_run=True).bodies == len(old) > 20

    for _ in killed_again_and_again(partial(thin, store)):
        assert present(store) == today
    after = bodies_in(store)
    for name, bodies in after.items():
        is_old = name in old
        assert all((WORD.encode() in body) != is_old for body in bodies), name
        if is_old:
            assert max(map(len, bodies)) < max(map(len, before[name]))
            assert len(bodies) <= len(before[name])
    with reading(store) as connection:
        rows = set(connection.execute(select(past_tasks.c.outcome)).scalars())
        query = select(outcomes.c.id).where(outcomes.c.outcome_id.in_(old))
        assert rows
        assert rows.isdisjoint(connection.execute(query).scalars())
        noted = connection.execute(select(runs).order_by(runs.c.outcome)).all()
    assert present(store) == today
    rebuild(store)
    assert present(store) == today
    with reading(store) as connection:
        assert connection.execute(select(runs).order_by(runs.c.outcome)).all() == noted
    assert thin(store).bodies == 0


def test_what_lessons_and_commands_are_counted_from_stays(store):
    """Of all texts command lines, names of files, lines of errors, and where the run was."""
    texts = {each: f"{WORD}{each}" for each in (
        "instruction", "description", "note", "result", "argument", "touched",
        "command", "file", "error", "session", "machine", "repository",
    )}  # fmt: skip
    calls = [
        {
            "tool": "shell:cat", "args": {"command": f"cat {texts['command']}"}, "ok": False,
            "result": texts["result"], "error": f"cat: {texts['error']}: No such file",
        },
        {"tool": "read", "args": {"path": texts["file"]}, "ok": True},
        {"tool": "look_up", "args": {"name": texts["argument"]}, "ok": True},
    ]  # fmt: skip
    old = outcome(
        "old", received=UNTIL - 1, instruction=texts["instruction"],
        description=texts["description"],
        metadata={each: texts[each] for each in ("note", "session", "machine", "repository")},
        files_touched=[texts["touched"]], tool_graph=calls,
    )  # fmt: skip
    learn(store, [old])
    assert texts_in(store, texts.values()) == set(texts.values())
    thin(store)
    rebuild(store)
    stay = ("command", "file", "error", "session", "machine", "repository")
    assert texts_in(store, texts.values()) == {texts[each] for each in stay}
    with reading(store) as connection:
        project_id = project_id_of(connection, "default")
        (tried,) = read_tried_runs(connection, project_id, limit=9)
        (run,) = read_runs(connection, project_id, limit=9)
    assert (tried.calls[0].line, tried.calls[1].file) == (
        f"cat {texts['command']}", texts["file"],
    )  # fmt: skip
    assert texts["error"] in tried.calls[0].error
    assert texts["error"] in run.steps[0].error_line


def texts_in(store, texts) -> set[str]:
    """Return those of some texts that are anywhere in the store."""
    with reading(store) as connection:
        rows = [
            bytes(value) if isinstance(value, (bytes, memoryview)) else str(value).encode()
            for table in metadata.tables.values()
            for row in connection.execute(select(table))
            for value in row
        ]
    return {each for each in texts if any(each.encode() in value for value in rows)}


def test_outcomes_without_texts_are_amended_and_delivered_again_as_others(store, store_copy):
    """The same as if the texts were still there; and they do not come back."""
    found = reports(3)
    for each in (store, store_copy):
        learn(each, found)
    thin(store)
    old = sorted(ids_of_old(store))
    again = random.Random(5).sample(found, len(found))
    late = [
        outcome(
            name[1:], helpful=False, received=NOW + 1, timestamp=UNTIL - DAY, source="ada",
            patterns=["late"], description=WORD, outcome_source="evaluator",
        )
        for name in old[:10]
    ]  # fmt: skip
    changes = [
        [teach(each, some, now=NOW + 1) for some in (again, late)] for each in (store, store_copy)
    ]
    for thinned, whole in zip(*changes, strict=True):
        assert (thinned.recorded, thinned.amended, thinned.duplicates) == (
            whole.recorded, whole.amended, whole.duplicates,
        )  # fmt: skip
    assert changes[0][1].amended > 0
    for each in (store, store_copy):
        consolidate(each, LEARNING, "default", now=NOW + 2, actor="nightly")
    assert present(store) == present(store_copy)
    bodies = bodies_in(store)
    assert all(WORD.encode() not in body for name in old for body in bodies[name])


def test_nobody_can_report_that_texts_were_taken_out():
    """Else others' entries about the outcome would lose theirs."""
    with pytest.raises(InvalidOutcome, match="thinned cannot be reported"):
        decode_reported(b'{"task_id": "t", "success": true, "thinned": "%s"}' % (b"0" * 32))


def test_a_project_in_which_it_fails_does_not_keep_the_others_from_theirs(store):
    """The night has failed all the same, and the next one does the rest, if a setting says so."""
    for project in ("one", "two"):
        told = [
            outcome(n, received=UNTIL - 1, project=project, tool_graph=[{"tool": "read"}])
            for n in range(3)
        ]
        teach(store, told)
        consolidate(store, LEARNING, project, now=NOW, actor="nightly")
    teach(store, [outcome("last", received=NOW, project="two")])
    assert remove_all_old(store, RetentionSettings(), RULES, now=NOW) == []
    first = select(func.min(signatures.c.id)).scalar_subquery()
    damaged = removed_episodes.c.signature_id == first
    with writing(store) as connection:
        connection.execute(insert(removed_episodes).values(signature_id=first, tally="damaged"))
    with capture_logs() as logs, pytest.raises(RetentionFailed, match="in the projects one;"):
        remove_all_old(store, KEPT, RULES, now=NOW)
    (failure,) = [each for each in logs if each["log_level"] == "error"]
    assert failure["project"] == "one"
    assert failure["exc_info"]
    with reading(store) as connection:
        assert connection.execute(select(func.count()).select_from(outcomes)).scalar() == 4
    with writing(store) as connection:
        connection.execute(delete(removed_episodes).where(damaged))
    done = remove_all_old(store, KEPT, RULES, now=NOW)
    assert [(each.project, each.outcomes) for each in done] == [("one", 3), ("two", 0)]
