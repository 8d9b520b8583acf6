"""Forgetting a source or a task: the store is afterwards as if only the rest had ever come."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from tests.forgetting.told_store import HOUR, NOW, RULES, Told
from tests.forgetting.whole_store import whole
from tests.store.teaching import note_states_of
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.feedback.feedback import GivenFeedback
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.patterns.read import read_changes
from trackrecord.wire.subject import Subject
from trackrecord_consolidation.forget import find_in_store, move_outcomes

SOURCES = ("ada", "bob")
TOOLS = ("find", "edit", "test")
TEXTS = (
    "always use rebase before a merge of the branch",
    "never use rebase before a merge of the branch",
    "the docs are built by make docs",
    "tests need a redis server to run",
)

outcome_fields = st.fixed_dictionaries(
    {
        "outcome_id": st.sampled_from([f"o{n}" for n in range(7)]),
        "source": st.sampled_from(SOURCES),
        "success": st.sampled_from([True, True, False, None]),
    },
    optional={
        "timestamp": st.sampled_from([NOW - 9 * HOUR, NOW - HOUR]),
        "error_count": st.sampled_from([0, 9]),
        "outcome_source": st.sampled_from(["tests", "evaluator", "heuristic"]),
        "patterns": st.lists(st.sampled_from(["small steps", "big bang"]), max_size=2),
        "strategy": st.sampled_from(["file-based", "feature-based"]),
        "criteria": st.dictionaries(
            st.sampled_from(["fast", "safe"]), st.sampled_from(["helpful", "harmful"]), max_size=2
        ),
        "tool_graph": st.lists(
            st.sampled_from(TOOLS).map(
                lambda tool: {"tool": tool, "args": {"x": 1, "command": "make test"}}
            ),
            min_size=1,
            max_size=2,
        ),
        "trigger": st.sampled_from([{"signal": "red"}, {"signal": "slow", "conditions": {"a": 1}}]),
        "instruction": st.sampled_from(["fix the build", "fix the red test"]),
        "duration_ms": st.sampled_from([10, 2000]),
        "memory_ids": st.lists(st.sampled_from(["m0", "m1", "m2"]), max_size=2),
        # The id follows from the project, and is put in its place later.
        "competence_id": st.sampled_from(TOOLS),
        "commits": st.just(["abcdef0123"]),
    },
)
# What belongs to which task is fixed: two outcomes share one.
TASK_OF = {f"o{n}": f"t{min(n, 5)}" for n in range(7)}

steps = st.one_of(
    st.tuples(st.just("learn"), st.lists(outcome_fields, min_size=1, max_size=5)),
    st.tuples(st.just("learn"), st.lists(outcome_fields, min_size=1, max_size=5)),
    st.tuples(st.just("consolidate"), st.none()),
    st.tuples(st.just("index"), st.none()),
    st.tuples(st.just("remember"), st.tuples(st.integers(0, 3), st.sampled_from(SOURCES))),
    st.tuples(st.just("expose"), st.tuples(st.integers(0, 99), st.integers(0, 5))),
    st.tuples(
        st.just("hint"),
        st.tuples(st.integers(0, 9), st.integers(0, 6), st.sampled_from(SOURCES)),
    ),
    st.tuples(
        st.just("judge"),
        st.tuples(
            st.integers(0, 9),
            st.sampled_from(
                [
                    ("pattern", "small-steps"),
                    ("pattern", "file-based"),
                    ("pattern", "never-named"),
                    ("criterion", "fast"),
                    ("memory", "m0"),
                    ("memory", "m1"),
                ]
            ),
            st.sampled_from(list(Verdict)),
            st.sampled_from(SOURCES),
            st.integers(0, 5),
        ),
    ),
    st.tuples(
        st.just("decide"),
        st.tuples(
            st.sampled_from(["small-steps", "file-based"]),
            st.sampled_from(["promote", "deprecate", "reset"]),
        ),
    ),
)


@dataclass
class Rest:
    """The part of a history that remains."""

    what: str
    name: str
    gone: set[str] = field(default_factory=set)
    tasks: set[str] = field(default_factory=set)

    @classmethod
    def of(
        cls, scratch: "Told", history: list[Any], subject: tuple[str, str], *, in_batches: bool
    ) -> "Rest":
        """Say which part remains.

        Args:
            scratch: a store that says which outcomes something of the subject is on record of: an
                entry that added nothing to its outcome left nothing to be forgotten.
            history: all that was told.
            subject: a source or a task.
            in_batches: whether outcomes that are told together are learnt together.
        """
        what, name = subject
        told = [each for kind, given in history if kind == "learn" for each in given]
        names = {each["outcome_id"] for each in told}
        for number, (kind, given_) in enumerate(history):
            if kind == "learn":
                bodies = [with_task(each) for each in given_]
                scratch.learn_some(bodies, NOW + (number + 1) * HOUR, in_batches=in_batches)
        found = find_in_store(scratch.engine, Subject(what, scratch.project, name)).found
        assert found.outcomes <= names
        only = {
            each["outcome_id"]
            for each in told
            if all(
                name in (other["source"], TASK_OF[other["outcome_id"]])
                for other in told
                if other["outcome_id"] == each["outcome_id"]
            )
        }
        assert only <= found.outcomes
        others = {TASK_OF[each] for each in names if each not in found.outcomes}
        tasks = {TASK_OF[each] for each in found.outcomes} - others
        return cls(what, name, set(found.outcomes), {name} if what == "task" else tasks)


def with_task(fields: dict[str, Any]) -> dict[str, Any]:
    """Return an outcome's fields with its task; all that tell of one outcome are one speaker."""
    name = fields["outcome_id"]
    own = {"task_id": TASK_OF[name], "metadata": {"session": f"s{name[1:]}"}}
    return own | {"reporter": f"r{int(name[1:]) % 3}"} | fields


@dataclass
class Both:
    """A store with a whole history, and one with the rest of it."""

    store: Told
    rest: Told
    remains: Rest
    in_batches: bool
    stored: set[int] = field(default_factory=set)
    judged: set[int] = field(default_factory=set)

    def tell(self, history: list[Any]) -> float:
        """Tell both of them a history; return the time afterwards."""
        now = NOW
        for kind, given_ in history:
            now += HOUR
            getattr(self, kind)(given_, now)
        return now + HOUR

    def learn(self, bodies: list[dict[str, Any]], now: float) -> None:
        told = [with_task(each) for each in bodies]
        batches = [told] if self.in_batches else [[each] for each in told]
        for number, batch in enumerate(batches):
            self.store.learn(batch, now + number)
            remaining = [each for each in batch if each["outcome_id"] not in self.remains.gone]
            self.rest.learn(remaining, now + number)

    def remember(self, given_: tuple[int, str], now: float) -> None:
        number, source = given_
        # What two sources say in the same words is a test of its own.
        if number not in self.stored:
            self.stored.add(number)
            self.store.remember(f"m{number}", TEXTS[number], source, now)
            if (self.remains.what, self.remains.name) != ("source", source):
                self.rest.remember(f"m{number}", TEXTS[number], source, now)

    def expose(self, given_: tuple[int, int], now: float) -> None:
        number, task = given_
        self.store.expose(f"e{number}-{task}", f"t{task}", now)
        if f"t{task}" not in self.remains.tasks:
            self.rest.expose(f"e{number}-{task}", f"t{task}", now)

    def hint(self, given_: tuple[int, int, str], now: float) -> None:
        number, session, source = given_
        hint = (f"h{number}-{session}-{source}", f"s{session}", source, now)
        self.store.hint(*hint)
        in_session = f"o{session}" in self.remains.gone
        if not in_session and (self.remains.what, self.remains.name) != ("source", source):
            self.rest.hint(*hint)

    def judge(self, given_: tuple[int, tuple[Any, str], Verdict, str, int], now: float) -> None:
        number, (subject, name), verdict, source, task = given_
        if number in self.judged:
            return
        self.judged.add(number)
        given = GivenFeedback(f"f{number}", subject, name, verdict, now, now, f"t{task}", source)
        self.store.judge(given)
        if self.remains.name not in (source, f"t{task}"):
            self.rest.judge(given)

    def decide(self, given_: tuple[str, str], now: float) -> None:
        # What could not be decided upon without what is forgotten is not decided upon here.
        if self.rest.decide(*given_, now):
            assume(self.store.decide(*given_, now))

    def consolidate(self, _: None, now: float) -> None:
        self.store.consolidate(now)
        self.rest.consolidate(now)

    def index(self, _: None, now: float) -> None:
        self.store.index()
        self.rest.index()

    def assert_same(self, now: float) -> None:
        """Compare everything."""
        self.index(None, now)
        project = self.store.project
        left, right = (whole(each.engine, project, at=now) for each in (self.store, self.rest))
        if not right:
            assert all(not rows for name, rows in left.items() if name != "projects")
            return
        for name, rows in right.items():
            assert left[name] == rows, (name, left[name], rows)
        assert self.store.answers(now) == self.rest.answers(now)


_projects = count(1)


@pytest.fixture
def others(memory_store: Callable[[], Engine]) -> Iterator[tuple[Engine, Engine]]:
    """A store with the rest of a history, and one to try things on."""
    rest, scratch = memory_store(), memory_store()
    yield rest, scratch
    rest.dispose()
    scratch.dispose()


@given(
    history=st.lists(steps, min_size=2, max_size=9),
    subject=st.sampled_from([("source", "bob"), ("task", "t1"), ("task", "t5")]),
    in_batches=st.booleans(),
)
@hypothesis_settings(max_examples=20)
def test_the_store_is_as_if_only_the_rest_had_come(engine, others, history, subject, in_batches):
    """Histories with amendments, consolidation, decisions, memories, exposures and hints."""
    check((engine, *others), history, subject, in_batches=in_batches)


def check(
    stores: tuple[Engine, Engine, Engine],
    history: list[Any],
    subject: tuple[str, str],
    *,
    in_batches: bool,
) -> str:
    """Tell two stores a history, one of them the rest only, and let the other one forget.

    Returns:
        The project.
    """
    # Each history has a project of its own, so that the stores are made once.
    project = f"p{next(_projects)}"
    store, rest, scratch = (Told(engine, RULES, project) for engine in stores)
    both = Both(store, rest, Rest.of(scratch, history, subject, in_batches=in_batches), in_batches)
    now = both.tell(history)
    store.forget(*subject, now)
    both.assert_same(now + HOUR)
    return project


@pytest.mark.parametrize(
    ("subject", "is_of_one"),
    [(("source", "bob"), False), (("source", "ada"), True), (("task", "t1"), True)],
)
def test_procedures_that_others_taught_remain(engine, others, subject, is_of_one):
    """Whether both used the same tools or each its own, and whoever is left alone."""
    told = [
        {"outcome_id": f"o{number}", "source": source, "success": number != 5}
        | {"tool_graph": [{"tool": "find"}, {"tool": "edit" if is_of_one else source}]}
        for number, source in enumerate(("ada", "ada", "bob", "bob", "ada", "bob", "ada"))
    ]
    history = [
        ("learn", told[:4]),
        ("consolidate", None),
        ("learn", told[4:]),
        ("consolidate", None),
    ]
    project = check((engine, *others), history, subject, in_batches=True)
    assert whole(engine, project, at=NOW + 99 * HOUR)["competences"]


def test_the_history_of_a_state_keeps_no_numbers_of_what_is_forgotten(engine):
    """Its changes remain, without counts; where nothing is lost, with them; the next one counts."""
    store = Told(engine, RULES, f"p{next(_projects)}")
    reported = {"success": True, "patterns": ["shared"]}
    store.learn(
        [with_task({"outcome_id": f"o{n}", "source": "bob"} | reported) for n in (1, 2)], NOW
    )
    own = {"outcome_id": "o3", "source": "ada", "patterns": ["shared", "own"], "success": True}
    store.learn([with_task(own)], NOW)
    assert len(note_states_of(engine, store.project, now=NOW, rules=RULES)) == 2
    store.forget("source", "bob", NOW + HOUR)
    note_states_of(engine, store.project, now=NOW + HOUR, rules=RULES)
    with reading(engine) as connection:
        project_id = project_id_of(connection, store.project)
        shared, untouched = (
            read_changes(connection, project_id, each) for each in ("shared", "own")
        )
    assert [(each.after, each.helpful) for each in shared] == [
        ("established", None),
        ("candidate", 1),
    ]
    assert [(each.after, each.helpful) for each in untouched] == [("candidate", 1)]


def test_a_clock_that_was_set_back_between_two_runs_of_consolidation(engine, others):
    """What was taken back before it was read is not added up again."""
    calls = {"tool_graph": [{"tool": tool} for tool in ("grep", "edit", "test")]}
    stores = [Told(each, RULES, f"p{next(_projects)}") for each in (engine, others[0])]
    for store, ids in zip(stores, (("o1", "o2", "o3"), ("o2", "o3")), strict=True):
        bodies = [
            with_task({"outcome_id": name, "source": "bob" if name == "o1" else "ada", **calls})
            for name in ids
        ]
        store.learn([each | {"success": True} for each in bodies], NOW)
        store.consolidate(NOW + 24 * HOUR)
        verdict = {"success": False, "outcome_source": "explicit", "timestamp": NOW + HOUR}
        store.learn([bodies[-1] | verdict], NOW + HOUR)
        store.consolidate(NOW + 2 * HOUR)
    stores[0].forget("source", "bob", NOW + 3 * HOUR)
    sums = [
        whole(store.engine, store.project, at=NOW + 4 * HOUR)[name]
        for store in stores
        for name in ("signatures", "signature_facts")
    ]
    assert sums[:2] == sums[2:]
    assert sums[0]


def test_what_moves_to_another_project(memory_store):
    """The one is as if it had never been there, the other has what people said, too."""
    engine, rest = memory_store(), memory_store()
    old, new = Told(engine, RULES, "old"), Told(engine, RULES, "new")
    only = Told(rest, RULES, "old")
    run = {
        "outcome_id": "r1", "task_id": "t1", "source": "codex", "success": True,
        "captured_from": "transcript", "outcome_source": "tests", "tool_graph": [{"tool": "edit"}],
    }  # fmt: skip
    other = run | {"outcome_id": "r2", "task_id": "t2"}
    word = {"outcome_id": "r1", "task_id": "t1", "success": False, "judged_by": "ann"}
    old.learn([run, other], NOW)
    only.learn([other], NOW)
    old.learn([word], NOW + 1)
    for each in (old, only):
        each.consolidate(NOW + HOUR)
    new.learn([run | {"task_id": "t3"}], NOW + 2 * HOUR)
    assert move_outcomes(engine, RULES, "old", {"r1": "new"}, now=NOW + 3 * HOUR)
    left, right = (whole(each, "old", at=NOW + 4 * HOUR) for each in (engine, rest))
    assert {name: left[name] for name in right} == right
    assert any('"success":false' in str(row) for row in whole(engine, "new", at=NOW)["outcomes"])
    old.learn([run], NOW + 5 * HOUR)
    moved = {"r1": "new", "r2": "new"}
    assert not move_outcomes(engine, RULES, "old", moved, now=NOW + 6 * HOUR)
    assert not whole(engine, "old", at=NOW + 7 * HOUR)
