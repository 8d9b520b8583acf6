"""A home with two projects that have something of everything; the texts of each bear its mark."""

import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import trackrecord
from tests.door.filled_store import FilledStore
from trackrecord.artifacts.client import store_output
from trackrecord.inflight.reports import error_report
from trackrecord.inflight.store import InFlightStore

OURS: Final = "ours"
THEIRS: Final = "theirs"
# In every text of a project, and in no text of the other one.
MARKS: Final[Mapping[str, str]] = {OURS: "quokka", THEIRS: "zyzzyva"}
_TASKS: Final = 36
_HOUR: Final = 3600.0


@dataclass
class ServedStore(FilledStore):
    """The store that a front door serves.

    Attributes:
        ids: by project, ids of things of each kind.
    """

    ids: dict[str, dict[str, str]] = field(default_factory=dict)

    def fill(self, project: str) -> None:
        """Put something of everything into a project."""
        mark, now = MARKS[project], time.time()
        self.teach(project, [_outcome(mark, number, now) for number in range(_TASKS)])
        self.consolidate(project, actor=f"{mark}-er")
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
        entries = (f"{mark}-split",)
        self.hand_out(project, [(f"{mark}-{n}", entries, n % 2 == 0) for n in range(_TASKS)])
        tasks = InFlightStore(self.client, self.settings.keys, project, self.settings.errors)
        error = error_report(f"{mark}-1", "timeout", f"{mark} timed out", tool_name=mark)
        tasks.write(error)
        output = f"{mark} says\n" * 3
        artifact = store_output(
            self.settings, project, output.encode(), task_id=f"{mark}-1", tool=mark
        )
        dead = json.dumps({"project": project, "task_id": mark})
        letter = self.set_aside(f"{mark} is wrong", dead.encode())
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


def _outcome(mark: str, number: int, now: float) -> dict[str, Any]:
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
