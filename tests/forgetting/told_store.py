"""A store with a history from agents, people and the nightly job."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from tests.store.teaching import learn_reports
from trackrecord.errors import DecisionRefused, UnknownId
from trackrecord.learning.competences.record import competence_id
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.patterns.decisions import DecisionAction
from trackrecord.learning.rules_bundle import Rules
from trackrecord.store.advice.exposures import ReceivedExposure, record_exposures
from trackrecord.store.advice.hints import ReceivedHint, record_hints
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.feedback import take_in_feedback
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.past_tasks import index_past_tasks, similar_tasks
from trackrecord.store.memories.recall import recall
from trackrecord.store.memories.write import remember
from trackrecord.store.outcomes.feedback.feedback import GivenFeedback
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.patterns.decide import decide
from trackrecord.wire.exposure import ExposureBody
from trackrecord.wire.hint import HintBody
from trackrecord.wire.subject import Subject
from trackrecord_consolidation.forget import forget_in_store
from trackrecord_consolidation.run import consolidate

NOW = 1_780_000_000.0
HOUR = 3_600.0
RULES = Rules(competence=CompetenceRules(min_successes=2))


@dataclass
class Told:
    """A store with a history."""

    engine: Engine
    rules: Rules
    project: str

    def learn(self, bodies: list[dict[str, Any]], now: float) -> None:
        """Learn outcomes in one batch."""
        if not bodies:
            return
        reports = []
        for fields in bodies:
            told = {"project": self.project} | fields
            if "competence_id" in told:
                told["competence_id"] = competence_id(self.project, told["competence_id"])
            reports.append(told)
        learn_reports(self.engine, reports, self.rules, now=now)

    def learn_some(self, bodies: list[dict[str, Any]], now: float, *, in_batches: bool) -> None:
        """Learn outcomes together, or one after the other."""
        for number, batch in enumerate([bodies] if in_batches else [[each] for each in bodies]):
            self.learn(batch, now + number)

    def remember(self, memory_id: str, text: str, source: str | None, now: float) -> None:
        """Store a memory."""
        with writing(self.engine) as connection:
            project_id = ensure_projects(connection, [self.project])[self.project]
            remember(
                connection, project_id, text, memory_id=memory_id, rules=self.rules.memories,
                now=now, source=source,
            )  # fmt: skip

    def judge(self, given: GivenFeedback) -> None:
        """Judge one pattern, criterion or memory."""
        with writing(self.engine) as connection:
            project_id = ensure_projects(connection, [self.project])[self.project]
            take_in_feedback(connection, project_id, [given], self.rules, now=given.received_at)

    def expose(self, exposure_id: str, task: str, now: float) -> None:
        """Record an exposure of a task."""
        body = ExposureBody(task_id=task, entries=("p",), project=self.project)
        with writing(self.engine) as connection:
            received = ReceivedExposure(body, exposure_id, now)
            record_exposures(connection, ensure_projects(connection, [self.project]), [received])

    def hint(self, hint_id: str, session: str, source: str, now: float) -> None:
        """Record what a failing call of a session was told."""
        body = HintBody(
            session=session, entry="known failure: line make test", kind="known failure",
            given=True, probability=0.5, project=self.project, source=source,
            key="line make test", check="test", tool="test",
            text="`make test` failed in each of the last 3 sessions here.",
        )  # fmt: skip
        with writing(self.engine) as connection:
            received = ReceivedHint(body, hint_id, now)
            record_hints(connection, ensure_projects(connection, [self.project]), [received])

    def decide(self, slug: str, action: str, now: float) -> bool:
        """Decide upon a pattern; return whether that was possible."""
        with suppress(UnknownId, DecisionRefused), writing(self.engine) as connection:
            project_id = project_id_of(connection, self.project)
            if project_id is None:
                return False
            decide(
                connection, project_id, slug, DecisionAction(action), actor="anna", reason="",
                rules=self.rules, now=now,
            )  # fmt: skip
            return True
        return False

    def consolidate(self, now: float) -> None:
        """Run the nightly job."""
        consolidate(self.engine, self.rules.competence, self.project, now=now, actor="nightly")

    def index(self) -> None:
        """Let past tasks be found."""
        index_past_tasks(self.engine)

    def forget(self, what: str, name: str, now: float) -> dict[str, int]:
        """Forget a source, a task or the project."""
        subject = Subject(what, self.project, name)
        return forget_in_store(self.engine, self.rules, subject, (), actor="test", now=now)

    def answers(self, now: float) -> dict[str, Any]:
        """Return the results of searches."""
        with reading(self.engine) as connection:
            project_id = project_id_of(connection, self.project)
            if project_id is None:
                return {}
            tasks = similar_tasks(connection, project_id, "fix the build of red", most=100)
            found = recall(
                connection, project_id, "always use rebase never merge tests docs",
                rules=self.rules.memories, now=now,
            )  # fmt: skip
            return {
                "tasks": sorted((each.task_id, each.success, each.ended_at) for each in tasks),
                "memories": sorted(each.memory.id for each in found),
            }
