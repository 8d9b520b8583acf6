"""Negation: whether a text rejects the strategy that it mentions.

A negating word holds for the mentions that follow it, up to the border of its clause. Borders are
ends of sentences, words such as "but", and commas, except where an enumeration goes on ("avoid
splitting by layer, or by component"). A mention can also be taken back right behind it ("split by
layer is not an option").
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from .phrases import word_set

_CONTRACTED = word_set(
    "do does did is are was were has have had ca could wo would should must need"
)
_CONTRACTIONS: Final = frozenset(stem + end for stem in _CONTRACTED for end in ("n't", "nt"))
# Chinese words that reject what went before; in front of a mention they negate as well.
_RETRACTIONS_ZH: Final = word_set(
    "不可取 不可行 不合适 不适合 不推荐 不建议 不好 不行 不是 "
    "不能 不应 不被 应避免 应该避免 应当避免 要避免 需避免 "
    "需要避免 被禁止 被拒绝 被放弃"
)
NEGATING: Final = (
    word_set(
        "not no never avoid avoids avoided avoiding without cannot nor neither against unlike "
        "refrain refrains refraining stop ignore ignores ignoring skip skips skipping "
        "regardless reject rejects rejected rejecting 不 别 勿 莫 避免 而非 并非 "
        "绝非 无需 无须 毋须 没有 没 未 禁止 拒绝 放弃 停止 反对 取消 "
        "与其 杜绝 防止"
    )
    | _RETRACTIONS_ZH
    | _CONTRACTIONS
)
# These negate only with the word behind them; "instead" alone begins what is done instead.
_NEGATING_PAIRS: Final = {"instead": "of", "rather": "than", "opposed": "to"}
# "Not only split by feature but …" says yes.
_NOT_NEGATING_BEFORE: Final = frozenset(("only", "just", "merely", "simply"))
# As "not", but answering or conditional: "no, split by feature", "if not, split by feature".
_ANSWERS: Final = frozenset(("no",))

SENTENCE_ENDS: Final = frozenset((".", "。", "．", "｡", ";", "；", "!", "！", "?", "？", "…"))
_TURNS: Final = word_set("but however yet though although whereas 但 而 不过 改 反而 不如 宁可")
_COMMAS: Final = frozenset((",", "，", "—", "–", "-"))
_GOING_ON: Final = frozenset(("or", "nor", "and"))

# Words that look like a negation but are not; the tokeniser takes them as a whole.
_HARMLESS_ZH: Final = word_set(
    "不得不 不同 不仅 不但 不只 不光 不单 不断 不错 不管 不论 "
    "不妨 不久 不可避免 不变 不少 不止 分别 特别 区别 类别 级别 "
    "个别 识别 辨别 性别 差别 别的 别人 未来 没问题 而且"
)
WORDS_ZH: Final = tuple(word for word in (*NEGATING, *_TURNS, *_HARMLESS_ZH) if not word.isascii())

_AUXILIARIES: Final = word_set(
    "is are was were be been being will would should shall must can could may might has "
    "have had do does did needs to"
)
_RETRACTING: Final = word_set(
    "not never avoided rejected discouraged forbidden prohibited abandoned"
)

# What can begin to take a mention back, right behind it.
_TAKING_BACK: Final = _AUXILIARIES | _RETRACTIONS_ZH | _CONTRACTIONS | {"cannot"}

# A negation this many tokens back is about something else.
_REACH: Final = 12
# "Should have been avoided": the most words in front of the one that takes a mention back.
_AUXILIARIES_AT_MOST: Final = 3

_NOTABLE: Final = NEGATING | frozenset(_NEGATING_PAIRS) | SENTENCE_ENDS | _TURNS | _COMMAS
# A text without any of these negates nothing.
_SIGNS: Final = NEGATING | frozenset(_NEGATING_PAIRS) | _RETRACTING


class Mention(NamedTuple):
    """A strategy, mentioned by the tokens from `start` to before `end`."""

    start: int
    end: int
    number: int


def affirmed(tokens: Sequence[str], mentions: Sequence[Mention]) -> list[Mention]:
    """Return the mentions that are not negated, in the order of the text.

    The last token stands behind every mention.
    """
    if not mentions:
        return []
    if _SIGNS.isdisjoint(tokens[: mentions[-1].start]):
        return [mention for mention in mentions if not _is_taken_back(tokens, mention.end)]
    notable = [place for place, token in enumerate(tokens) if token in _NOTABLE]
    negation = _Negation(tokens)
    kept = []
    passed = 0
    for mention in mentions:
        while passed < len(notable) and notable[passed] < mention.start:
            negation.pass_over(notable[passed])
            passed += 1
        if not negation.covers(mention):
            kept.append(mention)
    return kept


class _Negation:
    """Walk along a text's tokens and track whether a negation is in force.

    The caller passes the notable tokens in their order and checks each mention; every step takes
    constant time.
    """

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens
        self._until = -1
        self._since = -1
        self._parenthesis = False

    def pass_over(self, index: int) -> None:
        """Process the notable token at this index."""
        token = self._tokens[index]
        if token in _COMMAS:
            self._pass_comma(index)
        elif token in SENTENCE_ENDS:
            self._until = -1
        elif self._is_negating(token, index):
            self._until = index + _REACH
            self._since = index
            self._parenthesis = False
        elif token in _TURNS or token in _NEGATING_PAIRS:
            self._until = -1

    def covers(self, mention: Mention) -> bool:
        """Return whether a mention is negated, from in front or from behind."""
        if mention.start <= self._until:
            # In "avoid a or b or c" the last is as far away as the list is long.
            self._until = mention.end + _REACH
            self._parenthesis = False
            return True
        return _is_taken_back(self._tokens, mention.end)

    def _is_negating(self, token: str, index: int) -> bool:
        following = self._token(index + 1)
        if token in _NEGATING_PAIRS:
            return following == _NEGATING_PAIRS[token]
        if following in _NOT_NEGATING_BEFORE:
            return False
        if following in _COMMAS and (token in _ANSWERS or self._token(index - 1) == "if"):
            return False
        return token in NEGATING

    def _pass_comma(self, index: int) -> None:
        if index > self._until:
            return
        if index == self._since + 1:  # "never, ever": what is negated is still to come
            self._parenthesis = True
        elif self._parenthesis:
            self._parenthesis = False
        elif not self._goes_on(index + 1):
            self._until = -1

    def _goes_on(self, index: int) -> bool:
        following = self._token(index)
        if following == "and":
            return self._token(index + 1).endswith("ing")
        return following in _GOING_ON or following.endswith("ing")

    def _token(self, index: int) -> str:
        return self._tokens[index] if 0 <= index < len(self._tokens) else ""


def _is_taken_back(tokens: Sequence[str], end: int) -> bool:
    if tokens[end] not in _TAKING_BACK:
        return False
    if tokens[end] not in _AUXILIARIES:
        return True
    for after in range(end + 1, min(end + _AUXILIARIES_AT_MOST + 1, len(tokens) - 1)):
        if tokens[after] not in _AUXILIARIES:
            return tokens[after] in _RETRACTING and tokens[after + 1] not in _NOT_NEGATING_BEFORE
    return False
