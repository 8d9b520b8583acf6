"""Whatever a text is made of, the time it takes grows with its length and no faster."""

import json
from collections.abc import Callable
from contextlib import suppress

import pytest

from tests.support.growth import grows_by_at_most, repeated
from trackrecord.errors import InvalidOutcome
from trackrecord.inflight.classification import classify, classify_failure, classify_text
from trackrecord.inflight.errors import TaskError, TaskInFlight
from trackrecord.inflight.retry_text import retry_text
from trackrecord.inflight.rules import ErrorRules
from trackrecord.learning.advice.runs.runs import Run
from trackrecord.learning.advice.tasks.kinds import find_kinds
from trackrecord.learning.competences.episodes.signatures import tools_of
from trackrecord.learning.memories.comparison import compare
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.patterns.texts import PatternWording, pattern_line, warning
from trackrecord.learning.strategies.catalogue import as_phrase
from trackrecord.learning.text.inert import one_line
from trackrecord.learning.text.slug import slug_of_words
from trackrecord.learning.text.words import words_of
from trackrecord.wire.outcome import decode_outcome


def decoded(text: str) -> None:
    body = json.dumps({"task_id": "t", "success": True, "description": text}).encode()
    with suppress(InvalidOutcome):
        decode_outcome(body, max_bytes=10**9)


def told(text: str) -> None:
    error = TaskError("1", "unknown", text, 0.0, text, text, text)
    retry_text(TaskInFlight((error,), 3), ErrorRules())


def kinds_of(text: str) -> None:
    runs = [
        Run(
            outcome=number,
            task_id="t",
            ended_at=0.0,
            success=True,
            instruction=f"{text} {number}",
            trigger=text if number < 3 else "",
        )
        for number in range(6)
    ]
    find_kinds(runs)


WORK: dict[str, Callable[[str], object]] = {
    "as_data": one_line,
    "as_phrase": as_phrase,
    "classify": lambda text: classify(RuntimeError(text)),
    "classify_failure": classify_failure,
    "classify_text": classify_text,
    "compare": lambda text: compare(text, f"not {text}", 1.0),
    "decode_outcome": decoded,
    "find_kinds": kinds_of,
    "pattern_line": lambda text: pattern_line(
        PatternWording(text, Maturity.PROVEN, Evidence(9, 0, 0, 9.0, 0.0))
    ),
    "retry_text": told,
    "slug_of_words": slug_of_words,
    "tools_of": tools_of,
    "warning": lambda text: warning(
        PatternWording(text, Maturity.DEPRECATED, Evidence(2, 0, 5, 2.0, 5.0, succeeded=2))
    ),
    "words_of": words_of,
}
PIECES = [
    "a", "aB", "A", "1", "_", " ", "\n", "\t\r\n", "\\", "\\u0000", "\\ud800", "\0", "\ud800",
    "-", "- ", "=-", "# ", "> ", "1. ", "~~~", "`", "``` ", "<", "<a", "[", "[ proven",
    "** (resolved)", "**", "avoid:", "avoid : ", "avoid", "避免：", "避免 ", "一", "一a",
    "ＡＢ", "é", "e\u0301", "\u0301\u0327", "\u200b", "\u202e", "\u2800", "\ufdfa", "İ", "ß",
    "context ", "time-", "blocked ", "上下文", "?", "|",
]  # fmt: skip


@pytest.mark.linear_time
@pytest.mark.parametrize("name", WORK)
def test_time_grows_with_the_text_and_no_faster(name):
    """Eight times the text takes about eight times as long; squared growth would take 64."""
    for piece in PIECES:
        short, long = (repeated(piece, length) + "x" for length in (4 * 1024, 32 * 1024))
        assert grows_by_at_most(8, WORK[name], short=short, long=long), piece
