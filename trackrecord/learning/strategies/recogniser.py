"""Recognising decomposition strategies in the prose of a plan, in English and in Chinese."""

from collections.abc import Iterable
from typing import Final

from ..text.language import Language
from ..text.slug import slug_of_words
from .catalogue import STRATEGIES, Strategy
from .identity import strategies_by_slug
from .negation import SENTENCE_ENDS, Mention, affirmed
from .phrases import as_phrase, is_chinese, phrasings, word_set
from .tokens import Tokeniser

# How much of a description is searched: far more than a plan has, far less than a body may have.
MAX_CHARS: Final = 65_536

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
        if heads.keys().isdisjoint(tokens):
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
