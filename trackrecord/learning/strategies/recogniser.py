"""Recognising decomposition strategies in the prose of a plan, in English and in Chinese.

Negation: whether a text rejects the strategy that it mentions.

A negating word holds for the mentions that follow it, up to the border of its clause. Borders are
ends of sentences, words such as "but", and commas, except where an enumeration goes on ("avoid
splitting by layer, or by component"). A mention can also be taken back right behind it ("split by
layer is not an option").
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from ..text.language import Language
from ..text.lazy_regex import compile_lazily
from ..text.slug import slug_of_words
from .catalogue import (
    MAX_CHARS,
    STRATEGIES,
    Strategy,
    as_phrase,
    is_chinese,
    patterns_zh,
    phrasings,
    strategies_by_slug,
    word_set,
)

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


# An empty line, or the next item of a list.
_BREAK: Final = re.compile(r"\n(?=[ \t]{0,8}(?:\n|[-*+•]\s|[0-9]{1,3}[.)]\s))")
# The map of ASCII: letters become lower case, apostrophes and the marks that are tokens stay
# as they are, all else becomes a space.
_ASCII_WORDS: Final = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() or chr(code) in "',;!?" else ord(" ")
    for code in range(128)
) + bytes(128)

_WORD = r"[a-z0-9]+(?:'[a-z]+)?"
_MARKS = r"[;!?。．｡；！？…—–]|\.(?=\s|$|[\u3400-\u9fff])|(?<=\s)--?(?=\s)"
# The characters that a word or a mark begins with.
_HEADS = r"a-z0-9,;!?。．｡；！？…—–.\-，"
# A Chinese comma ends a clause, but not where the enumeration goes on.
_COMMA = r"[,，](?!\s?(?:或|以及|及|和))"

# Han, and full-width forms.
_WIDE: Final = re.compile(r"[\u3001-\u9fff\uff00-\uffef]")
_TYPOGRAPHY: Final = (
    *(("’", "'"), ("—", " - "), ("–", " - "), ("…", " ; ")),
    *((mark, " ") for mark in "“”‘•\u00a0"),
)
_FULL_WIDTH: Final = re.compile(r"[０-９Ａ-Ｚａ-ｚ]")
_TO_HALF_WIDTH: Final = {
    code: code - 0xFEE0
    for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
}

_SPELLINGS_REMEMBERED: Final = 5_000


class Tokeniser:
    """Split texts into tokens, in time proportional to their length.

    Chinese does not separate words by spaces, so the phrases to look for are given.

    Args:
        phrases_zh: for each token, the Chinese phrases that become it.
    """

    def __init__(self, phrases_zh: Mapping[str, Sequence[str]]) -> None:
        self._token_of: Final = _TokenOf(phrases_zh)
        by_head: dict[str, list[str]] = {}
        # Longer words first: 不得不 is not a 不.
        for phrase in (*chain(*phrases_zh.values()), *sorted(WORDS_ZH, key=len, reverse=True)):
            for head, rest in patterns_zh(phrase):
                by_head.setdefault(head, []).append(rest)
        # One branch for each first character, and a look ahead in front of them all: most
        # characters begin nothing, and are skipped by one test.
        heads = "".join(by_head)
        chinese = "|".join(f"{head}(?:{'|'.join(rests)})" for head, rests in by_head.items())
        self._mixed: Final = compile_lazily(
            f"(?=[{heads}{_HEADS}])(?:(?=[{heads}])(?:{chinese})|{_WORD}|{_MARKS}|{_COMMA})"
        )

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text in their order, in lower case."""
        if "\n" in text:
            text = _BREAK.sub(" ; ", text).replace("\n", " ")
        if text.isascii():
            return _ascii_tokens(text)
        if _WIDE.search(text) is None:
            return _ascii_tokens(_in_ascii(text))
        return self._mixed_tokens(text.lower())

    def _mixed_tokens(self, text: str) -> list[str]:
        if _FULL_WIDTH.search(text):
            text = text.translate(_TO_HALF_WIDTH)
        text = text.replace("’", "'").replace("e.g. ", " ").replace("i.e. ", " ")
        token_of = self._token_of
        return [token_of[found] for found in self._mixed.findall(text)]


class _TokenOf(dict[str, str]):
    """Map a match in a text to its token: a mark, a particle, a phrase or a word."""

    def __init__(self, phrases_zh: Mapping[str, Sequence[str]]) -> None:
        super().__init__({word: word for word in (*WORDS_ZH, *",，;；.。．!！?？…—–")})
        self._tokens: Final = tuple(phrases_zh)
        groups = (f"({'|'.join(map(_pattern, phrases))})" for phrases in phrases_zh.values())
        self._phrase: Final = compile_lazily("|".join(groups))

    def __missing__(self, found: str) -> str:
        if not is_chinese(found):
            return found
        phrase = self._phrase.fullmatch(found)
        lastindex = None if phrase is None else phrase.lastindex
        token = found if lastindex is None else self._tokens[lastindex - 1]
        # There are more spellings than are worth the memory; people use a few of them.
        if len(self) < _SPELLINGS_REMEMBERED:
            self[found] = token
        return token


def _pattern(phrase: str) -> str:
    return "|".join(head + rest for head, rest in patterns_zh(phrase))


def _in_ascii(text: str) -> str:
    for mark, plain in _TYPOGRAPHY:
        text = text.replace(mark, plain)
    # Other letters become words that match nothing.
    return text.encode("ascii", "backslashreplace").decode()


def _ascii_tokens(text: str) -> list[str]:
    """Split ASCII as the regular expression would, in a third of the time.

    Most descriptions are ASCII. Marks are separated by spaces, and the rest is two passes in C.
    """
    text = f" {text} ".replace("e.g. ", " ").replace("i.e. ", " ").replace(",", " , ")
    # The full stop of a sentence, not the one in a file's name.
    text = text.replace(". ", " ; ")
    for mark in ";!?":
        if mark in text:
            text = text.replace(mark, f" {mark} ")
    if "- " in text:
        text = text.replace(" - ", " , ").replace(" -- ", " , ")
    text = text.encode().translate(_ASCII_WORDS).decode()
    if "'" in text:
        text = text.replace(" '", " ").replace("' ", " ")
    return text.split()


_SPLITTING: Final = word_set(
    "split splits splitting divide divides divided dividing division partition partitions "
    "partitioned partitioning group groups grouped grouping break breaks breaking broken "
    "breakdown decompose decomposes decomposed decomposing decomposition slice slices "
    "sliced slicing separate separates separated separating separation organize organizes "
    "organized organizing organise organises organised organising"
)
# "Split the whole of the work by component": the most words between the verb and "by".
_VERB_WITHIN: Final = 7
_SPLIT_BY: Final = "by|per|along {}"
_BASED: Final = "{} based split|splitting|decomposition|breakdown|partitioning|grouping|division"
_SPLIT_BY_ZH: Final = (
    "按|按照|依照|根据|依据|基于|以 不同? {} 来|进行|去? 拆分|分割|划分|分解|切分|拆解|分组|拆"
)

# Skipped between the words of a phrase.
_FILLERS: Final = word_set(
    "sub the a an their its our your this that these those all each every any are is be being "
    "will must should to get gets go goes live stay stays kept put written done right"
)
_MAX_FILLERS: Final = 4

# "Run the tests with code coverage" is not a strategy; the longest phrase wins.
_DECOYS: Final = ("test|tests|testing with code|source coverage|review|changes",)
_NOTHING: Final = -1


class _Node:
    """A node in the tree of words: the next words, and the strategy that may end here."""

    __slots__ = ("branches", "meaning")

    def __init__(self) -> None:
        self.branches: dict[str, _Node] = {}
        self.meaning: tuple[int, bool] | None = None  # the strategy, and whether it needs a verb


class Recogniser:
    """Find strategies in descriptions, and by their names.

    Building one takes some ten milliseconds; it is then used for every outcome, and safe to share.

    Args:
        extra: a project's own strategies; they are returned after the twelve.
        max_chars: number of characters of a description that are searched.
    """

    def __init__(self, extra: Iterable[Strategy] = (), *, max_chars: int = MAX_CHARS) -> None:
        self.strategies: Final = (*STRATEGIES, *extra)
        self._max_chars = max_chars
        self._by_slug = strategies_by_slug(self.strategies)
        self._tree: dict[str, _Node] = {}
        # The longest word of each phrase: texts without any, most by far, mention nothing.
        self._rarest: set[str] = set()
        self._phrases_zh: dict[str, list[str]] = {}
        for phrase in _DECOYS:
            self._add(phrase, _NOTHING)
        for number, strategy in enumerate(self.strategies):
            self._add_strategy(number, strategy)
        # The words of which one must follow a phrase's first word, to skip most words by one test;
        # None where the word is a phrase by itself.
        self._heads: Final = {
            first: None if node.meaning else node.branches.keys() | _FILLERS
            for first, node in self._tree.items()
        }
        self._tokens = Tokeniser(self._phrases_zh)

    def recognise(self, description: str) -> tuple[Strategy, ...]:
        """Return the distinct strategies that a description mentions, in the catalogue's order.

        A negated mention does not count; a later mention that is not negated does. Takes time in
        proportion to the description's length.
        """
        tokens = self._tokens(description[: self._max_chars])
        heads = self._heads
        if self._rarest.isdisjoint(tokens):
            return ()
        places = [place for place, token in enumerate(tokens) if token in heads]
        tokens.append("")  # the last one has something behind it as well
        mentions = [
            mention
            for place in places
            if (followers := heads[tokens[place]]) is None or tokens[place + 1] in followers
            if (mention := self._mention(tokens, place)) is not None
        ]
        found = {mention.number for mention in affirmed(tokens, mentions)}
        return tuple(self.strategies[number] for number in sorted(found) if number != _NOTHING)

    def slug_of(self, name: str) -> str | None:
        """Return the slug of a pattern's name, None when it holds neither a letter nor a digit.

        The names of a strategy lead to one slug in either language.
        """
        slug = slug_of_words(name)
        if slug is None:
            return None
        known = self._by_slug.get(slug)
        return known.slug if known else slug

    def name_of(self, slug: str, content: str, language: Language) -> str:
        """Return a pattern's name in a language: its content unless it is in the catalogue."""
        known = self._by_slug.get(slug)
        return known.name(language) if known else content

    def _mention(self, tokens: list[str], place: int) -> Mention | None:
        """Return the mention by the longest phrase that begins at this place."""
        node = self._tree[tokens[place]]
        meaning, end = node.meaning, place + 1
        skipped = 0
        for index in range(place + 1, len(tokens)):
            token = tokens[index]
            following = node.branches.get(token)
            if following is not None:
                node = following
                if node.meaning is not None:
                    meaning, end = node.meaning, index + 1
            elif token in _FILLERS and skipped < _MAX_FILLERS:
                skipped += 1
            else:
                break
        if meaning is None:
            return None
        number, needs_verb = meaning
        if needs_verb and not _is_split(tokens, place):
            return None
        return Mention(place, end, number)

    def _add_strategy(self, number: int, strategy: Strategy) -> None:
        for phrase in (*map(as_phrase, strategy.names), *strategy.phrases):
            self._add(phrase, number)
        for phrase in strategy.splits_by:
            if is_chinese(phrase):
                self._add(_SPLIT_BY_ZH.format(phrase), number)
            else:
                self._add(_SPLIT_BY.format(phrase), number, needs_verb=True)
                self._add(_BASED.format(phrase), number)

    def _add(self, phrase: str, number: int, *, needs_verb: bool = False) -> None:
        if is_chinese(phrase):
            token = f"={number}"  # no word of any text
            self._phrases_zh.setdefault(token, []).append(phrase)
            rows: Iterable[tuple[str, ...]] = [(token,)]
        else:
            rows = phrasings(phrase)
        for first, *rest in rows:
            self._rarest.add(max((first, *rest), key=len))
            node = _grown(self._tree, first)
            for word in rest:
                node = _grown(node.branches, word)
            if node.meaning is None:
                node.meaning = (number, needs_verb)


def _grown(branches: dict[str, _Node], word: str) -> _Node:
    """Return the next node for a word; create it if needed."""
    node = branches.get(word)
    if node is None:
        node = branches[word] = _Node()
    return node


def _is_split(tokens: list[str], place: int) -> bool:
    """Return whether a verb of splitting comes shortly before this place, in the same sentence."""
    for index in range(place - 1, max(-1, place - 1 - _VERB_WITHIN), -1):
        if tokens[index] in _SPLITTING:
            return True
        if tokens[index] in SENTENCE_ENDS:
            return False
    return False
