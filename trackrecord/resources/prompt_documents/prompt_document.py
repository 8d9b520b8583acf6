"""Building the rankings of a project from the store."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.advice.estimates.posterior import PRIOR_STRENGTH
from trackrecord.learning.advice.exploring import Prospect
from trackrecord.learning.competences.record import signature_of_skill
from trackrecord.learning.competences.rules import Status
from trackrecord.learning.competences.selection import FAILING_FROM
from trackrecord.learning.criteria.weights import CriterionStanding
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.numbers.speakers import tells_alone
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.patterns.standing import Standing
from trackrecord.learning.patterns.texts import PLAIN, TextRules
from trackrecord.learning.rules_bundle import Rules
from trackrecord.prompt.documents.presentation import (
    NameOf,
    is_held_back,
    is_recommended,
    present_competence,
    present_criterion,
    present_failing,
    present_memory,
    present_other,
    present_pattern,
)
from trackrecord.prompt.documents.rankings_document import (
    RankedCompetence,
    RankedCriterion,
    RankedMemory,
    RankedPattern,
    RankingsDocument,
)
from trackrecord.store.advice.effect import decided_holdout
from trackrecord.store.competences.read import read_competences
from trackrecord.store.competences.signatures import failing_signatures
from trackrecord.store.criteria.sums import read_criteria
from trackrecord.store.memories.read import count_memories, memory_speakers, strongest_memories
from trackrecord.store.outcomes.projects import count_outcomes, revision_of
from trackrecord.store.patterns.read import read_standings
from trackrecord.wire.outcome_scorer import recogniser_of

# Of each kind.
_MOST: Final = 1000
MAX_RANKED: Final = 100  # memories


def rank_project(
    connection: Connection, project: str, rules: Rules, *, now: float
) -> tuple[RankingsDocument, list[Standing]]:
    """Rank all that a project has learnt; return it with the standings of all its patterns.

    Args:
        connection: a reading transaction.
        project: whose experience.
        rules: the rules of the settings.
        now: the present, seconds since the epoch.
    """
    found = revision_of(connection, project)
    if found is None:
        return RankingsDocument(project=project, revision=0, computed_at=now), []
    project_id, revision = found
    standings = read_standings(connection, project_id, rules, now=now)
    known = read_competences(connection, project_id)
    records = [record for record in known if record.status.is_selectable]
    name_of, texts = recogniser_of(rules).name_of, rules.texts
    patterns, anti_patterns, others = ranked_patterns(standings, name_of, texts, most=_MOST)
    base_rate = count_outcomes(connection, project_id).base_rate
    competences = _ranked(
        [present_competence(record, now=now, base_rate=base_rate) for record in records]
    )
    failing = failing_signatures(connection, project_id, from_failures=FAILING_FROM, limit=_MOST)
    memories, memories_beyond, unconfirmed = _ranked_memories(
        connection, project_id, rules.memories, now=now
    )
    criteria = read_criteria(connection, project_id, rules.criteria, now=now)
    document = RankingsDocument(
        project=project,
        revision=revision,
        computed_at=now,
        patterns=tuple(patterns),
        anti_patterns=tuple(anti_patterns),
        failing=tuple(present_failing(found.name, found.failures) for found in failing),
        competences=tuple(competences[:_MOST]),
        memories=memories,
        unconfirmed=unconfirmed,
        beyond={
            "patterns": sum(map(is_recommended, standings)) - len(patterns),
            "anti_patterns": sum(each.is_inverted for each in standings) - len(anti_patterns),
            "competences": max(0, len(competences) - _MOST),
            "memories": memories_beyond,
            "criteria": max(0, len(criteria) - _MOST),
        },
        holdout=decided_holdout(connection, project_id),
        needs_more_below=rules.competence.needs_more_below,
        others=tuple(others),
        promoted=tuple(
            sorted(
                each.facts.slug
                for each in standings
                if each.decision is not None and each.state is Maturity.PROVEN
            )
        ),
        candidate_multiplier=rules.maturity.candidate_multiplier,
        disputed=tuple(
            sorted(
                signature_of_skill(record.skill_name)
                for record in known
                if record.status in (Status.CONTESTED, Status.RETRACTED)
            )
        ),
        criteria=_weights(criteria),
    )
    return document, standings


def _weights(criteria: Sequence[CriterionStanding]) -> tuple[RankedCriterion, ...]:
    """Return the weights of those with most feedback, by name."""

    def feedback(standing: CriterionStanding) -> int:
        return standing.evidence.helpful + standing.evidence.harmful

    kept = sorted(criteria, key=lambda each: (-feedback(each), each.criterion))[:_MOST]
    return tuple(sorted(map(present_criterion, kept), key=lambda each: each.criterion))


def ranked_patterns(
    standings: Sequence[Standing],
    name_of: NameOf,
    texts: TextRules = PLAIN,
    *,
    most: int | None = None,
) -> tuple[list[RankedPattern], list[RankedPattern], list[RankedPattern]]:
    """Return the recommended patterns, the warnings, and the others, the best first.

    Args:
        standings: where the patterns stand.
        name_of: gives (slug, content, language) a pattern's content in that language.
        texts: how patterns are worded.
        most: how many of each to present; None for all.
    """
    recommended = sorted(filter(is_recommended, standings), key=lambda each: (-each.score, each.id))
    inverted = sorted(
        (each for each in standings if each.is_inverted),
        key=lambda each: (-each.failure_score, each.id),
    )
    # A warning that is not presented holds all the same.
    untold = {each.facts.slug for each in inverted[most:]} if most is not None else set()
    others = sorted(
        (each for each in standings if is_held_back(each) and each.facts.slug not in untold),
        key=lambda each: (-_optimistic(each), each.facts.slug),
    )
    return (
        [present_pattern(each, name_of, texts) for each in recommended[:most]],
        [present_pattern(each, name_of, texts) for each in inverted[:most]],
        [present_other(each, name_of, texts) for each in others[:most]],
    )


def _optimistic(standing: Standing) -> float:
    evidence, half = standing.evidence, PRIOR_STRENGTH / 2
    helpful, harmful = evidence.decayed_helpful, evidence.decayed_harmful
    return Prospect(standing.facts.slug, half + helpful, half + harmful).optimistic


def _ranked(entries: Sequence[RankedCompetence]) -> list[RankedCompetence]:
    return sorted(entries, key=lambda each: (-each.score, each.id))


def _ranked_memories(
    connection: Connection, project_id: int, rules: MemoryRules, *, now: float
) -> tuple[tuple[RankedMemory, ...], int, tuple[str, ...]]:
    """Return the memories with the highest effective confidence, and how many there are beyond.

    What another memory has superseded is no longer handed on.

    Returns:
        Last the ids of those that one source alone tells where there are several.
    """
    standing = strongest_memories(connection, project_id, limit=MAX_RANKED)
    sources = memory_speakers(connection, project_id, standing)
    presented = (
        present_memory(
            memory.id,
            memory.text,
            memory.state,
            source=memory.sources[0] if memory.sources else None,
            rules=rules,
            now=now,
        )
        for memory in standing
    )
    ranked = sorted(presented, key=lambda entry: (-entry.score, entry.id))[:MAX_RANKED]
    # Few projects have more than fit, and only those need counting.
    beyond = 0
    if len(ranked) == MAX_RANKED:
        beyond = max(0, count_memories(connection, project_id) - len(ranked))
    everyone = set().union(*sources.values())
    alone = (name for name, own in sources.items() if tells_alone(own, everyone))
    return tuple(ranked), beyond, tuple(sorted(alone))
