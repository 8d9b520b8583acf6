"""Selecting: choose the ranked candidates that fit a budget of tokens."""

from dataclasses import dataclass

from trackrecord.learning.text.language import Language, known_language

from .rank import Ranking, Scored
from .ratio_count import choose_by_ratio
from .text import render
from .tokenizer import Tokenizer, choose_by_tokenizer


@dataclass(frozen=True)
class Selection:
    """The result of selecting.

    Attributes:
        taken: the candidates that stand in the text, best first.
        left_out: those that did not fit, best first.
        text: the rendered text, "" when nothing was taken.
        tokens: what the whole text counts for, headings and separators included.
    """

    taken: tuple[Scored, ...]
    left_out: tuple[Scored, ...]
    text: str
    tokens: int


def select(
    ranking: Ranking,
    budget: int | None,
    *,
    lang: Language = "en",
    tokenizer: Tokenizer | None = None,
) -> Selection:
    """Walk the ranked candidates and take what still fits, going on after what does not.

    Pure. Equality fits; a budget of 0 or less gives nothing, and None everything. The text counts
    for the tokens of its candidates and, as Markdown, of its headings and separators; with a
    tokenizer, for what that says of the whole text.

    Args:
        ranking: what `rank` gave.
        budget: tokens that the text may take.
        lang: of the headings, "en" or "zh".
        tokenizer: counts the tokens of a text, or gives them as a list.
    """
    if budget is not None and budget <= 0:
        return Selection((), ranking.entries, "", 0)
    lang = known_language(lang)
    if tokenizer is None:
        ratio = ranking.rules.markdown_ratio
        taken, left_out, tokens = choose_by_ratio(ranking.entries, budget, lang, ratio)
    else:
        taken, left_out, tokens = choose_by_tokenizer(ranking.entries, budget, lang, tokenizer)
    text = render(taken, lang)
    return Selection(tuple(taken), tuple(left_out), text, tokens)
