"""The reasons why a line is in a prompt or not, in English and in Chinese."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from trackrecord.learning.text.language import Language, both

from ..candidates.sections import FEEDS, Feed
from ..choosing.inputs import PromptInputs
from ..choosing.offer import Basis, SectionOffers
from ..documents.advice_document import LessonEntry
from .compose import Composition, names_of
from .learnt_entries import (
    MADE_FOR_TASKS,
    Competing,
    section_for,
    signature_of_entry,
    tools_of_entry,
)

# What an entry's relevance follows from.
BASES: Final[dict[Language, dict[Basis, str]]] = {
    "en": {
        "project": "holds for the project as a whole",
        "words": "the task's own words name what it is about",
        "tools": "such tasks use its tools with a probability of {:.0%}",
        "kinds": "seen in tasks of this kind, relevance {:.0%}",
        "text": "its text fits the task, similarity {:.0%}",
        "meaning": "its meaning fits the task, similarity {:.0%}",
        "votes": "{:.0%} of the votes of similar tasks that succeeded",
    },
    "zh": {
        "project": "适用于整个项目",
        "words": "任务文字提到了它所说的内容",
        "tools": "此类任务使用其工具的概率为{:.0%}",
        "kinds": "见于此类任务,相关度{:.0%}",
        "text": "文字与任务相符,相似度{:.0%}",
        "meaning": "含义与任务相符,相似度{:.0%}",
        "votes": "在成功的类似任务中得票{:.0%}",
    },
}
SECTION_USED: Final = both("; section {} of {} tokens", ";本节占{}/{}个词元")
# Where a section takes room that no other needs.
SECTION_EXCEEDED: Final = both(
    "; section {} tokens, {} beyond its share, which no other section needs",
    ";本节占{}个词元,超出份额{}个,其他各节不需要",
)
OVER_SHARE: Final = both("; no room in its section's share of {:.0%}", ";本节{:.0%}的份额已满")
OVER_BUDGET: Final = both("; no room in the budget of {} tokens", ";{}个词元的预算已满")
EXCLUDED: Final = both("excluded", "已排除")
REFUTED: Final = both(
    "such tasks otherwise do as well or better, or it may be chance",
    "此类任务不用它也一样好或更好,或可能只是偶然",
)
NO_TOOL: Final = both(
    "the agent that asks has not got its tools, as far as its runs show",
    "从运行记录看,提问的代理没有其工具",
)
# Of procedures that fail.
MAY_BE_CHANCE: Final = both(
    "such tasks fail at times anyway, and so few failures may be chance",
    "此类任务本来就有失败,这么少的失败可能只是偶然",
)
UNRELATED: Final = both("not about this task", "与此任务无关")
OF_ANOTHER: Final = both(
    "it is about a tool of another coding agent's own, and only that agent met it",
    "它涉及另一编程代理自己的工具,且只有该代理遇到过",
)
# Of lessons about tools that fail at times.
NEEDS_NAMING: Final = both(
    "nothing is known that helps, or it is rare; it is told to tasks that name it",
    "尚无已知的解决办法,或很少发生;只告知提到它的任务",
)
BEYOND_LIMIT: Final = both("beyond the limit of its section", "超出本节的数量上限")


_MOST_OTHERS: Final = 10
# The field of procedures that fail.
_WARNING: Final = "failing"


class Why(msgspec.Struct, frozen=True, gc=False):
    """Why one entry is handed out, or is not.

    Attributes:
        id: its id among those of all sections.
        section: its section, as `include` and `exclude` name it.
        is_in: whether it stands in the text.
        reason: why, in one line.
        relevance: how much it has to do with the task, 0..1; 1 without a task.
        score: what it was ranked by; None if it was not ranked.
        tokens: what it counts for; None if it was not counted.
        text: its line, or what it says.
    """

    id: str
    section: str
    is_in: bool
    reason: str
    relevance: float
    score: float | None = None
    tokens: int | None = None
    text: str = ""


def why_of(composed: Composition, budget: int | None) -> tuple[Why, ...]:
    """Return why each line is in a text, then why the best ten others are not.

    Args:
        composed: a prompt's text, without candidates of an agent's own.
        budget: the budget that it was composed for.
    """
    competing = {
        id(each.scored.candidate): each
        for found in composed.learnt.by_field.values()
        for each in found
    }
    selection = composed.selection
    language = "en" if composed.learnt.known is None else composed.learnt.known.language
    used: dict[str, int] = {}
    taken = [competing[id(each.candidate)] for each in selection.taken]
    left_out = [competing[id(each.candidate)] for each in selection.left_out[:_MOST_OTHERS]]
    for each in taken:
        used[each.feed.field] = used.get(each.feed.field, 0) + each.scored.tokens
    inside = [_told(each, _why_in(each, used, budget, language)) for each in taken]
    outside = [
        _told(each, _why_not(each, composed, budget, language), is_in=False) for each in left_out
    ]
    more = islice(_others(composed, set(map(_entry_key, competing.values()))), _MOST_OTHERS)
    return (*inside, *sorted((*outside, *more), key=_by_score)[:_MOST_OTHERS])


def _by_score(why: Why) -> tuple[float, str]:
    return (-(why.score or 0.0), why.id)


def _entry_key(competing: Competing) -> tuple[str, str]:
    return competing.feed.field, competing.offer.entry.id


def _told(competing: Competing, reason: str, *, is_in: bool = True) -> Why:
    scored = competing.scored
    return Why(
        names_of([scored])[0],
        competing.feed.field,
        is_in,
        reason,
        competing.offer.relevance,
        scored.score,
        scored.tokens,
        scored.candidate.text.removeprefix("- "),
    )


def _why_in(
    competing: Competing, used: dict[str, int], budget: int | None, language: Language
) -> str:
    reason = _basis(competing, language)
    if budget is None or budget <= 0:
        return reason
    feed = competing.feed
    taken, share = used[feed.field], int(feed.share * budget)
    if taken > share:
        return reason + SECTION_EXCEEDED[language].format(taken, taken - share)
    return reason + SECTION_USED[language].format(taken, share)


def _why_not(
    competing: Competing, composed: Composition, budget: int | None, language: Language
) -> str:
    reason = _basis(competing, language)
    if id(competing.scored.candidate) in composed.over_share:
        return reason + OVER_SHARE[language].format(competing.feed.share)
    return reason + OVER_BUDGET[language].format(budget)


def _basis(competing: Competing, language: Language) -> str:
    return BASES[language][competing.offer.basis].format(competing.offer.relevance)


def _others(composed: Composition, competing: set[tuple[str, str]]) -> Iterator[Why]:
    """Yield the best of each section that did not compete, with the reason."""
    known = composed.learnt.known
    if known is None:
        return
    entries = (each.offer.entry for found in composed.learnt.by_field.values() for each in found)
    # What is said of a procedure in one section is not denied in another.
    told = {signature_of_entry(entry) for entry in entries} - {""}
    for feed in FEEDS:
        offered = composed.learnt.offered.get(feed.field)
        related = {each.entry.id for each in offered.offers} if offered and known.task else set()
        pool: Any = offered.pool if offered is not None else _pool_of(known, feed)
        left = (
            each
            for each in pool
            if (feed.field, each.id) not in competing and signature_of_entry(each) not in told
        )
        for entry in islice(left, _MOST_OTHERS):
            why = _other(composed, feed, offered, entry, is_related=entry.id in related)
            if why is not None:
                yield why


def _pool_of(known: PromptInputs, feed: Feed) -> Sequence[Any]:
    """Return the entries of an excluded section; none if they are made for a task."""
    if feed.field in MADE_FOR_TASKS:
        return ()
    document = known.advice if feed.is_of_advice else known.document
    entries: Sequence[Any] = getattr(document, feed.field, ())
    return entries


def _other(
    composed: Composition,
    feed: Feed,
    offered: SectionOffers | None,
    entry: Any,  # noqa: ANN401 - of any feed
    *,
    is_related: bool,
) -> Why | None:
    known = composed.learnt.known
    section = section_for(feed, entry)
    line = entry.lines.get(known.language) if known is not None else None
    if known is None or section is None or not line:
        return None
    if offered is None:
        reason = EXCLUDED[known.language]
    elif known.foreign_tools and not known.can_use(tools_of_entry(entry)):
        reason = NO_TOOL[known.language]
    elif known.is_of_another_client(entry):
        reason = OF_ANOTHER[known.language]
    elif entry.id in offered.refuted:
        reason = (MAY_BE_CHANCE if feed.field == _WARNING else REFUTED)[known.language]
    elif isinstance(entry, LessonEntry) and entry.needs_naming and not is_related:
        reason = NEEDS_NAMING[known.language]
    elif known.task and not is_related:
        reason = UNRELATED[known.language]
    else:
        reason = BEYOND_LIMIT[known.language]
    relevance = 0.0 if known.task else 1.0
    return Why(
        section.prefix + entry.id, feed.field, False, reason, relevance, entry.score, None,
        line.removeprefix("- "),
    )  # fmt: skip
