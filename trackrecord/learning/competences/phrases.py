"""Phrases: the words of a record that a task's text is compared with.

A record answers to its triggers and to its instructions, which are its recipe: the names of the
tools, in order. Each trigger is a phrase, the recipe is one more. A task fits a record as well as
it fits the best of these phrases, by the measure of `words.similarity`.
"""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

from ..text.words import similarity, words_of
from .record import Competence

# A record's phrases are numbered in seven bits.
MAX_PHRASES = 127

_EMBEDDED_CHARS = 8_000


def instructions_of(tools: Iterable[str]) -> str:
    """Return a recipe as a phrase: its tools in order, without repeats."""
    return " ".join(dict.fromkeys(tools))


def phrases_of(signals: Iterable[str], tools: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct phrases of these triggers and this recipe, in a fixed order."""
    phrases = {*signals, instructions_of(tools)}
    return tuple(sorted(phrases)[:MAX_PHRASES])


def phrases_of_record(record: Competence) -> tuple[str, ...]:
    """Return the phrases of a record."""
    signals = (trigger.signal for trigger in record.triggers)
    return phrases_of(signals, (step.tool for step in record.recipe))


def fit(record: Competence, task: str | None) -> float | None:
    """Return how well a task's text fits a record, 0..1; None when they cannot be compared."""
    return similarity(task, phrases_of_record(record)) if task else None


@lru_cache(maxsize=65_536)
def number_of(word: str) -> int:
    """Return a 63-bit number for a word in an index."""
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest()) >> 1


def word_numbers(text: str) -> frozenset[int]:
    """Return the distinct words of a text as numbers."""
    return frozenset(map(number_of, words_of(text)))


def text_of(record: Competence) -> str:
    """Return the text that a record is embedded by: its triggers, then its recipe."""
    signals = (trigger.signal for trigger in record.triggers)
    return embedded_text(signals, record.signature, (step.tool for step in record.recipe))


def embedded_text(signals: Iterable[str], signature: str, tools: Iterable[str]) -> str:
    """Return the text that a record of these triggers and this recipe is embedded by."""
    own = [signal for signal in signals if signal != signature]
    return "\n".join([*own, " > ".join(tools)])[:_EMBEDDED_CHARS]
