"""Selection where records are stored: the score of the rules, over the words of the rules."""

import random
from dataclasses import replace

import pytest

from tests.store.teaching import DAY, NOW
from trackrecord.learning.competences.phrases import fit
from trackrecord.learning.competences.record import (
    Competence,
    Performance,
    RecipeStep,
    TriggerCounts,
)
from trackrecord.learning.competences.rules import CompetenceRules, Lifecycle, Status
from trackrecord.learning.competences.update import RecordAction, RecordUpdate
from trackrecord.store.competences.selection import select as choosing
from trackrecord.store.competences.selection.select import select_competences, signals_of
from trackrecord.store.competences.write import SignedChange, write_changes
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import ensure_projects

RULES = CompetenceRules()
WORDS = ("fix", "the", "failing", "test", "in", "parser", "构建", "失败", "lint", "deploy")


def record(some_id, *, confidence=0.8, good=2, bad=0, days=0.0, signals=("x",), **fields):
    """A record that was reinforced so many days ago."""
    return Competence(
        id=some_id, project="default", skill_name="skill:a", signature="a",
        triggers=tuple(map(TriggerCounts, signals)), recipe=(RecipeStep(1, "a", {}),),
        failure_modes=(), performance=Performance(good, bad),
        confidence=confidence, salience=1.0,
        lifecycle=Lifecycle(30, 0.1, 0.0, None if days is None else NOW - days * DAY),
        created_at=NOW, updated_at=NOW, **fields,
    )  # fmt: skip


def put(store, *records, now=NOW):
    """Write records; answers the project's row."""
    with writing(store) as connection:
        project_id = ensure_projects(connection, ["default"])["default"]
        changes = [
            SignedChange(None, RecordUpdate(RecordAction.CREATED, each, "test")) for each in records
        ]
        write_changes(connection, project_id, changes, actor="test", now=now)
    return project_id


def select(store, project_id, task=None, *, limit=10, now=NOW):
    """The answer as of now."""
    with reading(store) as connection:
        return select_competences(connection, project_id, RULES, task=task, limit=limit, now=now)


def test_a_task_is_compared_with_triggers_and_recipe(store):
    """In English and Chinese; what has no words at all falls back to the record's confidence."""
    project_id = put(
        store,
        record("by-trigger", signals=("the build fails",)),
        record("by-recipe", signals=("x",), good=0, bad=2),
        record("chinese", signals=("构建失败",)),
        replace(record("mute", signals=("+",)), recipe=(RecipeStep(1, "+", {}),)),
    )

    def fits(task):
        chosen = select(store, project_id, task).candidates
        return {each.record.id: round(each.signals.applicability, 4) for each in chosen}

    assert fits("The build fails") == {
        "by-trigger": 1.0, "mute": 0.8, "chinese": 0.0, "by-recipe": 0.0,
    }  # fmt: skip
    assert fits("a")["by-recipe"] == 1.0
    assert fits("构建失败了")["chinese"] == pytest.approx(0.866, abs=1e-3)
    assert set(fits("…").values()) == {0.8}


def test_what_is_stored_follows_the_records(store):
    """Changed triggers are found by their new words and no longer by the old ones."""
    project_id = put(store, record("a", signals=("old words", "other")))
    put(store, record("a", signals=("new words",)))
    assert select(store, project_id, "old").candidates[0].signals.applicability == 0
    found = select(store, project_id, "new words").candidates[0]
    assert found.signals.applicability == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(3))
def test_the_database_ranks_as_the_rules_do(store, seed):
    """Any records, any task: the same order, the same numbers, now and asked for as the past."""
    chance = random.Random(seed)

    def text(most):
        return " ".join(chance.choices(WORDS, k=chance.randint(1, most)))

    records = [
        record(
            f"r{number:03}", confidence=chance.random(), good=chance.randrange(4),
            bad=chance.randrange(4), days=chance.choice((None, -3, 0, 12.5, 40_000)),
            signals=[text(4) for _ in range(chance.randint(0, 4))],
            status=chance.choice(tuple(Status)),
        )
        for number in range(80)
    ]  # fmt: skip
    project_id = put(store, *records)
    alive = [each for each in records if each.status.is_selectable]
    for task in (None, text(6), text(2), "Fix 构建失败 in parser", "…"):
        wanted = {each.id: signals_of(each, fit(each, task), NOW) for each in alive}
        order = sorted(wanted, key=lambda each: (-wanted[each].score, each))
        answer = select(store, project_id, task, limit=len(order) + 1)
        scores = [each.signals.score for each in answer.candidates]
        assert scores == pytest.approx([wanted[each].score for each in order])
        for each in answer.candidates:
            assert each.signals.applicability == pytest.approx(wanted[each.record.id].applicability)
        assert answer.count == len(alive)


def test_words_that_stand_everywhere_are_left_out(store, monkeypatch):
    """The commonest first, so that the cost has a bound; what is rare still finds its record."""
    monkeypatch.setattr(choosing, "_COMMON_FROM", 2)
    project_id = put(
        store,
        *(record(f"r{number}", signals=(f"error in service {number}",)) for number in range(5)),
    )
    answer = select(store, project_id, "error in service 3")
    fits = {each.record.id: each.signals.applicability for each in answer.candidates}
    assert fits.pop("r3") == pytest.approx(0.25)
    assert set(fits.values()) == {0.0}
    # Where nothing is rare, one word still counts.
    common = select(store, project_id, "error in service")
    assert common.candidates[0].signals.applicability > 0


def test_projects_stay_apart(store):
    """Nothing is ever read across projects."""
    put(store, record("a"))
    with writing(store) as connection:
        other = ensure_projects(connection, ["other"])["other"]
    assert select(store, other, "a").candidates == ()
