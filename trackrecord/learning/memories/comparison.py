"""Comparing a new memory with a similar one: the same fact, a contradiction, or another fact.

Similar wording alone decides neither. "The port is 5432" and "The port is 5433" share nearly every
trigram and contradict each other; "Customer 4711 prefers email" and "Customer 4712 prefers email"
share nearly all and have nothing to do with each other. So the words are compared, in their order:

- the same: the same words, numbers and negations in the same order, whatever the punctuation, the
  width of the letters, articles, and endings such as a plural's s;
- a contradiction: the same words with and without a negation, the same words in another order, or
  one place at which something else is stated (a value that the sentence ends in, not its subject);
- otherwise another fact. When in doubt both are kept: a fact that is kept beside a newer one costs
  a line, a fact of another customer that is pushed out is lost.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from enum import Enum, auto
from typing import Final

from ..text.width import one_width
from .rules import MemoryRules


class Likeness(Enum):
    """The relation of a new text to a stored one."""

    SAME = auto()
    CONTRADICTS = auto()
    OTHER = auto()


_CJK: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
# One character of Chinese, Japanese or Korean, or a word, number, address, path or identifier.
_TOKEN: Final = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+(?:[-./:@#][^\W{_CJK}]+)*")
_CONTRACTED: Final = re.compile(r"n['’]t\b")

_FILLERS_TEXT: Final = """
a an the always please just also really very 的 了 请 总
"""
_NEGATIONS_TEXT: Final = """
not no never none without cannot avoid stop forbidden disallowed prohibited 不 没 无 未 别 勿 禁 非
"""
# A difference in front of one of these stands in the subject: it is about something else.
_VERBS_TEXT: Final = """
is are was were be has have had can may might must should will would needs need wants likes prefers
uses use owns pays lives works runs means gets sends asked said expects requires accepts supports
returns fails belongs costs takes handles contains holds wrote reported
是 有 要 喜 需 必 应 用 在 叫 能 会
"""
# A word behind one of these says who or which one is meant, wherever it stands.
_ENTITIES_TEXT: Final = """
customer client user account order ticket issue invoice case employee member reservation booking id
pr agent tenant patient student 户 单 号
"""
_FILLERS: Final = frozenset(_FILLERS_TEXT.split())
_NEGATIONS: Final = frozenset(_NEGATIONS_TEXT.split())
_VERBS: Final = frozenset(_VERBS_TEXT.split())
_ENTITIES: Final = frozenset(_ENTITIES_TEXT.split())
# As long a number, or a mixture of letters and digits like ORD-12 or a commit, is an identifier.
_IDENTIFIER: Final = re.compile(r"[0-9]{6,}|(?=.*[0-9])(?=.*[^\W\d_]).{4,}|.*[@#].*", re.DOTALL)
_MOST_REPLACED: Final = 3
_NEARLY_ALL: Final = 0.75
_SHORTEST_STEM: Final = 4
_LONGEST_ENDING: Final = 2


def compare(rules: MemoryRules, older: str, newer: str, similarity: float) -> Likeness:
    """Return how a new text relates to a stored one.

    Args:
        rules: the similarities from which texts can be the same or contradict each other.
        older: the stored text, without the prefix of a known pitfall.
        newer: the new text.
        similarity: the Jaccard index of their trigrams.
    """
    if similarity < rules.conflict_from:
        return Likeness.OTHER
    before, after = _tokens(older), _tokens(newer)
    if _agree(before, after) and (similarity >= rules.same_from or before == after):
        return Likeness.SAME
    return Likeness.CONTRADICTS if _contradict(before, after) else Likeness.OTHER


def _tokens(text: str) -> list[str]:
    plain = one_width(text).casefold()
    found = _TOKEN.findall(_CONTRACTED.sub(" not", plain))
    return [token for token in found if token not in _FILLERS]


def _agree(before: Sequence[str], after: Sequence[str]) -> bool:
    return len(before) == len(after) and all(map(_is_variant, before, after))


def _is_variant(one: str, other: str) -> bool:
    """Return whether two words differ only in their ending: "test" and "tests"."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    return (
        shorter not in _NEGATIONS
        and longer not in _NEGATIONS
        and shorter.isascii()
        and shorter.isalpha()
        and longer.isalpha()
        and len(shorter) >= _SHORTEST_STEM
        and len(longer) - len(shorter) <= _LONGEST_ENDING
        and longer.startswith(shorter)
    )


def _contradict(before: list[str], after: list[str]) -> bool:
    said, denied = _without_negations(before), _without_negations(after)
    if (len(before) - len(said)) % 2 != (len(after) - len(denied)) % 2:
        return _is_about_the_same(said, denied)
    if sorted(before) == sorted(after):
        return before != after
    return _states_another_value(before, after)


def _without_negations(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token not in _NEGATIONS]


def _is_about_the_same(one: list[str], other: list[str]) -> bool:
    if _with_digits(one) != _with_digits(other):
        return False
    shared = sum(block.size for block in _matcher(one, other).get_matching_blocks())
    return shared >= _NEARLY_ALL * max(len(one), len(other), 1)


def _with_digits(tokens: Sequence[str]) -> list[str]:
    return sorted(token for token in tokens if any(map(str.isdigit, token)))


def _states_another_value(before: list[str], after: list[str]) -> bool:
    """Return whether the texts differ in one place only, in the value that the sentence states."""
    changes = [each for each in _matcher(before, after).get_opcodes() if each[0] != "equal"]
    if len(changes) != 1:
        return False
    kind, start, end, new_start, new_end = changes[0]
    if kind != "replace" or max(end - start, new_end - new_start) > _MOST_REPLACED:
        return False
    replaced = (*before[start:end], *after[new_start:new_end])
    return (
        start > 0
        and before[start - 1] not in _ENTITIES
        and not any(map(_IDENTIFIER.fullmatch, replaced))
        and not _VERBS.intersection(before[end:])
    )


def _matcher(one: Sequence[str], other: Sequence[str]) -> "SequenceMatcher[str]":
    return SequenceMatcher(None, one, other, autojunk=False)
