"""Comparing a new memory with a similar one: the same fact, a contradiction, or another fact.

Similar wording alone decides neither. "The port is 5432" and "The port is 5433" share nearly every
trigram and contradict each other; "Run make test before a commit" and "Run make lint before a
commit" share nearly all, and both are true. So the words are compared, in their order:

- the same: the same words, numbers, symbols and negations in the same order, whatever the
  punctuation, the width of the letters, articles, and a plural's s;
- a contradiction: the same words with and without a negation, two things that change places around
  a negation, or another number or switch that the sentence states of its subject at its end;
- otherwise another fact. When in doubt both are kept: a fact that is kept beside a newer one costs
  a line, a fact of another customer that is pushed out is lost.
"""

import re
from collections.abc import Sequence
from enum import Enum, auto
from typing import Final

from ..text.width import one_width

# The similarity from which a new text can contradict an older memory, and that from which one of
# the same words is the same memory.
CONFLICT_FROM: Final = 0.5
SAME_FROM: Final = 0.85


class Likeness(Enum):
    """The relation of a new text to a stored one."""

    SAME = auto()
    CONTRADICTS = auto()
    OTHER = auto()


_CJK: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
# One character of Chinese, Japanese or Korean; a word, number, option, address, path or identifier;
# or a symbol, which is whatever is no punctuation.
_TOKEN: Final = re.compile(
    rf"[{_CJK}]|(?:(?<!\S)[-.~/$@#]+)?[^\W{_CJK}]+(?:[-./:@#][^\W{_CJK}]+)*"
    r"""|[^\w\s.,;:!?'"`*()\[\]{}/\-…—–·‘’“”。、「」『』《》]"""
)
# A negation with its verb: "cannot", "don't", "does not", "isn't".
_NOT: Final = re.compile(
    r"\bcan(?:['’]|no)t\b|\b(?:do|does|did) not\b|(?:\bdo|\bdoes|\bdid)?n['’]t\b"
)

_FILLERS_TEXT: Final = """
a an the always please just also really very now 的 了 请 总
"""
_NEGATIONS_TEXT: Final = """
not no never none without avoid stop 不 没 无 未 别 勿 禁 非
"""
# What such a word is followed by is stated of the subject, which is in front of it.
_VERBS_TEXT: Final = """
is are was were be has had have can may might must should will would needs need wants likes prefers
uses use owns pays lives works runs run means gets sends asked said expects requires accepts
supports returns fails belongs costs takes handles contains holds wrote reported listens listen
是 有 要 喜 需 必 应 用 在 叫 能 会
"""
# Of these a subject has one at a time, so that a name with another number takes its place.
_UNIQUE_TEXT: Final = """
is are was were uses use runs run listens listen needs need requires expects 是 用
"""
# An amount can stand behind these, as behind a verb.
_PREPOSITIONS_TEXT: Final = """
to at of by on in for within after about around than least most
"""
# A word behind one of these says who or which one is meant, wherever it stands.
_ENTITIES_TEXT: Final = """
customer client user account order ticket issue invoice case employee member reservation booking id
pr agent tenant patient student 户 单 号
"""
_FORBIDDEN: Final = frozenset({"forbidden", "disallowed", "prohibited"})
_SWITCHES: Final = frozenset({"on", "off", "true", "false", "yes", "enabled", "disabled"})
_FILLERS: Final = frozenset(_FILLERS_TEXT.split())
_NEGATIONS: Final = frozenset(_NEGATIONS_TEXT.split())
_VERBS: Final = frozenset(_VERBS_TEXT.split())
_UNIQUE: Final = frozenset(_UNIQUE_TEXT.split())
_BEFORE_AMOUNTS: Final = _VERBS | frozenset(_PREPOSITIONS_TEXT.split())
_ENTITIES: Final = frozenset(_ENTITIES_TEXT.split())
# As long a number, or a mixture of letters and digits like ORD-12 or a commit, is an identifier.
_IDENTIFIER: Final = re.compile(r"[0-9]{6,}|(?=.*[0-9])(?=.*[^\W\d_]).{4,}|.*[@#].*", re.DOTALL)
# A verb this near to a name with a number is the one that states it: "listens on port 5432".
_NEAR: Final = 3
_LONGEST_SWAPPED: Final = 3
_NEARLY_ALL: Final = 0.75
_SHORTEST_STEM: Final = 4


def compare(older: str, newer: str, similarity: float) -> Likeness:
    """Return how a new text relates to a stored one.

    Args:
        older: the stored text, without the prefix of a known pitfall.
        newer: the new text.
        similarity: the Jaccard index of their trigrams.
    """
    if similarity < CONFLICT_FROM:
        return Likeness.OTHER
    before, after = _tokens(older), _tokens(newer)
    if _agree(before, after) and (similarity >= SAME_FROM or before == after):
        return Likeness.SAME
    return Likeness.CONTRADICTS if _contradict(before, after) else Likeness.OTHER


def _tokens(text: str) -> list[str]:
    plain = _NOT.sub(_spelt_out, one_width(text).casefold())
    tokens: list[str] = []
    for token in _TOKEN.findall(plain):
        if token in _FORBIDDEN:
            tokens += ("not", "allowed")
        elif token not in _FILLERS:
            tokens.append(token)
    return tokens


def _spelt_out(found: re.Match[str]) -> str:
    return "can not" if found[0].startswith("can") else " not"


def _agree(before: Sequence[str], after: Sequence[str]) -> bool:
    return len(before) == len(after) and all(map(_is_variant, before, after))


def _agree_nearly(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether the words agree, but for one at the end of a text of several."""
    shared, longest = sorted((len(one), len(other)))
    is_most = longest - shared <= 1 and shared >= _NEARLY_ALL * longest
    return is_most and _agree(one[:shared], other[:shared])


def _is_variant(one: str, other: str) -> bool:
    """Return whether two words are the same but for a plural's s: "test" and "tests"."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    return (
        shorter.isascii()
        and shorter.isalpha()
        and len(shorter) >= _SHORTEST_STEM
        and longer in (f"{shorter}s", f"{shorter}es")
    )


def _contradict(before: list[str], after: list[str]) -> bool:
    said, denied = _without_negations(before), _without_negations(after)
    if (len(before) - len(said)) % 2 != (len(after) - len(denied)) % 2:
        return _agree_nearly(said, denied)
    return _change_places(before, after) or _states_another_value(before, after)


def _without_negations(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token not in _NEGATIONS]


def _change_places(before: list[str], after: list[str]) -> bool:
    """Return whether the words on both sides of a negation have changed places: "A, not B"."""
    if before == after:
        return False
    return any(
        after
        == [*before[: at - size], *before[at + 1 : end], token, *before[at - size : at], *rest]
        for at, token in enumerate(before)
        if token in _NEGATIONS
        for size in range(1, min(at, _LONGEST_SWAPPED) + 1)
        for end in (at + 1 + size,)
        for rest in (before[end:],)
    )


def _states_another_value(before: list[str], after: list[str]) -> bool:
    """Return whether the texts differ only in a value that they state of one subject.

    It stands at the end of both: a number, perhaps with a unit, or a switch. Another word may be
    as true as the first one.
    """
    at = next(
        (place for place, (one, two) in enumerate(zip(before, after, strict=False)) if one != two),
        0,
    )
    values = before[at:], after[at:]
    if not at or before[at - 1] in _ENTITIES or not _VERBS.intersection(before[:at]):
        return False
    if all(len(value) == 1 and value[0] in _SWITCHES for value in values):
        return before[at - 1] in _VERBS
    if not all(map(_is_amount, values)):
        return False
    if before[at - 1] in _BEFORE_AMOUNTS:
        return True
    # Not an amount but a name with a number, as in "uses port 5432".
    is_bare = all(len(value) == 1 for value in values)
    return is_bare and not _UNIQUE.isdisjoint(before[max(0, at - 1 - _NEAR) : at - 1])


def _is_amount(value: Sequence[str]) -> bool:
    """Return whether words are a number that identifies nothing, with one word as its unit."""
    return (
        1 <= len(value) <= 2
        and any(map(str.isdigit, value[0]))
        and not _IDENTIFIER.fullmatch(value[0])
        and _VERBS.isdisjoint(value)
    )
