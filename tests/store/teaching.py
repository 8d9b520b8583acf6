"""Teaching a store outcomes, and asking for all that it then knows."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, select

from trackrecord.learning.criteria.weights import CriteriaRules
from trackrecord.learning.patterns.standing import Standing
from trackrecord.learning.rules_bundle import Rules
from trackrecord.resources.prompt_documents.prompt_document import rank_project
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import BatchChanges, learn
from trackrecord.store.intake.rebuild import rebuild_patterns
from trackrecord.store.outcomes.projects import count_outcomes, project_id_of, project_names
from trackrecord.store.outcomes.tables import waiting_episodes
from trackrecord.store.patterns.read import read_standings
from trackrecord.store.patterns.transitions import Transition, note_states, unnoted_states
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import ScoredOutcome, scorer_of

NOW = 1_780_000_000.0
DAY = 86_400.0
# As a project has it that judges each outcome by four aspects.
DEFAULTS = ("type_safe", "no_bugs", "patterns", "readable")
CRITERIA = CriteriaRules(defaults=DEFAULTS)
RULES = Rules(criteria=CRITERIA)
SCORER = scorer_of(RULES)


def outcome(
    number: int | str, *, helpful: bool = True, received: float = NOW, **fields: object
) -> ScoredOutcome:
    """One outcome, helpful or harmful, received at a moment."""
    signals = (
        {"success": True, "error_count": 0}
        if helpful
        else {"success": False, "error_count": 9, "retry_count": 9}
    )
    given = {"outcome_id": f"o{number}", "task_id": f"t{number}", **signals, **fields}
    body = json.dumps(given).encode()
    return SCORER.score(decode_outcome(body), body, received_at=received, outcome_id="none")


def unjudged(number: int | str, *, received: float = NOW, **fields: object) -> ScoredOutcome:
    """Return an outcome without a known result."""
    return outcome(number, received=received, **{**fields, "success": None})


def teach(
    store: Engine,
    batch: Iterable[ScoredOutcome],
    *,
    now: float = NOW,
    rules: Rules = RULES,
) -> BatchChanges:
    """Learn one batch in one transaction."""
    with writing(store) as connection:
        return learn(connection, list(batch), rules, now=now)


def rebuild(store: Engine, rules: Rules = RULES, *, now: float = NOW) -> None:
    """Rebuild what is known of patterns and criteria."""
    with writing(store) as connection:
        rebuild_patterns(connection, project_id_of(connection, "default"), rules, now=now)


def note_states_of(
    store: Engine, project: str = "default", *, now: float = NOW, rules: Rules = RULES
) -> tuple[Transition, ...]:
    """Note the states of a project's patterns, as a worker does that refreshes its rankings."""
    with reading(store) as connection:
        _, found = rank_project(connection, project, rules, now=now)
        unnoted = unnoted_states(connection, project, found, rules, now=now)
    if unnoted is None:
        return ()
    with writing(store) as connection:
        return note_states(connection, unnoted)


def learn_reports(
    store: Engine,
    reports: Iterable[Mapping[str, Any]],
    rules: Rules = RULES,
    *,
    now: float = NOW,
    received: Callable[[int, Mapping[str, Any]], float] | None = None,
) -> BatchChanges:
    """Learn reports in one transaction, as a worker does.

    Args:
        store: of the outcomes.
        reports: the fields of each.
        rules: of scoring and of what is learnt.
        now: when they are learnt.
        received: when each was received, from its place and its fields; all were now if not given.
    """
    scorer, batch = scorer_of(rules), []
    for number, fields in enumerate(reports):
        body = json.dumps(fields).encode()
        at = received(number, fields) if received else now
        batch.append(scorer.score(decode_outcome(body), body, received_at=at, outcome_id="none"))
    return teach(store, batch, now=now, rules=rules)


@dataclass(frozen=True)
class Known:
    """The content of a store about a project, in a form that can be compared."""

    outcomes: int
    successes: int
    episodes: int
    patterns: dict[str, tuple[object, ...]]


def standings(store: Engine, project: str = "default", *, now: float = NOW) -> dict[str, Standing]:
    """Return the project's patterns with their states, by slug."""
    with reading(store) as connection:
        project_id = project_id_of(connection, project)
        if project_id is None:
            return {}
        found = read_standings(connection, project_id, RULES, now=now)
    return {each.facts.slug: each for each in found}


def known(store: Engine, *, now: float = NOW) -> dict[str, Known]:
    """All that a store knows, by project; decayed numbers to nine digits."""
    with reading(store) as connection:
        names = project_names(connection)
        counts = {}
        for name in names:
            project_id = project_id_of(connection, name)
            counted = count_outcomes(connection, project_id)
            waiting = connection.execute(
                select(waiting_episodes).where(waiting_episodes.c.project_id == project_id)
            ).all()
            counts[name] = (counted.outcomes, counted.successes, len(waiting))
    return {
        name: Known(
            *counts[name],
            patterns={
                slug: (
                    each.facts.kind,
                    each.facts.content,
                    each.facts.last_validated,
                    each.evidence.helpful,
                    each.evidence.neutral,
                    each.evidence.harmful,
                    float(f"{each.evidence.decayed_helpful:.9g}"),
                    float(f"{each.evidence.decayed_harmful:.9g}"),
                    each.state,
                    each.is_inverted,
                )
                for slug, each in standings(store, name, now=now).items()
            },
        )
        for name in names
    }
