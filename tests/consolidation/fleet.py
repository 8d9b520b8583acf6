"""A fleet's reports, written straight into the store: what the intake would leave behind."""

from dataclasses import dataclass, field
from itertools import count
from typing import Any

import msgspec
from sqlalchemy import Engine, Select, insert, select

from trackrecord.learning.competences.record import Competence
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.store.competences.read import read_competences
from trackrecord.store.competences.rebuild_credit import rebuild_credit
from trackrecord.store.competences.tables import (
    competence_history,
    competences,
    episodes,
    signature_facts,
    signatures,
)
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.outcomes.tables import outcomes, projects, waiting_episodes
from trackrecord_consolidation.rebuild import rebuild_competences
from trackrecord_consolidation.report import Progress, RunReport
from trackrecord_consolidation.run import consolidate

_numbers = count(1)


def graph(*tools: str) -> list[dict[str, Any]]:
    """A tool graph of calls in that order."""
    return [{"tool": tool} for tool in tools]


@dataclass
class Fleet:
    """Agents of one project, and the store that they report to."""

    engine: Engine
    project: str = "default"
    rules: CompetenceRules = field(default_factory=CompetenceRules)

    def __post_init__(self) -> None:
        with writing(self.engine) as connection:
            self.project_id: int = connection.execute(
                insert(projects)
                .values(name=self.project, revision=0, outcomes=0, successes=0)
                .returning(projects.c.id)
            ).scalar_one()

    def report(self, *tools: str, success: bool = True, **fields: Any) -> str:
        """Report one outcome; answers its outcome_id."""
        body = {"tool_graph": graph(*tools), **fields}
        return self.report_bodies([(success, body)])[0]

    def report_bodies(self, bodies: list[tuple[bool, dict[str, Any]]]) -> list[str]:
        """Report outcomes in one transaction; answers their outcome_ids."""
        return [
            outcome_id
            for outcome_id, _ in self._insert(
                [
                    (success, {"outcome_id": f"o{next(_numbers)}", **body})
                    for success, body in bodies
                ]
            )
        ]

    def _insert(self, bodies: list[tuple[bool, dict[str, Any]]]) -> list[tuple[str, int]]:
        with writing(self.engine) as connection:
            inserted = []
            for success, body in bodies:
                row = connection.execute(
                    insert(outcomes)
                    .values(
                        project_id=self.project_id, outcome_id=body["outcome_id"], task_id="t",
                        received_at=10.0, ended_at=10.0, success=success,
                        raw_score=float(success), verdict="helpful" if success else "harmful",
                        body=msgspec.json.encode({"task_id": "t", "success": success, **body}),
                    )
                    .returning(outcomes.c.id)
                ).scalar_one()  # fmt: skip
                inserted.append((body["outcome_id"], row))
            connection.execute(
                insert(waiting_episodes),
                [{"project_id": self.project_id, "outcome": row} for _, row in inserted],
            )
        return inserted

    def consolidate(self, now: float = 100.0, **options: Any) -> RunReport:
        """Run the nightly job."""
        return consolidate(self.engine, self.rules, self.project, now=now, actor="test", **options)

    def rebuild(self, now: float) -> Progress:
        """Rebuild the records, as the command does."""
        with writing(self.engine) as connection:
            progress = rebuild_competences(
                connection, self.rules, self.project, self.project_id, now=now
            )
            rebuild_credit(connection, self.project_id)
        return progress

    def records(self) -> dict[str, Competence]:
        """The records by signature."""
        with reading(self.engine) as connection:
            found = read_competences(connection, self.project_id)
        return {record.signature: record for record in found}

    @property
    def revision(self) -> int:
        """The project's revision."""
        with reading(self.engine) as connection:
            return connection.execute(
                select(projects.c.revision).where(projects.c.id == self.project_id)
            ).scalar_one()

    def state(self) -> dict[str, list[Any]]:
        """Everything that consolidation keeps, but for rows' numbers and its reports."""
        history = competence_history.c
        with reading(self.engine) as connection:

            def rows(query: Select[Any]) -> list[tuple[Any, ...]]:
                return [tuple(row) for row in connection.execute(query)]

            name_of = dict(rows(select(signatures.c.id, signatures.c.name)))
            return {
                "waiting": rows(select(waiting_episodes)),
                "signatures": sorted(row[2:] for row in rows(select(signatures))),
                "facts": sorted(
                    (name_of[row[0]], *row[1:]) for row in rows(select(signature_facts))
                ),
                "episodes": sorted(
                    (outcome, name_of.get(signature_id, ""), success)
                    for _, outcome, signature_id, success, *_ in rows(select(episodes))
                ),
                "competences": sorted(rows(select(competences.c.id, competences.c.record))),
                "history": sorted(
                    rows(select(history.competence_id, history.action, history.snapshot))
                ),
            }
