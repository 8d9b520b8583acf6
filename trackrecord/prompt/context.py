"""The one call that a prompt needs: an agent's own candidates and what is learnt, in one text."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from trackrecord.errors import SettingsError
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.text.language import Language, known_language
from trackrecord.wire.outcome import DEFAULT_PROJECT

from .candidates import partial_rules
from .candidates.candidate import Candidate
from .candidates.partial_rules import DEFAULT_RULES, rules_from
from .candidates.rank import Scored
from .candidates.read import Given, read_candidates
from .candidates.rules import ContextRules
from .candidates.tokenizer import Tokenizer
from .client import DEFAULT_BUDGET, process_reader
from .compose import Composition, compose
from .document import RankingsDocument

Reason = Literal["budget", "max_candidates", "replaced"]


class Considered(msgspec.Struct, frozen=True, gc=False):
    """What became of one candidate.

    Attributes:
        id: its id.
        kind: its kind.
        rank: its place in the ranking, 1 for the best; None when it was not ranked.
        is_learnt: whether it came from the rankings, and not from the agent.
        score: what it was ranked by; None when it was not ranked.
        tokens: what it counts for, its heading apart; None when it was not counted.
        reason: why it was left out, None when it was taken. `budget`: it did not fit.
            `max_candidates`: the agent handed in more than are ranked. `replaced`: the agent
            handed in one of the same kind and id.
    """

    id: str
    kind: str
    rank: int | None
    is_learnt: bool
    score: float | None = None
    tokens: int | None = None
    reason: Reason | None = None


@dataclass(frozen=True)
class Context:
    """What stands in the prompt, and what does not.

    Attributes:
        project: whose experience took part.
        prompt: the text, "" when there is nothing to say.
        tokens: what the text counts for.
        budget: what it was allowed; None for no limit.
        taken: the candidates that stand in the text, best first; past tasks last.
        left_out: those that do not, with the reason; those that did not fit first, best first.
        not_competing: how many entries of the rankings were not among the best of their kind.
        age_s: seconds since the rankings were computed, None when there are none.
        is_stale: whether these are the rankings that this process saw last, and not the newest.
        problem: why the rankings are missing or stale, None when all is well.
    """

    project: str
    prompt: str
    tokens: int
    budget: int | None
    taken: tuple[Considered, ...] = ()
    left_out: tuple[Considered, ...] = ()
    not_competing: int = 0
    age_s: float | None = None
    is_stale: bool = False
    problem: str | None = None


def context(
    project: str | None = None,
    task: str | None = None,
    candidates: Iterable[Given] = (),
    budget: int | None = DEFAULT_BUDGET,
    *,
    lang: Language = "en",
    tokenizer: Tokenizer | None = None,
    config: partial_rules.Given = None,
) -> Context:
    """Rank an agent's own candidates and what the fleet has learnt, and write what fits.

    What goes wrong behind it never raises: the agent's own candidates are ranked all the same, see
    `Context.problem` and `Context.is_stale`. What the caller hands in wrongly does.

    Args:
        project: whose experience; the settings' project when not given.
        task: the text of the task at hand: competences and memories are ranked by how well they fit
            it, and similar past tasks compete, too.
        candidates: the agent's own; objects, or mappings as JSON has them.
        budget: tokens that the text may take; None for no limit.
        lang: language of the headings and of what is learnt, "en" or "zh".
        tokenizer: counts the tokens of a text, or gives them as a list; without one they are
            estimated by characters.
        config: rules that differ from those of the settings.

    Raises:
        InvalidCandidate: a candidate is none, or two have one id; the message names it.
        SettingsError: the config has no such rule, or not such a value; the message names it.
    """
    own = read_candidates(candidates)
    document, name, problem = None, project or DEFAULT_PROJECT, None
    usual, memory_rules = DEFAULT_RULES, MemoryRules()
    try:
        reader = process_reader()
    except SettingsError as error:
        problem = str(error)
    else:
        usual, memory_rules = reader.settings.context, reader.settings.memories
        name = project or reader.settings.project
    rules = rules_from(config, usual)
    if problem is None:
        document, problem = reader.document(name)
    return context_from(
        document,
        own,
        rules,
        project=name,
        problem=problem,
        task=task,
        budget=budget,
        language=known_language(lang),
        tokenizer=tokenizer,
        memory_rules=memory_rules,
        now=time.time(),
    )


def context_from(
    document: RankingsDocument | None,
    own: Sequence[Candidate],
    rules: ContextRules,
    *,
    project: str,
    problem: str | None,
    task: str | None,
    budget: int | None,
    language: Language,
    tokenizer: Tokenizer | None = None,
    memory_rules: MemoryRules = MemoryRules(),  # noqa: B008 - frozen
    now: float,
) -> Context:
    """Rank both together, and write what fits.

    Args:
        document: the project's rankings; None when there are none.
        own: the agent's candidates; of more than `max_candidates` the first so many are ranked.
        rules: what is ranked by.
        project: its name.
        problem: what kept the caller from a fresh document.
        task: the text of the task at hand, if any.
        budget: in tokens, None for no limit.
        language: of headings and of what is learnt.
        tokenizer: the caller's own.
        memory_rules: how memories are ranked for a task.
        now: seconds since the epoch.
    """
    composed = compose(
        document,
        own,
        rules,
        task=task,
        most=rules.max_learnt,
        budget=budget,
        language=language,
        tokenizer=tokenizer,
        memory_rules=memory_rules,
    )
    selection, tell = composed.selection, _Teller(composed, own)
    return Context(
        project=project,
        prompt=selection.text,
        tokens=selection.tokens,
        budget=budget,
        taken=tuple(tell.of(each, None) for each in selection.taken),
        left_out=(
            *(tell.of(each, "budget") for each in selection.left_out),
            *(_unranked(each, "max_candidates") for each in composed.ranking.beyond),
            *(_unranked(each.candidate, "replaced", is_learnt=True) for each in composed.replaced),
        ),
        not_competing=composed.learnt.left_out,
        age_s=None if document is None else max(0.0, now - document.computed_at),
        is_stale=document is not None and problem is not None,
        problem=problem,
    )


class _Teller:
    """Knows each candidate's place, and who brought it."""

    def __init__(self, composed: Composition, own: Iterable[Candidate]) -> None:
        # By identity: an agent's own candidate and a learnt one may have one id.
        ranked = enumerate(composed.ranking.entries, start=1)
        self._ranks = {id(each.candidate): place for place, each in ranked}
        self._own = {id(each) for each in own}

    def of(self, entry: Scored, reason: Reason | None) -> Considered:
        """What became of a candidate that was ranked."""
        each = entry.candidate
        rank, is_learnt = self._ranks[id(each)], id(each) not in self._own
        return Considered(each.id, each.kind, rank, is_learnt, entry.score, entry.tokens, reason)


def _unranked(each: Candidate, reason: Reason, *, is_learnt: bool = False) -> Considered:
    return Considered(each.id, each.kind, None, is_learnt, reason=reason)
