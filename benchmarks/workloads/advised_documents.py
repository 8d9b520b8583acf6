"""Documents of a large project: rankings, and what was counted from its runs."""

import random
from array import array
from typing import Final

from trackrecord.learning.advice.lessons.lesson import LessonKind
from trackrecord.learning.advice.tasks.task_index import build_index
from trackrecord.prompt.documents.advice_document import (
    AdviceDocument,
    Expected,
    ExpectedInKind,
    KindEntry,
    LessonEntry,
    PastTasks,
    PatternEntry,
    ProcedureEntry,
)
from trackrecord.prompt.documents.rankings_document import RankedPattern, RankingsDocument

PROCEDURES: Final = 2_000
PATTERNS: Final = 1_000
PAST_TASKS: Final = 10_000
LESSONS: Final = 2_000
_KINDS: Final = 40
_TOOLS: Final = 300
_WORDS: Final = 4_000
_NOW: Final = 1_800_000_000.0


def task_texts(chance: random.Random, count: int) -> list[str]:
    """Return texts of tasks whose words are as unevenly frequent as those of a language."""
    words = [
        f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}x" for n in range(_WORDS)
    ]
    weights = [1.0 / (1 + n) for n in range(_WORDS)]
    return [" ".join(chance.choices(words, weights, k=30)) for _ in range(count)]


def advised_documents(project: str, seed: int = 0) -> tuple[RankingsDocument, AdviceDocument]:
    """Return a project's rankings and advice."""
    chance = random.Random(seed)
    tools = [f"tool_{n}" for n in range(_TOOLS)]
    rankings = RankingsDocument(
        project=project,
        revision=1,
        computed_at=_NOW,
        patterns=tuple(_pattern(n, is_negative=False) for n in range(PATTERNS // 2)),
        anti_patterns=tuple(_pattern(n, is_negative=True) for n in range(PATTERNS // 2, PATTERNS)),
    )
    advice = AdviceDocument(
        project=project,
        revision=1,
        computed_at=_NOW,
        runs=2 * PAST_TASKS,
        lessons=tuple(_lesson(n, chance.choice(tools)) for n in range(LESSONS)),
        procedures=tuple(_procedures(chance, tools)),
        patterns=tuple(
            PatternEntry(
                slug=f"pattern-{n}",
                expected=_expected(chance),
                by_kind=dict(_expected_in_kind(chance) for _ in range(5)),
            )
            for n in range(PATTERNS)
        ),
        kinds=tuple(KindEntry(name=f"kind {n}", expected=_expected(chance)) for n in range(_KINDS)),
        past_tasks=_past_tasks(chance, task_texts(chance, PAST_TASKS)),
    )
    return rankings, advice


def _expected_in_kind(chance: random.Random) -> tuple[int, ExpectedInKind]:
    runs, mean = chance.randint(1, 20), chance.random()
    found = ExpectedInKind(
        runs, round(runs * mean), 10 * mean, 10 * (1 - mean), mean, True, 0.1, -0.1, 0.3
    )
    return chance.randrange(_KINDS), found


def _expected(chance: random.Random) -> Expected:
    mean = chance.random()
    return Expected(
        10 * mean, 10 * (1 - mean), mean, mean - 0.1, mean + 0.1, 8, 4, 5, 0.1, -0.1, 0.3,
        order_key=mean,
    )  # fmt: skip


def _pattern(number: int, *, is_negative: bool) -> RankedPattern:
    slug = f"pattern-{number}"
    said = f"- {'AVOID: ' if is_negative else ''}keep module {number} small and cover it with tests"
    return RankedPattern(
        id=f"anti-{slug}" if is_negative else slug, content=slug, kind="named",
        is_negative=is_negative, state="candidate" if is_negative else "established",
        multiplier=1.0, score=1.0 - number / (2 * PATTERNS), success_count=5, failure_count=1,
        helpful_count=5, neutral_count=0, harmful_count=1, decayed_helpful=5.0,
        decayed_harmful=1.0, harmful_ratio=0.2, reason="", last_validated=None, tags=("named",),
        lines={"en": said, "zh": said},
    )  # fmt: skip


def _lesson(number: int, tool: str) -> LessonEntry:
    said = f"`{tool}` failed in 30 of 40 calls, in 5 tasks: no such table as table {number}"
    return LessonEntry(
        id=f"{number:020x}", kind=LessonKind.FAILS.value, tools=(tool,), state="established",
        score=1.0 - number / (2 * LESSONS), runs=12, tasks=5, last_seen=_NOW,
        lines={"en": said, "zh": said},
    )  # fmt: skip


def _procedures(chance: random.Random, tools: list[str]) -> list[ProcedureEntry]:
    orders = {tuple(chance.sample(tools, k=chance.randint(3, 8))) for _ in range(PROCEDURES)}
    return [
        ProcedureEntry(signature="+".join(sorted(order)), order=order, expected=_expected(chance))
        for order in sorted(orders)
    ]


def _past_tasks(chance: random.Random, texts: list[str]) -> PastTasks:
    texts = sorted(texts)
    return PastTasks(
        index=build_index(texts),
        kinds=array("I", [chance.randrange(_KINDS) for _ in texts]).tobytes(),
        runs=tuple(
            tuple(
                (
                    chance.randrange(PROCEDURES - 10),
                    chance.randint(0, 1),
                    chance.randint(0, 1),
                    _NOW,
                    _NOW,
                )
                for _ in range(2)
            )
            for _ in texts
        ),
    )
