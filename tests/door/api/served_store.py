"""A home with two projects that have something of everything; the texts of each bear its mark."""

import json
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import redis
from sqlalchemy import Engine

import trackrecord
from tests.store.teaching import learn_reports, note_states_of
from trackrecord.artifacts.client import store_output
from trackrecord.inflight.reports import error_report
from trackrecord.inflight.store import InFlightStore
from trackrecord.resources.access.project_store import ProjectStore, given_stores
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.advice.exposures import ReceivedExposure, record_exposures
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.wire.exposure import ExposureBody
from trackrecord_consolidation.run import consolidate
from trackrecord_worker.caching.refresh import RankingsRefresher

OURS: Final = "ours"
THEIRS: Final = "theirs"
# In every text of a project, and in no text of the other one.
MARKS: Final[Mapping[str, str]] = {OURS: "quokka", THEIRS: "zyzzyva"}
_TASKS: Final = 36
_HOUR: Final = 3600.0


@dataclass
class ServedStore:
    """The store and the home that a front door serves.

    Attributes:
        home: of the front door.
        settings: of its processes.
        engine: the store.
        client: its Redis.
        ids: by project, ids of things of each kind.
    """

    home: Path
    settings: DaemonSettings
    engine: Engine
    client: redis.Redis
    ids: dict[str, dict[str, str]]

    @contextmanager
    def calls(self, project: str = OURS) -> Iterator[None]:
        """Within it, the calls of `trackrecord` ask this store."""
        with given_stores.within(ProjectStore(self.engine, self.settings, project)):
            yield

    def learn(self, project: str, outcomes: list[dict[str, Any]]) -> None:
        """Learn outcomes as a worker does."""
        reports = [{**fields, "project": project} for fields in outcomes]
        now, rules = time.time(), self.settings.rules
        learn_reports(self.engine, reports, rules, now=now)
        note_states_of(self.engine, project, now=now, rules=rules)

    def fill(self, project: str) -> None:
        """Put something of everything into a project."""
        mark, now = MARKS[project], time.time()
        self.learn(project, [_outcome(project, mark, number, now) for number in range(_TASKS)])
        consolidate(self.engine, self.settings.competence, project, now=now, actor=f"{mark}-er")
        with self.calls(project):
            memory = trackrecord.add_memory(f"The {mark} test needs port 5432", source=mark)
            trackrecord.add_memory(f"Nobody likes {mark} on Sundays", force=True)
            trackrecord.give_feedback(
                "helpful", criterion=f"{mark}-clean", task_id=f"{mark}-1", source=mark
            )
            record = trackrecord.add_competence(
                [f"{mark}-grep", "edit"], triggers=[f"{mark} breaks"], by=mark
            )
            trackrecord.benchmark_run()
            lessons = trackrecord.list_lessons(everything=True)
            commands = trackrecord.list_commands(everything=True)
        self._hand_out(project, mark)
        tasks = InFlightStore(self.client, self.settings.keys, project, self.settings.errors)
        error = error_report(f"{mark}-1", "timeout", f"{mark} timed out", tool_name=mark)
        tasks.write(error)
        output = f"{mark} says\n" * 3
        artifact = store_output(
            self.settings, project, output.encode(), task_id=f"{mark}-1", tool=mark
        )
        letter = self.set_aside(project, {"project": project, "task_id": mark})
        self.ids[project] = {
            "pattern_id": f"{mark}-split",
            "lesson_id": lessons[0].id,
            "command_id": next(each.id for each in commands if mark in each.line),
            "name": f"{mark}-clean",
            "competence_id": record.id,
            "memory_id": memory.id,
            "outcome_id": f"{mark}-run-1",
            "some_id": f"{mark}-split",
            "error_id": error.id,
            "artifact_id": artifact.id,
            "letter": letter,
        }

    def set_aside(self, project: str, fields: Mapping[str, Any]) -> str:
        """Set an entry aside as a worker does; return its id."""
        entry = {"v": "1", "body": json.dumps(fields), "reason": f"{MARKS[project]} is wrong"}
        letter: Any = self.client.xadd(self.settings.keys.dead, entry)  # type: ignore[arg-type]
        return str(letter.decode())

    def refresh(self) -> None:
        """Bring what is learnt into the cache, as a worker does."""
        refresher = RankingsRefresher(self.engine, self.client, self.settings)
        for project in MARKS:
            refresher.refresh(project)

    def _hand_out(self, project: str, mark: str) -> None:
        received = [
            ReceivedExposure(
                ExposureBody(
                    task_id=f"{mark}-{number}",
                    entries=(f"{mark}-split",),
                    project=project,
                    at=1.0,
                    withheld=number % 2 == 0,
                    holdout=0.5,
                ),
                f"{mark}-exposure-{number}",
                1.0,
            )
            for number in range(_TASKS)
        ]
        with writing(self.engine) as connection:
            record_exposures(connection, ensure_projects(connection, {project}), received)


def _outcome(project: str, mark: str, number: int, now: float) -> dict[str, Any]:
    draw = random.Random(number)
    success = draw.random() < 0.6
    return {
        "outcome_id": f"{mark}-run-{number}",
        "task_id": f"{mark}-{number}",
        "source": mark,
        "success": success,
        "timestamp": now - number * _HOUR,
        "instruction": f"mend the {mark} in module {number % 4}",
        "strategy": f"{mark}-split" if number % 3 else "file-based",
        "criteria_results": {f"{mark}-clean": success},
        "failure_mode": None if success else f"{mark} broke",
        "error_count": 0 if success else 3,
        "duration_ms": 1000 + number,
        "tool_graph": [
            {"tool": f"{mark}-grep", "ok": True, "args": {"command": f"make {mark} test"}},
            {"tool": "edit", "ok": success, "error": None if success else f"{mark} not found"},
            {"tool": f"{mark}-test", "ok": success},
        ],
    }


def tokens_of(store: ServedStore) -> dict[str, str]:
    """Make a token of each permission for our project; return them by permission."""
    from trackrecord.resources.operation.tokens import create_token
    from trackrecord.wire.access_tokens import Permission

    return {
        each.name.lower(): create_token(store.engine, project=OURS, permission=each).token
        for each in Permission
    }
