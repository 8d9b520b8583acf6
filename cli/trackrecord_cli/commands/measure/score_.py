"""`trackrecord score`: a dry run of scoring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import click

from trackrecord.learning.outcomes.scoring import reasoning
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import STRATEGY, scorer_of
from trackrecord_producers.importers.jsonl import BadLine, read_outcomes
from trackrecord_producers.publishing.checked_outcomes import given_outcomes

from ...access import settings_for
from ...arguments.options import json_option, project_option
from ...output.screen import print_json, print_table
from ...publishing import say_bad_lines

if TYPE_CHECKING:
    from trackrecord.settings.daemon_settings import DaemonSettings

_UNKNOWN = "no verdict: nobody knows whether the task reached its goal"


@click.command("score")
@click.argument("source", metavar="[FILE|-]", type=click.File("rb"), default="-")
@project_option
@json_option
def command(source: BinaryIO, project: str | None, *, as_json: bool) -> int:
    """Score outcomes without publishing or recording them.

    They are read as `trackrecord publish` reads them. The strategies are those that an outcome
    names, or that are recognised in its description.
    """
    settings, project = settings_for(project)
    most = settings.max_body_bytes
    scored: list[dict[str, Any]] = []
    bad: list[BadLine] = []
    records = read_outcomes(source, max_bytes=most)
    for given in given_outcomes(records, project=project, max_bytes=most):
        if isinstance(given, BadLine):
            bad.append(given)
        else:
            scored.append(_score(given.outcome_id, given.body, settings))
    if as_json:
        print_json(scored)
    elif scored:
        columns = ("outcome_id", "raw_score", "type", "strategies", "reasoning")
        print_table(("outcome", *columns[1:]), (_row(each, columns) for each in scored))
    return say_bad_lines(bad)


def _row(scored: dict[str, Any], columns: tuple[str, ...]) -> list[object]:
    return [", ".join(cell) if isinstance(cell := scored[name], list) else cell for name in columns]


def _score(outcome_id: str, body: bytes, settings: DaemonSettings) -> dict[str, Any]:
    outcome = decode_outcome(body, max_bytes=settings.max_body_bytes)
    scorer = scorer_of(settings.rules)
    strategies = [touch.slug for touch in scorer.touches(outcome) if touch.kind == STRATEGY]
    score = scorer.score_of(outcome)
    components = score.components if score else {}
    return {
        "outcome_id": outcome_id,
        "raw_score": score and score.raw_score,
        "type": score and score.verdict.value,
        "components": components,
        "observed": list(components),
        "strategies": strategies,
        "reasoning": reasoning(score) if score else _UNKNOWN,
    }
