"""Words: compare tool names, triggers and task texts without a language model."""

import re
from collections.abc import Iterable
from functools import lru_cache
from math import sqrt
from operator import add

from .width import one_width

_WORD = re.compile(r"[^\W_]+")
# Han, kana and Hangul are written without spaces between words.
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
# goBuild → go Build, HTTPServer → HTTP Server
_HUMP = re.compile(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")


# Triggers are compared with every task; there are a few thousand of them at the most.
_PHRASES_REMEMBERED = 4096


def words_of(text: str) -> frozenset[str]:
    """Return the distinct words of a text, case folded.

    snake_case and camelCase are split; Chinese, Japanese and Korean runs become their
    bigrams, which find most words of two characters without a dictionary.
    """
    if text.isascii():  # the same result in half the time
        return frozenset(_WORD.findall(_HUMP.sub(r" \g<0>", text).lower()))
    words: set[str] = set()
    text = one_width(text)
    for run in _CJK.findall(text):
        words.update(_bigrams(run))
    for word in _WORD.findall(_CJK.sub(" ", text)):
        words.update(_HUMP.sub(r" \g<0>", word).casefold().split())
    return frozenset(words)


def _bigrams(run: str) -> Iterable[str]:
    if len(run) == 1:
        return (run,)
    return map(add, run, run[1:])


def similarity(task: str, phrases: Iterable[str]) -> float | None:
    """Return how well a task's text fits its best phrase, from 0 (nothing) to 1 (the same words).

    The measure is `overlap`. None when there is nothing to compare: the text or all the phrases
    have no words.
    """
    wanted = _words_remembered(task)
    if not wanted:
        return None
    scores = [overlap(wanted, words) for phrase in phrases if (words := _words_remembered(phrase))]
    return max(scores, default=None)


_words_remembered = lru_cache(maxsize=_PHRASES_REMEMBERED)(words_of)


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Return |A∩B|/√(|A|·|B|) of two sets, neither of which is empty (Ochiai 1957)."""
    # Most texts share no word with a task, and a prompt is compared with hundreds.
    return 0.0 if a.isdisjoint(b) else len(a & b) / sqrt(len(a) * len(b))
