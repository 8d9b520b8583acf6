"""The prompt engine: what competes for a prompt, ranked and chosen within a budget; no I/O."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from trackrecord.learning.text.language import Language

from ..candidates.candidate import LEARNT_KINDS, Candidate
from ..candidates.rank import Ranking, Scored, in_order, score_all, score_own
from ..candidates.sections import SECTIONS, Section
from ..candidates.select import Selection, Tokenizer, select
from ..candidates.text import characters_before, render, section_of
from ..choosing.inputs import PromptInputs
from ..choosing.procedure_choice import ProcedureChoice, choice_of
from ..question.question import PromptQuestion
from ..question.rules import ContextRules
from ..question.wording import AS_ADVICE, Wording
from .learnt_entries import LearntEntries, learnt_of

if TYPE_CHECKING:
    # Who asks for rankings alone does without.
    from .own_task import TaskCandidate


@dataclass(frozen=True)
class Shared:
    """Entries in the order in which they are tried.

    Attributes:
        entries: those within their section's share first, each best first.
        over: those that are not tried at all: beyond a share that is never exceeded, or beyond
            what all learnt entries may take.
    """

    entries: tuple[Scored, ...]
    over: tuple[Scored, ...] = ()


class _Shares:
    """The tokens that sections have taken so far."""

    def __init__(self, budget: int, language: Language, ratio: float) -> None:
        self._budget = budget
        self._language = language
        self._ratio = ratio
        self._taken: dict[str, float] = {}
        self._opened: set[str] = set()

    def has_room(
        self, name: str, share: float, section: Section, tokens: int, *, first: bool = False
    ) -> bool:
        """Add an entry if it fits its share; return whether it did.

        Args:
            name: whose share.
            share: of the budget.
            section: where the entry stands.
            tokens: what it counts for.
            first: whether the first entry is counted in whatever it takes.
        """
        outline = characters_before(section, self._language, self._opened)
        taken = self._taken.get(name, 0.0) + tokens + outline * self._ratio
        if taken > share * self._budget and not (first and name not in self._taken):
            return False
        self._taken[name] = taken
        self._opened.add(section.name)
        return True


def by_shares(
    entries: Sequence[Scored],
    shares: Mapping[int, tuple[str, float]],
    budget: int | None,
    *,
    language: Language,
    ratio: float,
) -> Shared:
    """Put what exceeds its section's share behind the others, so that only room left is used.

    The best entry of a section is within its share, however small the budget is. History comes
    last, and never exceeds its share.

    Args:
        entries: best first.
        shares: by the identity of the candidate, whose share each entry takes, and how large that
            is; entries without one stay where they are.
        budget: tokens that shares are taken of; None for no shares.
        language: of the headings.
        ratio: tokens per character of headings and separators.
    """
    if budget is None or budget <= 0:
        return Shared(tuple(entries))
    room = _Shares(budget, language, ratio)
    within: list[Scored] = []
    beyond: list[Scored] = []
    history: list[Scored] = []
    over: list[Scored] = []
    for entry in entries:
        own = shares.get(id(entry.candidate))
        section = section_of(entry)
        if own is None:
            within.append(entry)
            continue
        has_room = room.has_room(*own, section, entry.tokens, first=not section.is_last)
        if section.is_last:
            (history if has_room else over).append(entry)
        else:
            (within if has_room else beyond).append(entry)
    return Shared((*within, *beyond, *history), tuple(over))


def capped(
    shared: Shared, learnt: Collection[int], most: int, *, language: Language, ratio: float
) -> Shared:
    """Leave out entries beyond the budget of all learnt entries together.

    Args:
        shared: the entries in the order in which they are tried.
        learnt: the identities of the candidates of learnt entries.
        most: tokens that all learnt entries may take together.
        language: of the headings.
        ratio: tokens per character of headings and separators.
    """
    room = _Shares(most, language, ratio)
    kept: list[Scored] = []
    over = list(shared.over)
    for entry in shared.entries:
        is_learnt = id(entry.candidate) in learnt
        section = section_of(entry)
        if is_learnt and not room.has_room("learnt", 1.0, section, entry.tokens):
            over.append(entry)
        else:
            kept.append(entry)
    return Shared(tuple(kept), tuple(over))


@dataclass(frozen=True)
class Composition:
    """A prompt's text, with the entries taken and left out.

    Attributes:
        selection: the text, what stands in it, and what did not fit, best first.
        ranking: what was ranked, best first; the agent's own that were too many.
        learnt: what of the rankings competed.
        replaced: what is learnt and was not ranked, because the agent handed in its own.
        over_share: those of what did not fit that the share of their section had no room for.
    """

    selection: Selection
    ranking: Ranking
    learnt: LearntEntries
    replaced: tuple[Scored, ...] = ()
    over_share: frozenset[int] = frozenset()

    @cached_property
    def choice(self) -> ProcedureChoice:
        """Return how sure the choice of a procedure is."""
        known = self.learnt.known
        if known is None:
            return ProcedureChoice()
        return choice_of(known, self.learnt.offered.get("competences"))

    @cached_property
    def taken_entries(self) -> dict[str, tuple[Any, ...]]:
        """Return the rankings' entries in the text by field, best first."""
        return self.learnt.taken(each.candidate for each in self.selection.taken)

    @cached_property
    def taken_names(self) -> tuple[str, ...]:
        """Return the ids of the entries in the text, best first."""
        return names_of(self.selection.taken)

    @cached_property
    def left_out_names(self) -> tuple[str, ...]:
        """Return the ids of the entries that did not fit, best first."""
        return names_of(self.selection.left_out)

    def written(self, wording: Wording, language: Language) -> str:
        """Return the text in another wording; its entries stay the same."""
        if wording == AS_ADVICE:
            return self.selection.text
        learnt = {
            id(each.scored.candidate): each.offer.entry
            for found in self.learnt.by_field.values()
            for each in found
        }
        names = {} if self.learnt.known is None else self.learnt.known.own_tool_names
        entries = []
        for taken in self.selection.taken:
            candidate = taken.candidate
            entry = learnt.get(id(candidate))
            text = wording.reworded(entry, candidate.text, language, names)
            if text not in wording.said and not wording.is_told(entry):
                candidate = msgspec.structs.replace(candidate, text=text)
                entries.append(msgspec.structs.replace(taken, candidate=candidate))
        return render(entries, language, is_record=wording.is_record)


def names_of(entries: Iterable[Scored]) -> tuple[str, ...]:
    """Return the ids of candidates among those of all kinds."""
    candidates = [entry.candidate for entry in entries]
    # The id of one that stands in another section than its kind's bears the prefix already. A
    # thousand of them are named for each prompt, so this is one expression.
    return tuple(
        [each.id if each.section else SECTIONS[each.kind].prefix + each.id for each in candidates]
    )


def compose(
    question: PromptQuestion,
    known: PromptInputs | None,
    rules: ContextRules,
    *,
    most: int | None,
    most_learnt: int | None = None,
    own: Sequence[Candidate] = (),
    of_task: "Sequence[TaskCandidate]" = (),
    tokenizer: Tokenizer | None = None,
) -> Composition:
    """Rank learnt entries and the agent's own together, and write those that fit.

    Args:
        question: what is asked for.
        known: what is known of the project; None when nothing that is learnt competes.
        rules: what is ranked and counted by.
        most: how many of each kind of what is learnt compete; None for all.
        most_learnt: tokens that all that is learnt may take together; None for the whole budget.
        own: the agent's candidates; of more than `max_candidates` the first so many are ranked.
        of_task: what is on record of the task itself.
        tokenizer: the caller's own.
    """
    budget, language = question.budget, question.language
    learnt = LearntEntries() if known is None else learnt_of(known, most=most)
    most_own = rules.max_candidates if rules.enabled else len(own)
    ours = own[:most_own]
    competing, replaced = _apart(learnt.entries, ours)
    tasks_own = score_all([each.candidate for each in of_task], rules)
    entries = in_order([*score_own(ours, rules), *tasks_own, *competing], rules)
    ranking = Ranking(entries, tuple(own[most_own:]), rules)
    shared = _shared(ranking, learnt, of_task, budget, most_learnt, language)
    tried = replace(ranking, entries=shared.entries)
    selection = select(tried, budget, lang=language, tokenizer=tokenizer)
    return Composition(
        _in_rank(selection, ranking, shared.over),
        ranking,
        learnt,
        tuple(replaced),
        frozenset(id(each.candidate) for each in shared.over),
    )


def _shared(
    ranking: Ranking,
    learnt: LearntEntries,
    of_task: "Sequence[TaskCandidate]",
    budget: int | None,
    most_learnt: int | None,
    language: Language,
) -> Shared:
    if budget is None or not ranking.rules.enabled:
        return Shared(ranking.entries)
    of_feeds: dict[int, tuple[str, float]] = {
        id(each.scored.candidate): (each.feed.field, each.feed.share)
        for found in learnt.by_field.values()
        for each in found
    }
    ratio = ranking.rules.markdown_ratio
    room = budget if most_learnt is None else min(budget, most_learnt)
    shares = of_feeds | {id(each.candidate): each.share.of(budget, room) for each in of_task}
    shared = by_shares(ranking.entries, shares, room, language=language, ratio=ratio)
    if room == budget:
        return shared
    return capped(shared, of_feeds, room, language=language, ratio=ratio)


def _in_rank(selection: Selection, ranking: Ranking, over: Sequence[Scored]) -> Selection:
    """Return the selection with both lists in the order of the ranking."""
    if not ranking.rules.enabled:
        return selection
    left_out = in_order((*selection.left_out, *over), ranking.rules)
    return replace(selection, taken=in_order(selection.taken, ranking.rules), left_out=left_out)


def _apart(learnt: list[Scored], ours: Sequence[Candidate]) -> tuple[list[Scored], list[Scored]]:
    """Split the entries: learnt ones that compete, and those replaced by the agent's candidates."""
    handed_in = {(each.kind, each.id) for each in ours if each.kind in LEARNT_KINDS}
    if not handed_in:
        return learnt, []
    competing: list[Scored] = []
    replaced: list[Scored] = []
    for entry in learnt:
        is_replaced = (entry.candidate.kind, entry.candidate.id) in handed_in
        (replaced if is_replaced else competing).append(entry)
    return competing, replaced
