"""The prompt engine: an agent's own candidates and what is learnt, ranked together, in one text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.text.language import Language

from .candidates.candidate import LEARNT_KINDS, Candidate
from .candidates.rank import Ranking, Scored, in_order, score_all
from .candidates.rules import ContextRules
from .candidates.select import Selection, select
from .candidates.tokenizer import Tokenizer
from .document import RankingsDocument
from .handed import Handing
from .learnt import LearntEntries, learnt_of

_AS_THEY_ARE: Final = Handing()


@dataclass(frozen=True)
class Composition:
    """A prompt's text, and what became of all that competed for it.

    Attributes:
        selection: the text, what stands in it, and what did not fit.
        ranking: what was ranked, best first; the agent's own that were too many.
        learnt: what of the rankings competed.
        replaced: what is learnt and was not ranked, because the agent handed in its own.
    """

    selection: Selection
    ranking: Ranking
    learnt: LearntEntries
    replaced: tuple[Scored, ...] = ()


def compose(
    document: RankingsDocument | None,
    own: Sequence[Candidate],
    rules: ContextRules,
    *,
    task: str | None,
    most: int | None,
    budget: int | None,
    language: Language,
    tokenizer: Tokenizer | None = None,
    memory_rules: MemoryRules,
    handing: Handing = _AS_THEY_ARE,
) -> Composition:
    """Rank both together, and write what fits.

    Args:
        document: the project's rankings; None when there are none.
        own: the agent's candidates; of more than `max_candidates` the first so many are ranked.
        rules: what is ranked and counted by.
        task: the text of the task at hand, if any.
        most: how many of each kind of what is learnt compete; None for all.
        budget: in tokens, None for no limit.
        language: of headings and of what is learnt.
        tokenizer: the caller's own.
        memory_rules: how memories are ranked for a task.
        handing: what is tried on the task, and what is withdrawn.
    """
    learnt = LearntEntries()
    if document is not None:
        learnt = learnt_of(
            document,
            rules,
            task=task,
            most=most,
            language=language,
            memory_rules=memory_rules,
            handing=handing,
        )
    most_own = rules.max_candidates if rules.enabled else len(own)
    ours = own[:most_own]
    competing, replaced = _apart(learnt.entries, ours)
    entries = in_order([*score_all(ours, rules), *competing], rules)
    ranking = Ranking(entries, tuple(own[most_own:]), rules)
    selection = select(ranking, budget, lang=language, tokenizer=tokenizer)
    return Composition(selection, ranking, learnt, tuple(replaced))


def _apart(learnt: list[Scored], ours: Sequence[Candidate]) -> tuple[list[Scored], list[Scored]]:
    """What is learnt and competes, and what the agent's own candidates replace."""
    handed_in = {(each.kind, each.id) for each in ours if each.kind in LEARNT_KINDS}
    if not handed_in:
        return learnt, []
    competing: list[Scored] = []
    replaced: list[Scored] = []
    for entry in learnt:
        is_replaced = (entry.candidate.kind, entry.candidate.id) in handed_in
        (replaced if is_replaced else competing).append(entry)
    return competing, replaced
