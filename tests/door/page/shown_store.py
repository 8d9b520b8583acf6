"""A store with something on every page, in the home of a front door.

Two projects: "fleet" is what users have; in "hostile" every field that an agent controls holds
hostile text (see `hostile_texts`).
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from tests.door.filled_store import FilledStore
from trackrecord.resources.access.project_store import Transaction
from trackrecord.resources.experience.competences import competences_of
from trackrecord.resources.reports.runs import read_runs
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.write import remember

FLEET: Final = "fleet"
HOSTILE: Final = "hostile"
_DAY: Final = 86_400.0
_TASKS: Final = 60
_LONG: Final = 6


class ShownStore(FilledStore):
    """A store that pages show."""

    def remember(self, project: str, texts: Iterable[str]) -> None:
        """Remember memories, all of them, however alike they are."""
        now = time.time()
        with writing(self.engine) as connection:
            (project_id,) = ensure_projects(connection, {project}).values()
            for number, text in enumerate(texts):
                usable = text[:1000] if text.strip() else f"blank {number}"
                remember(
                    connection,
                    project_id,
                    usable,
                    memory_id=f"{project}-m{number}",
                    rules=self.settings.memories,
                    now=now,
                    source="airline-agent",
                    force=True,
                )

    def long_procedure(self, project: str) -> str:
        """Return the id of the competence record with the most tools."""
        with reading(self.engine) as connection:
            found = competences_of(Transaction(connection, self.settings, project))
        return max(found, key=lambda each: (len(each.record.recipe), each.id)).id

    def long_run(self, project: str) -> str:
        """Return the id of the newest run with the most calls."""
        with reading(self.engine) as connection:
            found = read_runs(connection, project, limit=50)
        return max(found, key=lambda each: len(each.calls)).outcome_id


def fill(store: ShownStore, hostile: Sequence[str]) -> None:
    """Put something on every page, of both projects."""
    _fill(store, FLEET, lambda _number, usual: usual)
    _fill(store, HOSTILE, lambda number, _usual: hostile[number % len(hostile)])
    store.teach(HOSTILE, _failing_tools(hostile))
    store.set_aside("body is not JSON", b"{")
    store.set_aside("body is not JSON", b"[1,")
    store.set_aside("task_id is missing", b'{"success": true}')
    for number, text in enumerate(hostile):
        store.set_aside(hostile[number // 10][:200], text.encode())


def _fill(store: ShownStore, project: str, text: Callable[[int, str], str]) -> None:
    """Learn, record exposures, consolidate and remember; `text` decides what agents write.

    Args:
        store: what is filled.
        project: of which.
        text: a text by a number and by what a usual agent would write.
    """
    store.teach(project, [_outcome(number, text) for number in range(_TASKS)])
    store.teach(project, [_long_outcome(project, number, text) for number in range(_LONG)])
    store.hand_out(
        project,
        [
            (_task(number, text), (text(number, "file-based"), "lesson:abc"), number % 2 == 0)
            for number in range(_TASKS)
        ],
    )
    store.consolidate(project)
    store.remember(
        project,
        (text(number, f"Bookings of kind {number} need a payment id") for number in range(5)),
    )


def _failing_tools(hostile: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield outcomes that teach lessons about tools with hostile names and errors."""
    for number, text in enumerate(hostile[::10]):
        for task in range(4):
            call = {
                "tool": text[:120] or "blank", "ok": False, "error": text or "blank",
                "args": {"command": f"run {text}"},
            }  # fmt: skip
            yield {
                "outcome_id": f"failing-{number}-{task}",
                "task_id": f"failing {number} {task}",
                "success": False,
                "source": text[:200] or "blank",
                "tool_graph": [call, call],
            }


def _task(number: int, text: Callable[[int, str], str]) -> str:
    return text(number, f"task-{number}")[:240] + f" {number}"


def _outcome(number: int, text: Callable[[int, str], str]) -> dict[str, Any]:
    chance = random.Random(number)
    success = chance.random() < 0.7
    moment = time.time() - (_TASKS - number) * _DAY / 6
    name = text(number, "update_booking")[:120]
    calls = [
        {"tool": text(number + 1, "find_user")[:120], "ok": True, "duration_ms": 120,
         "args": {"command": text(number, "npm test")}},
        {"tool": name, "ok": success, "duration_ms": 480,
         "args": {"reason": text(number + 2, "change of plans")},
         "error": None if success else text(number + 3, "Error: payment does not match")},
    ]  # fmt: skip
    return {
        "task_id": _task(number, text),
        "success": success if number % 7 else None,
        "timestamp": moment,
        "duration_ms": 4000 + number,
        "error_count": 0 if success else 2,
        "source": text(number, "airline-agent")[:200],
        "strategy": text(number % 5, ("file-based", "plan first", "ask the user")[number % 3]),
        "description": text(number, "Change the dates of a booking"),
        "patterns": [text(number % 4, "reads before writing")],
        "trigger": {"signal": text(number, "change a booking")},
        "instruction": text(number, "Move my flight to Friday, please."),
        "tool_graph": calls,
        "failure_details": None if success else text(number, "the payment did not match"),
        "criteria": {text(number % 6, "no_bugs")[:60]: "helpful" if success else "harmful"},
        "grounds": [{"kind": "result", "says": text(number, "the tests passed")[:1000]}],
    }


def _long_outcome(project: str, number: int, text: Callable[[int, str], str]) -> dict[str, Any]:
    """One run of a procedure of a dozen steps, by the clock, some of them at the same time."""
    chance = random.Random(number)
    ended = time.time() - (_LONG - number) * 60
    steps = sorted([*range(12), *(chance.randrange(12) for _ in range(4))])
    failed = {place for place in range(len(steps)) if chance.random() < 0.2}
    calls = [
        {"tool": text(100 + step, f"step_{step}")[:120], "ok": place not in failed,
         "timestamp": ended - 60 + 3 * place, "duration_ms": 2000 if step % 4 else 7000,
         "args": {text(130 + step, "file"): text(140 + step, "seats.py")},
         "result": text(150 + step, "done"),
         "error": text(160 + step, "no seat is left") if place in failed else None,
         "actor": text(170, "helper")[:120] if step == 11 else None}
        for place, step in enumerate(steps)
    ]  # fmt: skip
    return {
        "outcome_id": text(180, f"{project}-long")[:100] + f" {number}",
        "task_id": _task(number, text),
        "success": number != 1,
        "timestamp": ended,
        "duration_ms": 60_000,
        "source": text(number, "airline-agent")[:200],
        "tool_graph": calls,
        "instruction": text(181, "Rebook a party of twelve."),
        "trigger": {"signal": text(182, "rebook a party")},
        "failure_mode": text(183, "timeout")[:200] if number == 1 else None,
        "memory_ids": [text(184, f"{project}-m1")[:100]],
        "commits": ["0123abc"],
        "metadata": {"repository": text(185, "booking")},
        "outcome_source": "tests",
        "grounds": [{"kind": text(186, "tests")[:200], "says": text(187, "12 passed")[:1000]}],
    }
