"""The sections of a prompt's text, one row each.

A new section is a row here with its headings, and a module of the texts of its entries. A learnt
one also has

- a name in `question/rules`, which is its field in the answer (`answers/rankings_answer`),
  from which the shape of its entries over HTTP follows;
- its entries, made ready by the worker: a list of the cached rankings
  (`documents/rankings_document`, worded by `presentation`, filled by
  `prompt_documents/prompt_document` of the resources), or of the advice that is counted from the
  runs (`documents/advice_document`, filled by `prompt_documents/advice`);
- a function in `choosing/section_entries` that says which of them have to do with a task;
- a prefix in `learning/advice/entry_ids`, unless its entries have one id everywhere; the kinds of
  `reports/runs` are those prefixes, and the page's `views` link to what they name.

Everything that treats sections goes by this table: which entries of the rankings compete and under
which heading they stand, which setting weighs them, which fields an answer has, and the order of
the text.

The texts of single entries are elsewhere: an agent's process reads those ready from the cache, and
need not import what writes them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from trackrecord.learning.advice import entry_ids
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.text.language import Language, both

from ..choosing.inputs import PromptInputs
from ..choosing.offer import SectionOffers
from ..choosing.pattern_entries import patterns_for, warnings_for
from ..choosing.section_entries import (
    competences_for,
    failing_for,
    lessons_for,
    memories_for,
    procedures_for,
)

Kind = Literal[
    "phase", "task", "decision", "evidence", "agent_context",
    "pattern", "anti_pattern", "competence", "memory",
]  # fmt: skip

_LINES: Final = "\n"
_BLOCKS: Final = "\n\n"


@dataclass(frozen=True)
class Feed:
    """A field of learnt entries that competes for a prompt; people know it by the field's name.

    Attributes:
        field: its name, in the cached document and in an answer alike.
        weight: the rule that the scores of its entries are multiplied by.
        share: the share of the budget that its lines do not exceed while others need it.
        offers: gives its entries for a task, or for none.
        is_of_advice: whether its entries come from the advice, and not from the rankings.
        at_most: how many of its entries compete, whatever the limit; None for as many as that says.
    """

    field: str
    weight: str
    share: float
    offers: Callable[[PromptInputs], SectionOffers]
    is_of_advice: bool = False
    at_most: int | None = None


@dataclass(frozen=True)
class Section:
    """A part of the text.

    Attributes:
        name: what a candidate names it by; the section named like a kind is that kind's own.
        kind: the kind of the candidates in it.
        headings: what stands above its candidates, by language.
        between: what stands between two of them.
        feed: where its learnt entries come from; None when only agents bring candidates.
        state: of the feed's entries, only those in this state; None for all.
        is_last: whether its candidates are taken after those of all other sections, whatever their
            score, so that they never push one out; nor do they ever exceed their share.
        prefix: in front of its learnt entries' ids, which may be anything, among other ids.
        record_headings: what stands above them in a record of the past; None for the same.
    """

    name: str
    kind: Kind
    headings: dict[Language, str]
    between: str = _LINES
    feed: Feed | None = None
    state: str | None = None
    is_last: bool = False
    prefix: str = ""
    record_headings: dict[Language, str] | None = None


def _of_patterns(state: Maturity, feed: Feed | None, english: str, chinese: str) -> Section:
    headings = both(english, chinese)
    return Section(state.value, "pattern", headings, feed=feed, state=state.value)


_PATTERNS: Final = Feed("patterns", "pattern_weight", 0.25, patterns_for)

# What is learnt changes least and stands first, so that a prompt cache keeps it; the task last.
_ROWS: Final = (
    # A lesson is a warning of another kind, told apart by its id and its section.
    Section(
        "lesson",
        "anti_pattern",
        both("## Lessons From Tool Calls", "## 工具调用的经验"),
        feed=Feed("lessons", "anti_pattern_weight", 0.3, lessons_for, is_of_advice=True),
        prefix=entry_ids.LESSON,
    ),
    Section(
        "anti_pattern",
        "anti_pattern",
        both(
            "## Anti-Patterns to Avoid\n\nBased on past failures, avoid these strategies:",
            "## 要避免的反模式\n\n基于过去失败,避免这些策略:",
        ),
        feed=Feed("anti_patterns", "anti_pattern_weight", 0.25, warnings_for),
        record_headings=both(
            "## Strategies That Failed\n\nTasks with these strategies mostly failed:",
            "## 失败过的策略\n\n采用这些策略的任务大多失败:",
        ),
    ),
    Section(
        "failing_procedure",
        "anti_pattern",
        both("## Tool Procedures That Never Succeeded", "## 从未成功的工具流程"),
        feed=Feed("failing", "anti_pattern_weight", 0.15, failing_for, at_most=3),
        prefix=entry_ids.FAILING,
    ),
    # Nothing that is learnt has this section; a candidate of an agent's own may name it.
    _of_patterns(Maturity.DEPRECATED, None, "## Deprecated Patterns", "## 已弃用的模式"),
    _of_patterns(Maturity.PROVEN, _PATTERNS, "## Proven Patterns", "## 已验证的模式"),
    _of_patterns(Maturity.ESTABLISHED, _PATTERNS, "## Established Patterns", "## 已确立的模式"),
    _of_patterns(Maturity.CANDIDATE, _PATTERNS, "## Candidate Patterns", "## 候选模式"),
    # Deprecated by its own counts, and recommended or tried all the same: as such tasks go.
    Section(
        "pattern",
        "pattern",
        both("## Patterns", "## 模式"),
        feed=_PATTERNS,
        state=Maturity.DEPRECATED.value,
    ),
    Section(
        "procedure",
        "competence",
        both("## What Worked in Similar Tasks", "## 类似任务中有效的做法"),
        feed=Feed("procedures", "competence_weight", 0.25, procedures_for, is_of_advice=True),
        prefix=entry_ids.PROCEDURE,
    ),
    Section(
        "competence",
        "competence",
        both("## Tool Procedures and How Often They Worked", "## 工具流程及其成功率"),
        feed=Feed("competences", "competence_weight", 0.25, competences_for),
    ),
    Section(
        "memory",
        "memory",
        both("## Memories", "## 记忆"),
        feed=Feed("memories", "memory_weight", 0.3, memories_for),
        prefix=entry_ids.MEMORY,
    ),
    # A memory of another kind, of an agent's own.
    Section(
        "past_task",
        "memory",
        both("## Similar Past Tasks and How They Ended", "## 类似的过往任务及其结果"),
        _BLOCKS,
        is_last=True,
    ),
    Section("phase", "phase", both("## Phase", "## 阶段"), _BLOCKS),
    Section("decision", "decision", both("## Decisions", "## 决定"), _BLOCKS),
    # What went wrong in the task before: evidence of another kind.
    Section(
        "previous_error",
        "evidence",
        both("## Previous Errors of This Task", "## 此任务先前的错误"),
    ),
    Section("evidence", "evidence", both("## Evidence", "## 证据"), _BLOCKS),
    Section("agent_context", "agent_context", both("## Context", "## 上下文"), _BLOCKS),
    Section("task", "task", both("## Tasks", "## 任务"), _BLOCKS),
)

SECTIONS: Final = {row.name: row for row in _ROWS}
# Where an agent's own candidates stand when ranking is off: one after the other, as they were
# handed in. No candidate names it.
AS_HANDED_IN: Final = Section("", "agent_context", both("", ""), _BLOCKS)
# By kind of what is learnt, the rule that weighs it.
WEIGHTS: Final[dict[str, str]] = {row.kind: row.feed.weight for row in _ROWS if row.feed}
# The sections whose candidates are taken last, by name.
LAST: Final = frozenset(row.name for row in _ROWS if row.is_last)
# Every feed, with its sections by the state of the entries that stand in them.
FEEDS: Final[dict[Feed, dict[str | None, Section]]] = {
    feed: {row.state: row for row in _ROWS if row.feed is feed}
    for feed in dict.fromkeys(row.feed for row in _ROWS)
    if feed is not None
}
