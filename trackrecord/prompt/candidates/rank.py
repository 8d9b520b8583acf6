"""Ranking: in which order candidates are considered."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from operator import attrgetter
from typing import Final, get_args

import msgspec

from ..question.rules import ContextRules, GivenRules, rules_from
from .candidate import Candidate, ContentType, Given, read_candidates
from .sections import AS_HANDED_IN, LAST, WEIGHTS

_BY_ORDER: Final = attrgetter("order")
# The rule that characters of each kind of text count by.
_RATIOS: Final[dict[ContentType, str]] = {kind: f"{kind}_ratio" for kind in get_args(ContentType)}

# What is taken last comes last; then by score and by priority, both descending, then by id. An
# agent's own candidate and a learnt one of another kind may have one id.
Order = tuple[bool, float, float, str, str]


class Scored(msgspec.Struct, frozen=True, gc=False):
    """A candidate and its score.

    Attributes:
        candidate: the piece itself.
        score: what it is ranked by.
        tokens: what it counts for, its heading apart.
        order: what it is sorted by, the best first.
        section: the name of the section that it stands in.
    """

    candidate: Candidate
    score: float
    tokens: int
    order: Order
    section: str

    def at(self, score: float) -> "Scored":
        """Return the same candidate with another score."""
        if score == self.score:
            return self
        is_last, _, priority, name, kind = self.order
        order = (is_last, -score, priority, name, kind)
        return Scored(self.candidate, score, self.tokens, order, self.section)

    def reworded(self, text: str, rules: ContextRules) -> "Scored":
        """Return it with another text, in the same place."""
        candidate = msgspec.structs.replace(self.candidate, text=text)
        tokens = tokens_of(candidate, rules)
        return Scored(candidate, self.score, tokens, self.order, self.section)


@dataclass(frozen=True)
class Ranking:
    """Candidates in their order.

    Attributes:
        entries: those that were ranked, best first.
        beyond: those that were not, because there were more than `max_candidates`.
        rules: what they were ranked by.
    """

    entries: tuple[Scored, ...]
    beyond: tuple[Candidate, ...]
    rules: ContextRules

    @property
    def left_out(self) -> int:
        """Return how many candidates were not ranked."""
        return len(self.beyond)


def rank(candidates: Iterable[Given], config: GivenRules = None) -> Ranking:
    """Rank candidates: pure, for up to `max_candidates` of them in any order.

    Of more the first so many are ranked, and the others are named. The order is by score, then by
    priority, both descending, then by id, by code point; past tasks come last. With `enabled` false
    all stay as they are, in the text of `select`, too.

    Args:
        candidates: of ours, or mappings as JSON has them, in snake_case or camelCase.
        config: the rules, or those of their numbers that are not the usual ones.

    Raises:
        InvalidCandidate: a candidate is none; the message names it.
        SettingsError: a rule is none; the message names it.
    """
    rules = rules_from(config)
    read = read_candidates(candidates)
    most = rules.max_candidates if rules.enabled else len(read)
    return Ranking(in_order(score_own(read[:most], rules), rules), tuple(read[most:]), rules)


def score_all(candidates: Iterable[Candidate], rules: ContextRules) -> list[Scored]:
    """Return each candidate with its score and its token count."""
    scored = []
    for each in candidates:
        score = score_of(each, rules)
        section = each.section or each.kind
        order = (section in LAST, -score, -each.priority, each.id, each.kind)
        scored.append(Scored(each, score, tokens_of(each, rules), order, section))
    return scored


def score_own(candidates: Iterable[Candidate], rules: ContextRules) -> list[Scored]:
    """Return an agent's own candidates scored; when ranking is off, in no section of theirs."""
    scored = score_all(candidates, rules)
    if rules.enabled:
        return scored
    return [msgspec.structs.replace(each, section=AS_HANDED_IN.name) for each in scored]


def in_order(entries: Iterable[Scored], rules: ContextRules) -> tuple[Scored, ...]:
    """Return the entries best first; as they are when ranking is off."""
    return tuple(sorted(entries, key=_BY_ORDER) if rules.enabled else entries)


def score_of(each: Candidate, rules: ContextRules) -> float:
    """The base ÷ (1 + dependency_proximity·depth); without a depth nothing is divided.

    The base is the sum of the weights of all that holds of the candidate, a decision's recency
    times its age factor, and, of what is learnt, its own score times its kind's weight.
    """
    kind = each.kind
    base = _weights_of_flags(each, rules)
    if kind == "phase":
        base += rules.phase_weight
    elif kind == "decision":
        if each.decision_age_hours is not None:
            base += rules.decision_recency_weight * age_factor(each.decision_age_hours, rules)
    elif each.score and kind in WEIGHTS:
        base += each.score * getattr(rules, WEIGHTS[kind])
    if each.dependency_depth is not None:
        base /= 1 + rules.dependency_proximity_weight * each.dependency_depth
    return base


def _weights_of_flags(each: Candidate, rules: ContextRules) -> float:
    total = 0.0
    if each.is_current_task:
        total += rules.current_task_weight
    if each.is_blocked_task:
        total += rules.blocked_task_weight
    if each.has_failure:
        total += rules.recent_failure_weight
    if each.has_success:
        total += rules.recent_success_weight
    if each.has_evidence:
        total += rules.evidence_presence_weight
    return total


def tokens_of(each: Candidate, rules: ContextRules) -> int:
    """Return the candidate's own token count, else ceil(characters·ratio) by its kind of text."""
    if each.tokens is not None:
        return each.tokens
    ratio: float = getattr(rules, _RATIOS[each.content_type])
    return ceil(len(each.text) * ratio)


def age_factor(age_hours: float, rules: ContextRules) -> float:
    """Return the share of a decision's weight left at an age; a negative age counts as 0.

    Exponential: 2^(−age/half-life). Linear: max(0, 1 − age/max_age_hours).
    """
    age = max(0.0, age_hours)
    if rules.age_decay == "linear":
        return max(0.0, 1 - age / rules.counts_nothing_from_hours)
    return float(2.0 ** (-age / rules.half_life_hours))
