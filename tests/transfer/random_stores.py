"""Random histories of a project, and every list that is answered from them."""

import contextlib
import copy
import io
import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
from sqlalchemy import Connection, Engine, select

from trackrecord.errors import DecisionRefused, InvalidRevision, UnknownId
from trackrecord.learning.competences.revision import ForkChanges
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.patterns.decisions import DecisionAction
from trackrecord.learning.rules_bundle import Rules
from trackrecord.store.advice.effect import HoldoutDecision, decide_holdout
from trackrecord.store.advice.exposures import ReceivedExposure, record_exposures
from trackrecord.store.advice.hints import ReceivedHint, record_hints
from trackrecord.store.advice.lesson_decisions import LessonDecision, decide_lesson
from trackrecord.store.competences.revise import Reviser, Signed
from trackrecord.store.competences.tables import competences
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import ensure_projects, learn
from trackrecord.store.intake.rebuild import rebuild_patterns
from trackrecord.store.ledger.subjects import PATTERN
from trackrecord.store.ledger.tables import items
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.store.memories.recall import recall
from trackrecord.store.memories.tables import memories
from trackrecord.store.memories.write import confirm, forget, reject, remember
from trackrecord.store.outcomes.tables import projects
from trackrecord.store.patterns.decide import decide
from trackrecord.wire.exposure import ExposureBody
from trackrecord.wire.hint import HintBody
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import scorer_of
from trackrecord_cli.main import run
from trackrecord_consolidation.run import consolidate

NOW = 1_780_000_000.0
DAY = 86_400.0
RULES = Rules()
SCORER = scorer_of(RULES)
LEARNING = CompetenceRules(min_successes=2)

_PATTERNS = ("plan first", "Zeta", "alpha", "Ärger", "先写测试", "plan-first")
_TOOLS = ("search", "Read", "edit", "运行", "test")
_TEXTS = (
    "Port 5432 belongs to the database", "Port 5432 does not belong to the database",
    "Clear the cache before the nightly build", "Never clear the cache before the nightly build",
    "夜间构建之前需要清理缓存", "a ''quoted'' \\ text\twith\nlines \u2028 and \U0001f600",
)  # fmt: skip
_TASKS = ("Fix the flaky login test", "修复登录测试", "Cancel the flight to Oslo", "Fix the Build")
_SOURCES = ("agent-a", "Agent-B", "_c", "ä")


class History:
    """A project whose agents, and people, do one random thing after the other.

    Args:
        store: where to.
        seed: of the random numbers.
        project: the project.
    """

    def __init__(self, store: Engine, seed: int, project: str = "default") -> None:
        self._store = store
        self._random = random.Random(seed)
        self._project = project
        self._now = NOW + self._random.random() * DAY
        self._number = 0

    def go_on(self, steps: int) -> None:
        """Do some things."""
        self._tell()
        things: list[Callable[[], None]] = [
            self._tell, self._tell, self._tell, self._remember, self._remember, self._judge,
            self._decide, self._consolidate, self._revise, self._expose, self._hint, self._advise,
            self._recompute, self._recall,
        ]  # fmt: skip
        for _ in range(steps):
            self._now += self._random.random() * DAY
            # What is refused, or not there yet, is part of life.
            with contextlib.suppress(DecisionRefused, InvalidRevision, UnknownId, IndexError):
                self._random.choice(things)()

    def tell_and_consolidate(self) -> None:
        """Do work with equal results in any copy of the store, and recompute everything."""
        for thing in (self._tell, self._tell, self._consolidate, self._tell, self._recompute):
            self._now += DAY
            thing()

    def goes_on_in(self, store: Engine) -> "History":
        """Return the same history, of the same future, in a copy of the store."""
        other = copy.copy(self)
        other._store, other._random = store, copy.deepcopy(self._random)
        return other

    def _project_id(self, connection: Connection) -> int:
        return ensure_projects(connection, [self._project])[self._project]

    def _tell(self) -> None:
        """New outcomes, and more about old ones."""
        some = [self._outcome() for _ in range(self._random.randint(1, 8))]
        with writing(self._store) as connection:
            learn(connection, some, RULES, now=self._now)

    def _outcome(self) -> Any:
        choose = self._random
        self._number += 1
        name = f"o{choose.randint(1, self._number)}"
        fields: dict[str, Any] = {
            "outcome_id": name,
            "task_id": f"t-{name[1:]}",
            "project": self._project,
            "success": choose.choice((True, True, False, None)),
            "timestamp": self._now - choose.random() * 3 * DAY,
            "patterns": choose.sample(_PATTERNS, choose.randint(0, 3)),
            "error_count": choose.choice((0, 0, 1, 7)),
            "duration_ms": choose.randint(1, 900_000),
            "source": choose.choice(_SOURCES),
            "outcome_source": choose.choice(("explicit", "tests", "evaluator", "heuristic")),
            "tool_graph": [
                {
                    "tool": tool,
                    "args": {"n": choose.random(), "command": f"make {tool}"},
                    "ok": choose.random() > 0.2,
                }
                for tool in choose.sample(_TOOLS, choose.randint(0, 2))
            ],
            "metadata": {"x": choose.random(), "text": choose.choice(_TEXTS)},
        }
        optional = {
            "instruction": choose.choice(_TASKS),
            "criteria": {choose.choice(("own", "Zwei", "no_bugs")): "helpful"},
            "trigger": {"signal": "red", "conditions": {"x": choose.random()}},
            "memory_ids": [f"m{choose.randint(1, 9)}"],
            "process": {"reviews": 2, "rejections": 1},
            "commits": [f"{choose.getrandbits(40):010x}"],
            "description": "split by file, then test first",
        }
        fields |= {key: value for key, value in optional.items() if choose.random() < 0.5}
        if choose.random() < 0.3 and (known := self._ids(competences.c.id)):
            fields["competence_id"] = choose.choice(known)
        # As any agent writes it: with space between, or none; characters as they are, or escaped.
        body = json.dumps(
            fields, ensure_ascii=choose.random() < 0.5, indent=choose.choice((None, None, 1))
        ).encode()
        return SCORER.score(decode_outcome(body), body, received_at=self._now, outcome_id="none")

    def _ids(self, column: Any, *where: Any) -> list[str]:
        query = (
            select(column)
            .join_from(column.table, projects, projects.c.id == column.table.c.project_id)
            .where(projects.c.name == self._project, *where)
            .order_by(column)
        )
        with reading(self._store) as connection:
            return sorted(connection.execute(query).scalars())

    def _remember(self) -> None:
        self._number += 1
        with writing(self._store) as connection:
            remember(
                connection, self._project_id(connection), self._random.choice(_TEXTS),
                memory_id=f"m{self._random.randint(1, 9)}", rules=RULES.memories, now=self._now,
                source=self._random.choice((None, *_SOURCES)), force=self._random.random() < 0.2,
            )  # fmt: skip

    def _judge(self) -> None:
        name = self._random.choice(self._ids(memories.c.memory_id))
        with writing(self._store) as connection:
            row = self._project_id(connection)
            if self._random.random() < 0.2:
                forget(connection, row, name, now=self._now)
            else:
                judge = self._random.choice((confirm, reject))
                judge(connection, row, name, rules=RULES.memories, now=self._now)

    def _recall(self) -> None:
        with writing(self._store) as connection:
            recall(
                connection, self._project_id(connection), self._random.choice(_TEXTS),
                rules=RULES.memories, now=self._now,
            )  # fmt: skip

    def _decide(self) -> None:
        slug = self._random.choice(self._ids(items.c.name, items.c.subject == PATTERN))
        with writing(self._store) as connection:
            decide(
                connection, self._project_id(connection), slug,
                self._random.choice(list(DecisionAction)),
                actor="Zoë", reason="seen it", rules=RULES, now=self._now,
            )  # fmt: skip

    def _consolidate(self) -> None:
        consolidate(self._store, LEARNING, self._project, now=self._now, actor="test")

    def _revise(self) -> None:
        ids = self._ids(competences.c.id)
        one, other = self._random.choice(ids), self._random.choice(ids)
        signed = Signed("Zoë", "by hand", self._now)
        with writing(self._store) as connection:
            by = Reviser(connection, self._project_id(connection), LEARNING, signed)
            self._random.choice(
                [
                    lambda: by.reinforce(one), lambda: by.penalize(one, 0.1),
                    lambda: by.contest(one, other, is_record=True), lambda: by.retract(one),
                    lambda: by.supersede(one, other),
                    lambda: by.fork(one, ForkChanges(skill_name=f"mine {self._number}")),
                    lambda: by.merge([one, other]),
                ]
            )()  # fmt: skip

    def _expose(self) -> None:
        self._number += 1
        body = ExposureBody(
            task_id=f"t-{self._random.randint(1, self._number)}",
            entries=("pattern:alpha", "memory:m1"), project=self._project, at=self._now,
            withheld=self._random.random() < 0.3, holdout=0.25,
        )  # fmt: skip
        exposure = ReceivedExposure(body, f"e{self._number}", self._now)
        with writing(self._store) as connection:
            record_exposures(connection, {self._project: self._project_id(connection)}, [exposure])

    def _hint(self) -> None:
        self._number += 1
        hint = HintBody(
            session=f"s-{self._random.randint(1, self._number)}",
            agent=self._random.choice(("", "helper")),
            entry=f"known failure: line make {self._random.choice(_SOURCES)}",
            kind="known failure", at=self._now - 1, given=self._random.random() < 0.5,
            probability=0.5, project=self._project, source=self._random.choice(_SOURCES),
            key="line make test", check="test", tool="shell:make test",
            text=self._random.choice(_TASKS),
        )  # fmt: skip
        received = ReceivedHint(hint, f"h{self._number}", self._now)
        with writing(self._store) as connection:
            record_hints(connection, {self._project: self._project_id(connection)}, [received])

    def _advise(self) -> None:
        effect = HoldoutDecision(self._random.random() / 2, "Zoë", "", self._now)
        lesson = LessonDecision("abc", "dismiss", "Zoë", "wrong", self._now)
        with writing(self._store) as connection:
            decide_holdout(connection, self._project_id(connection), effect)
            decide_lesson(connection, self._project_id(connection), lesson)

    def _recompute(self) -> None:
        index_past_tasks(self._store)
        with writing(self._store) as connection:
            rebuild_patterns(connection, self._project_id(connection), RULES, now=self._now)


LISTS = (
    ("patterns", "list"), ("patterns", "list", "--state", "deprecated"), ("criteria", "list"),
    ("competences", "list"), ("memories", "list"), ("lessons", "list", "--everything"),
    ("commands", "list", "--everything"), ("runs", "list", "--limit", "1000"), ("effect",),
    ("projects",),
)  # fmt: skip
_MOMENT = NOW + 40 * DAY


def lists(url: str, project: str = "default", *, each: bool = True) -> Iterator[tuple[str, str]]:
    """Yield every list that a store answers, with what it answers to the byte.

    Args:
        url: the store.
        project: whose lists.
        each: also what is told of each single thing in them.
    """
    answers = {}
    for command in LISTS:
        own = () if command == ("projects",) else ("--project", project)
        asked = (*command, *own, "--json")
        answers[command] = asked_for(url, *asked)
        yield " ".join(asked), answers[command]
    if each:
        yield from _single(url, project, answers)


def _single(
    url: str, project: str, answers: dict[tuple[str, ...], str]
) -> Iterator[tuple[str, str]]:
    wanted = [("explain", item["id"]) for item in json.loads(answers["patterns", "list"][2:])[:3]]
    for item in json.loads(answers["competences", "list"][2:])[:3]:
        wanted += [("explain", item["id"]), ("competences", "history", item["id"])]
    wanted += [("explain", item["id"]) for item in json.loads(answers["memories", "list"][2:])[:3]]
    for command in wanted:
        asked = (*command, "--project", project, "--json")
        yield " ".join(asked), asked_for(url, *asked)


def asked_for(url: str, *arguments: str) -> str:
    """Return a command's output, at a time when the clock stops."""
    home = Path(url.removeprefix("sqlite:///")).parent if url.startswith("sqlite") else Path("/")
    out, err = io.StringIO(), io.StringIO()
    settings = {"TRACKRECORD_DATABASE_URL": url, "TRACKRECORD_HOME": str(home / "no-home")}
    with (
        patch.dict("os.environ", settings),
        patch.object(time, "time", lambda: _MOMENT),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = run(list(arguments))
    assert status in (0, 1), (arguments, err.getvalue())
    return f"{status} {out.getvalue()}"


def all_rows(store: Engine, tables: Any) -> dict[str, list[Any]]:
    """Return everything that some tables hold, in the order of no database's own."""
    with reading(store) as connection:
        return {
            table.name: sorted(
                (tuple(row) for row in connection.execute(select(table))),
                key=lambda row: msgspec.json.encode(row),
            )
            for table in tables
        }
