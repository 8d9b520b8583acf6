"""Every number of the rules makes a difference: no setting does nothing."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from trackrecord.inflight.errors import TaskError, TaskInFlight
from trackrecord.inflight.retry_text import retry_text
from trackrecord.inflight.rules import ErrorRules
from trackrecord.learning.criteria.weights import (
    CriteriaRules,
    CriterionEvidence,
    criterion_standing,
)
from trackrecord.learning.outcomes.scoring import ScoringRules, score_outcome, verdict_of
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import (
    AntiPatternRules,
    Maturity,
    MaturityRules,
    is_inverted,
    maturity_of,
)
from trackrecord.learning.patterns.texts import (
    PatternWording,
    TextRules,
    warning,
)
from trackrecord.learning.strategies.recogniser import Recogniser
from trackrecord.wire.outcome import Outcome
from trackrecord.wire.outcome_scorer import OutcomeScorer


def scored(rules: ScoringRules) -> object:
    """The scores of outcomes on all sides of every border, and what scores near a border are."""
    return [
        (
            score_outcome(
                rules, success=success, duration_ms=ms, error_count=n, retry_count=n
            ).raw_score
        )
        for success in (True, False)
        for ms in (50, 1000, 350_000, 1_800_001, 4_000_000)
        for n in (0, 1, 2, 3, 4)
    ] + [verdict_of(rules, score) for score in (0.3, 0.4, 0.45, 0.6, 0.69, 0.7)]


def evidence(helpful: float, harmful: float) -> Evidence:
    return Evidence(int(helpful), 0, int(harmful), helpful, harmful, succeeded=int(helpful))


GRID = [evidence(good, bad) for good in (0, 1.8, 2.95, 5, 9, 20) for bad in (0, 1, 3.02, 3.1, 8.6)]


def matured(rules: MaturityRules) -> object:
    states = [maturity_of(rules, each) for each in GRID]
    return states, [rules.multiplier(state) for state in states]


def inverted(rules: AntiPatternRules) -> object:
    mixed = [Evidence(a, 0, b, succeeded=a) for a in range(6) for b in range(6)]
    return [is_inverted(rules, each) for each in mixed]


def weighed(rules: CriteriaRules) -> object:
    outcome = Outcome(task_id="t", success=True, criteria={"own": "helpful"})
    scored = OutcomeScorer(ScoringRules(), Recogniser(), rules).score(
        outcome, b"", received_at=0.0, outcome_id="o"
    )
    grid = [
        CriterionEvidence(a, 0, b, float(a), float(b))
        for a in (0, 1, 2, 7, 69) for b in (0, 1, 3, 31)
    ] + [CriterionEvidence(3, 0, 0, 2.95, 0.0)]  # fmt: skip
    return (
        scored.judged,
        scored.named,
        [criterion_standing(rules, "own", each) for each in grid],
    )


def told(rules: ErrorRules) -> object:
    name = "abcdefghij.abcdefghij.abcdefghij"
    said = f"{name}: cannot {name} {name} {name}: {name}"
    message = f"{'X' * 20}Error: {said}\n{said.replace('cannot', 'unable to')}"
    trace = "\n".join(f'File "/{name}{n}.py", line {n}, in {"f" * 20}' for n in range(3))
    errors = [
        TaskError(str(n), "timeout", f"{n} {message}", 0.0, stack_trace=trace, context="c" * 900)
        for n in range(60)
    ]
    return [retry_text(TaskInFlight(errors, strikes), rules) for strikes in range(6)]


def worded(rules: TextRules) -> object:
    inversion = PatternWording("w" * 500, Maturity.DEPRECATED, Evidence(1, 0, 4, succeeded=1))
    return [warning(inversion, language, rules=rules) for language in ("en", "zh")]


# What the store and Redis do with these is shown where they are: by the number of what is kept.
KEPT_ELSEWHERE = {"retention_s", "max_per_task", "max_per_project", "half_life_days"}

CHANGED: list[tuple[Any, Callable[[Any], object], dict[str, Any]]] = [
    (ScoringRules(), scored, {
        "success_weight": {"success_weight": 0.5, "retries_weight": 0.1},
        "duration_weight": {"duration_weight": 0.3, "errors_weight": 0.1},
        "errors_weight": {"errors_weight": 0.3, "retries_weight": 0.1},
        "retries_weight": {"retries_weight": 0.3, "success_weight": 0.3},
        "fast_ms": 100, "slow_ms": 3_000_000, "duration_middle": 0.5, "duration_low": 0.1,
        "few_errors": 3, "errors_middle": 0.5, "errors_low": 0.1, "few_retries": 3,
        "retries_middle": 0.5, "retries_low": 0.1, "helpful_from": 0.65, "harmful_to": 0.45,
    }),
    (MaturityRules(), matured, {
        "min_evidence": 6, "deprecated_above": 0.6, "proven_from": 9, "proven_below": 0.05,
        "proven_multiplier": 2, "established_multiplier": 1.1, "candidate_multiplier": 0.6,
        "deprecated_multiplier": 0.1,
    }),
    (AntiPatternRules(), inverted, {
        "min_observations": 5, "failure_share": 0.9,
    }),
    (CriteriaRules(), weighed, {
        "defaults": ("own", "other"), "min_feedback": 5, "deprecated_above": 0.6,
    }),
    (ErrorRules(), told, {
        "strikes": 2,
    }),
    (TextRules(), worded, {
        "warning_prefix": "LAST RESORT:", "warning_prefix_zh": "慎用:",
    }),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "probe", "field", "value"),
    [
        pytest.param(rules, probe, field, value, id=f"{type(rules).__name__}.{field}")
        for rules, probe, changes in CHANGED
        for field, value in changes.items()
    ],
)
def test_it_makes_a_difference(rules, probe, field, value):
    """Another number, another answer."""
    changed = replace(rules, **(value if isinstance(value, dict) else {field: value}))
    assert probe(changed) != probe(rules)


@pytest.mark.parametrize(("rules", "changes"), [(rules, changes) for rules, _, changes in CHANGED])
def test_none_is_left_out(rules, changes):
    """A number that is added must show what it does."""
    names = {each.name for each in fields(rules)}
    assert names - KEPT_ELSEWHERE == changes.keys()
