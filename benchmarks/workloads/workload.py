"""A fleet's outcomes as they look in practice, with their sums known beforehand."""

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from trackrecord.learning.strategies.catalogue import STRATEGIES
from trackrecord.learning.text.slug import slug_of_words
from trackrecord.wire.outcome import encode_body
from trackrecord_producers.delivery.ids import new_id

PROJECTS = ("shop", "search", "billing")
_PATTERNS_OF_LARGE = 5_000
_PROCEDURES_OF_LARGE = 2_000


_OPENINGS = (
    "The order service loses the discount when a voucher is redeemed twice; ticket {n} has it.",
    "Customers of tenant {n} see yesterday's prices until the page is loaded once more.",
    "Replace the hand-written parser of report {n} and keep its output the way it is now.",
    "Upgrade the client library to version {n} and repair whatever stops compiling.",
)
_CLOSINGS = (
    "Afterwards run the whole suite and look at the log once more.",
    "Nothing else may change, reviewers have asked for a small difference.",
    "Keep an eye on memory while the import of batch {n} is going on.",
    "",
)
_MENTIONS = ("Plan: {s}.", "We {s} here.", "This time: {s}, as agreed.")
_PHRASES = tuple(
    (strategy.slug, strategy.name_en.partition("(")[0].strip().lower()) for strategy in STRATEGIES
)
_NAMED = ("file-based", "feature-based", "risk-based", "test-first")
_SOURCES = ("claude-1", "claude-2", "codex-1", "gemini-1")
_PROCEDURES = (
    ("grep", "read_file", "edit_file", "run_tests"),
    ("read_file", "edit_file", "run_linter", "run_tests"),
    ("list_files", "read_file", "write_file", "build"),
    ("search_code", "read_file", "apply_patch", "pytest"),
    ("git_log", "read_file", "edit_file", "run_tests", "git_commit"),
)


@dataclass
class Planted:
    """The sums that outcomes must lead to.

    Attributes:
        outcomes: how many there are.
        successes: how many of them succeeded.
        episodes: how many have tool calls.
        touches: outcomes by the slug of the pattern that they touch.
    """

    outcomes: int = 0
    successes: int = 0
    episodes: int = 0
    touches: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Planted") -> None:
        """Add the sums of other outcomes."""
        self.outcomes += other.outcomes
        self.successes += other.successes
        self.episodes += other.episodes
        self.touches.update(other.touches)


def project_names(count: int) -> tuple[str, ...]:
    """Return the names of so many projects."""
    return (*PROJECTS, *(f"project-{number}" for number in range(len(PROJECTS), count)))[:count]


def bodies(
    count: int,
    *,
    seed: int,
    planted: Planted,
    projects: Sequence[str] = PROJECTS,
    is_large: bool = False,
) -> Iterator[bytes]:
    """Yield outcomes of about 650 bytes; add their sums to `planted` on the way.

    Half of them mention one or two strategies in their description, a fifth names a strategy
    outright, half have four or five tool calls with arguments. The projects take turns. Where they
    are large, each outcome names one of 5,000 patterns, and its calls are one of 2,000 procedures.
    """
    chance = random.Random(seed)
    for number in range(count):
        project = projects[number % len(projects)]
        yield encode_body(_fields(chance, number, planted, is_large) | {"project": project})


def _fields(chance: random.Random, number: int, planted: Planted, is_large: bool) -> dict[str, Any]:
    success = chance.random() < 0.8
    touched: set[str] = set()
    fields: dict[str, Any] = {
        "outcome_id": new_id(),
        "timestamp": time.time(),
        "task_id": f"task-{number}",
        "source": chance.choice(_SOURCES),
        "success": success,
        "duration_ms": chance.randrange(5_000, 2_400_000),
        "error_count": chance.choice((0, 0, 0, 1, 2, 4)),
        "retry_count": chance.choice((0, 0, 1, 3)),
        "description": _description(chance, number, touched),
    }
    if chance.random() < 0.2:
        name = chance.choice(_NAMED)
        fields["strategy"] = name
        touched.add(slug_of_words(name) or "")
    if chance.random() < 0.5:
        fields["tool_graph"] = _tool_graph(chance, number)
        planted.episodes += 1
    if is_large:
        name = f"habit {chance.randrange(_PATTERNS_OF_LARGE)}"
        fields["patterns"] = [name]
        touched.add(slug_of_words(name) or "")
        for call in fields.get("tool_graph", ())[1:2]:
            call["tool"] += f"_{chance.randrange(_PROCEDURES_OF_LARGE // len(_PROCEDURES))}"
    planted.outcomes += 1
    planted.successes += success
    planted.touches.update(touched)
    return fields


def _description(chance: random.Random, number: int, touched: set[str]) -> str:
    sentences = [chance.choice(_OPENINGS)]
    if chance.random() < 0.5:
        for slug, phrase in chance.sample(_PHRASES, chance.choice((1, 2))):
            touched.add(slug)
            sentences.append(chance.choice(_MENTIONS).format(s=phrase))
    sentences.append(chance.choice(_CLOSINGS))
    return " ".join(sentences).format(n=number)


def _tool_graph(chance: random.Random, number: int) -> list[dict[str, Any]]:
    path = f"src/module_{number % 977}/handler.py"
    return [
        {
            "id": position,
            "tool": tool,
            "args": {"path": path, "line": number % 400, "pattern": f"def handle_{number % 50}"},
            "ok": True,
            "duration_ms": chance.randrange(10, 9_000),
        }
        for position, tool in enumerate(chance.choice(_PROCEDURES))
    ]


def small_bodies(count: int, *, seed: int) -> Iterator[bytes]:
    """Yield outcomes of about 330 bytes, for benchmarks that need very many."""
    chance = random.Random(seed)
    for number in range(count):
        fields = {
            "outcome_id": new_id(),
            "project": PROJECTS[number % len(PROJECTS)],
            "task_id": f"task-{number}",
            "success": chance.random() < 0.8,
            "duration_ms": chance.randrange(5_000, 2_400_000),
            "strategy": chance.choice(_NAMED),
            "tool_graph": [{"tool": tool} for tool in chance.choice(_PROCEDURES)],
        }
        yield encode_body(fields)


def episode_bodies(count: int, *, seed: int) -> Iterator[bytes]:
    """Yield outcomes of about 500 bytes whose tool calls have arguments, of some 100 procedures."""
    chance = random.Random(seed)
    for number in range(count):
        success = chance.random() < 0.8
        calls = _tool_graph(chance, number)
        calls[1]["tool"] += f"_{chance.randrange(60)}"
        fields = {
            "outcome_id": new_id(),
            "project": PROJECTS[number % len(PROJECTS)],
            "task_id": f"task-{number}",
            "success": success,
            "duration_ms": chance.randrange(5_000, 2_400_000),
            "trigger": {"signal": f"error {number % 23} in the build"},
            "tool_graph": calls,
        }
        yield encode_body(fields)
