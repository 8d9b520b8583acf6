"""The ledger: whatever came and went, it says what a replay of the rest says."""

import random
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, select

from tests.store.teaching import CRITERIA, DAY, NOW, outcome, rebuild, teach
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.learning.rules_bundle import Rules
from trackrecord.settings.daemon_settings import RetentionSettings
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.feedback import take_in_feedback
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.ledger import subjects
from trackrecord.store.ledger.read import read_counts
from trackrecord.store.ledger.subjects import CRITERION, PATTERN, CountedSubject, Row, subject_of
from trackrecord.store.ledger.tables import items, totals
from trackrecord.store.ledger.upkeep import add_up
from trackrecord.store.outcomes.feedback.feedback import GivenFeedback
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.outcomes.recorded_rules import read_bases
from trackrecord.wire.outcome_scorer import ScoredOutcome
from trackrecord.wire.subject import Subject as Forgotten
from trackrecord_consolidation.forget import forget_in_store
from trackrecord_consolidation.retention import remove_old

RULES = Rules(criteria=CRITERIA)
SOURCES = ("ada", "bob", "eve")
END = NOW + 100 * DAY
Said = dict[tuple[object, ...], tuple[int, float]]


class History:
    """Twenty days of a project, and what of it was not forgotten."""

    def __init__(self, store: Engine, seed: int) -> None:
        self.store = store
        self.random = random.Random(seed)
        self.entries: list[ScoredOutcome] = []
        self.feedback: list[GivenFeedback] = []
        self.source_of: dict[int, str] = {}
        self.kept_from = 0

    def go_on(self, *, removes: bool) -> None:
        """Tell, judge, amend and deliver again, in any order; forget and remove in between."""
        for day in range(20):
            now = NOW + day * DAY
            batch = [self._entry(day, now + n) for n in range(self.random.randint(1, 8))]
            self.entries += batch
            batch += self.random.sample(self.entries, min(2, len(self.entries)))
            batch = [each for each in batch if self._number(each) >= self.kept_from]
            self.random.shuffle(batch)
            cut = self.random.randint(0, len(batch))
            for some in (batch[:cut], batch[cut:]):
                if some:
                    teach(self.store, some, now=now + 60, rules=RULES)
            if self.random.random() < 0.3:
                self._judge(day, now)
            if self.random.random() < 0.1:
                self._forget(now + 90)
            if removes and self.random.random() < 0.15:
                remove_old(
                    self.store, RetentionSettings(outcomes_days=3), RULES, "default", now=now
                )
                self.kept_from = max(self.source_of) + 1

    def _number(self, entry: ScoredOutcome) -> int:
        return int(entry.outcome_id[1:])

    def _entry(self, day: int, now: float) -> ScoredOutcome:
        choose = self.random
        amends = choose.random() < 0.25
        known = [each for each in self.source_of if each >= self.kept_from]
        number = choose.choice(known) if known and amends else len(self.source_of)
        source = self.source_of.setdefault(number, choose.choice(SOURCES))
        return outcome(
            number,
            helpful=choose.random() < 0.6,
            received=now,
            source=source,
            timestamp=now - choose.choice([0.0, 3_600.0, 86_400.0]) * choose.random(),
            outcome_source=choose.choice(["heuristic", "tests", "evaluator"]),
            patterns=choose.sample(["plan", "split", "guess", f"idea {day}"], choose.randint(0, 3)),
            criteria={"own": choose.choice(["helpful", "harmful"])}
            if choose.random() < 0.2
            else {},
        )

    def _judge(self, day: int, now: float) -> None:
        name = self.random.choice(["plan", "split", "never-named"])
        subject, name = self.random.choice([("pattern", name), ("criterion", "own")])
        verdict, source = self.random.choice(list(Verdict)), self.random.choice(SOURCES)
        given = GivenFeedback(f"f{day}", subject, name, verdict, now, now, None, source)  # type: ignore[arg-type]
        self.feedback.append(given)
        judge(self.store, [given], now)

    def _forget(self, now: float) -> None:
        source = self.random.choice(SOURCES)
        subject = Forgotten("source", "default", source)
        forget_in_store(self.store, RULES, subject, (), actor="ada", now=now)
        gone = {f"o{number}" for number, of in self.source_of.items() if of == source}
        self.entries = [each for each in self.entries if each.outcome_id not in gone]
        self.feedback = [each for each in self.feedback if each.source != source]
        self.source_of = {n: "" if of == source else of for n, of in self.source_of.items()}
        self.kept_from = max(self.source_of, default=0) + 1


def judge(store: Engine, given: list[GivenFeedback], now: float) -> None:
    with writing(store) as connection:
        project_id = ensure_projects(connection, ["default"])["default"]
        take_in_feedback(connection, project_id, given, RULES, now=now)


def said(store: Engine) -> Said:
    """Return the counts by names, decayed to one moment, and when each item was last seen."""
    with reading(store) as connection:
        project_id = project_id_of(connection, "default")
        assert project_id is not None
        bases = read_bases(connection, project_id)
        assert bases is not None
        basis = {PATTERN: bases.patterns, CRITERION: bases.criteria}
        known = {row.id: row for row in connection.execute(select(items))}
        found: Said = {}
        for item, speaker, cell, n, mass in connection.execute(select(totals)):
            by = known[speaker].name if speaker else None
            own = basis.get(subject_of(cell))
            weight = own.value(mass, END) if own else mass
            found[known[item].subject, known[item].name, by, cell] = (n, weight)
            found[known[item].subject, known[item].name] = (0, known[item].last or 0.0)
        return found


def replayed(history: History, store: Engine) -> Said:
    """Return the counts of a store that learns only the rest, in another order."""
    told = sorted(history.entries, key=lambda each: (each.outcome_id, each.received_at))
    for start in range(0, len(told), 7):
        teach(store, told[start : start + 7], now=END, rules=RULES)
    if history.feedback:
        judge(store, history.feedback, END)
    return said(store)


def assert_same(found: Said, wanted: Said) -> None:
    assert found.keys() == wanted.keys()
    for key, (n, weight) in wanted.items():
        assert found[key] == (n, pytest.approx(weight, rel=1e-9, abs=1e-9)), key


@pytest.mark.parametrize("removes", [False, True], ids=["", "with retention"])
@pytest.mark.parametrize("seed", range(2))
def test_any_history_equals_a_replay_of_what_is_left(store, memory_store, seed, removes):
    """To the last count, and in weight; added up again and rebuilt it is the same."""
    history = History(store, seed)
    history.go_on(removes=removes)
    if not history.entries and not history.feedback:
        return
    before = said(store)
    clean = memory_store()
    assert_same(before, replayed(history, clean))
    clean.dispose()
    with writing(store) as connection:
        project_id = project_id_of(connection, "default")
        add_up(connection, project_id, read_bases(connection, project_id))
    assert_same(said(store), before)
    rebuild(store, RULES, now=END)
    assert_same(said(store), before)


def _durations(of: ScoredOutcome) -> Iterator[Row]:
    if of.duration_ms is not None:
        yield "slow" if of.duration_ms > 1_000 else "quick", subjects.HELPFUL, 1, "", ""


def test_a_further_subject_is_a_function_and_a_line(store, monkeypatch):
    """It is counted, amended, forgotten and removed with the others."""
    made_up = CountedSubject(9, _durations, "patterns")
    monkeypatch.setattr(subjects, "SUBJECTS", (*subjects.SUBJECTS, made_up))

    def counted() -> dict[str, int]:
        with reading(store) as connection:
            found = read_counts(connection, None, 9, items.c.name)
        return {name: sum(cells.values()) for (_, name), cells in found.items()}

    told = [outcome(n, duration_ms=n * 500, source=SOURCES[n % 3]) for n in range(9)]
    teach(store, told, rules=RULES)
    assert counted() == {"quick": 3, "slow": 6}
    again = outcome(8, duration_ms=1, source="eve", received=NOW + 9, tool_graph=[{"tool": "a"}])
    teach(store, [again], now=NOW + 9, rules=RULES)
    assert counted() == {"quick": 4, "slow": 5}
    removing = RetentionSettings(outcomes_days=1)
    remove_old(store, removing, RULES, "default", now=NOW + 5 * DAY)
    assert counted() == {"quick": 4, "slow": 5}
    subject = Forgotten("source", "default", "bob")
    forget_in_store(store, RULES, subject, (), actor="ada", now=NOW + 6 * DAY)
    assert counted() == {"quick": 3, "slow": 3}
