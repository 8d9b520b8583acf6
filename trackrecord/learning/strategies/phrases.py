"""The notation of phrasings, and how it is read.

A phrase is a row of slots parted by spaces. A slot is a word, `a|b` is either, and a slot that
ends in `?` may be missing: `write|writing tests? first`. English phrases are matched word by word,
in any letter case, over articles and the like that stand between; Chinese ones, which have no words
to part, character by character with their slots side by side.
"""

import re
from collections.abc import Iterator
from itertools import product
from math import prod

from ..numbers.checks import require

# A phrase that stands for more than this many is a mistake.
MAX_EXPANSIONS = 20_000

_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_CJK = re.compile(r"[\u3400-\u9fff]")
_JOINT = re.compile(r"(?<=[\u3400-\u9fff])(?=[a-z0-9])|(?<=[a-z0-9])(?=[\u3400-\u9fff])")


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is separated by spaces."""
    return frozenset(text.split())


def slots_of(phrase: str) -> list[tuple[str, ...]]:
    """Return the alternatives of each slot, in lower case; "" among them if it may be missing."""
    slots = []
    for slot in phrase.lower().split():
        words = tuple(word for word in slot.removesuffix("?").split("|") if word)
        slots.append((*words, "") if slot.endswith("?") else words)
    return slots


def require_phrase(name: str, phrase: str) -> None:
    """Require a phrase to have at least one phrasing, and not too many."""
    slots = slots_of(phrase)
    require(any("" not in slot for slot in slots), f"{name} must not hold an empty phrase")
    require(
        all(is_chinese(word) or _WORD.search(word) for slot in slots for word in slot if word),
        f"{name} must hold phrases of Latin or Chinese words",
    )
    require(
        prod(len(slot) for slot in slots) <= MAX_EXPANSIONS,
        f"{name} must not hold a phrase that stands for more than {MAX_EXPANSIONS}",
    )


def is_chinese(phrase: str) -> bool:
    """Return whether a phrase is matched by characters."""
    return _CJK.search(phrase) is not None


def as_phrase(name: str) -> str:
    """Return a phrase that matches a name alone."""
    plain = re.sub(r"[|?]", " ", name.lower())
    return "".join(plain.split()) if is_chinese(plain) else " ".join(_WORD.findall(plain))


def phrasings(phrase: str) -> Iterator[tuple[str, ...]]:
    """Yield every sequence of words that an English phrase matches."""
    for words in product(*slots_of(phrase)):
        row = tuple(_WORD.findall(" ".join(words)))
        if row:
            yield row


def patterns_zh(phrase: str) -> Iterator[tuple[str, str]]:
    """Yield the regular expressions of a Chinese phrase, each as its first character and the rest.

    A space may stand between the parts of a phrase, and beside its Latin letters.
    """
    slots = slots_of(phrase)
    for index, slot in enumerate(slots):
        rest = "".join(f" ?{_alternatives(later)}" for later in slots[index + 1 :])
        for word in sorted(filter(None, slot), key=len, reverse=True):
            yield re.escape(word[0]), _spaceable(word)[len(re.escape(word[0])) :] + rest
        if "" not in slot:
            return


def _alternatives(slot: tuple[str, ...]) -> str:
    words = sorted(filter(None, slot), key=len, reverse=True)
    return f"(?:{'|'.join(map(_spaceable, words))}){'?' if '' in slot else ''}"


def _spaceable(word: str) -> str:
    return " ?".join(map(re.escape, _JOINT.split(word)))
