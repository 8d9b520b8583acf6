"""Memories and similar past tasks in what an agent gets: from the cache, within the budget."""

import time
from math import ceil

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.prompt_answers import answer_from
from trackrecord.learning.memories.rules import MemoryRules, MemoryType
from trackrecord.learning.memories.texts import memory_line
from trackrecord.prompt.documents.rankings_document import (
    RankedMemory,
    RankingsDocument,
    decode_document,
    encode_document,
)

LANGUAGES = ("en", "zh")


def memory(name, text, *, confidence=0.5, kind=MemoryType.MEMORY):
    lines = {
        each: memory_line(text, kind, confidence=confidence, language=each) for each in LANGUAGES
    }
    return RankedMemory(
        id=name, text=text, type=kind.value, source="a", confidence=confidence,
        effective_confidence=confidence, score=confidence, lines=lines,
    )  # fmt: skip


def answer(*, task=None, budget=2000, language="en", limit=None, **parts):
    document = RankingsDocument(project="p", revision=1, computed_at=time.time(), **parts)
    document = decode_document(encode_document(document))
    return answer_from(
        document, project="p", problem=None, task=task, budget=budget, limit=limit,
        language=language, now=time.time(), memory_rules=MemoryRules(),
    )  # fmt: skip


CACHE = memory("m1", "Clear the build cache first", confidence=0.9)
PITFALL = memory("m2", "KNOWN PITFALL: The login test hides errors", kind=MemoryType.ANTI_PATTERN)


def test_with_a_task():
    """What has words in common with it, and nothing else."""
    found = answer(task="the login test fails", memories=(CACHE, PITFALL))
    assert [each.id for each in found.told["memories"]] == ["m2"]
    assert found.told["memories"][0].score == pytest.approx(0.85)
    assert found.prompt == (
        "## Memories\n\n- an agent noted, known as a pitfall: "
        '"The login test hides errors" [confidence 0.5]'
    )
    assert found.left_out == 0


@given(st.lists(st.text(max_size=80), max_size=12), st.integers(0, 200), st.sampled_from(LANGUAGES))
def test_the_budget_holds(texts, budget, language):
    """Headings and separators included, whatever was written."""
    found = answer(
        task="x y z",
        budget=budget,
        language=language,
        memories=tuple(memory(f"m{n}", f"x {text}") for n, text in enumerate(texts)),
    )
    assert ceil(len(found.prompt) * 0.30) <= found.tokens <= budget
    assert found.left_out == len(texts) - len(found.told["memories"])


@given(st.text())
def test_what_agents_wrote_stays_data(text):
    """One line, whatever it holds."""
    for line in (
        memory_line(text, MemoryType.MEMORY, confidence=0.5),
        memory_line(text, MemoryType.ANTI_PATTERN, confidence=0.5),
    ):
        assert len(line.splitlines()) == 1
        assert "```" not in line


def test_a_document_of_the_version_before():
    """Without memories, it is read all the same."""
    old = {"project": "p", "revision": 1, "computed_at": 2.0, "patterns": []}
    document = decode_document(msgspec.json.encode(old))
    assert document.memories == ()
