"""`trackrecord score`: a dry run of scoring."""

from typing import Any, BinaryIO

import click

from trackrecord.learning.outcomes.scoring import reasoning, score_outcome
from trackrecord.settings import Settings
from trackrecord.wire.outcome import decode_outcome

from ..access import settings_for
from ..options import json_option, project_option
from ..outcome_input import BadLine, read_outcomes
from ..screen import print_json, print_table, say_bad_lines


@click.command("score")
@click.argument("source", metavar="[FILE|-]", type=click.File("rb"), default="-")
@project_option
@json_option
def command(source: BinaryIO, project: str | None, *, as_json: bool) -> int:
    """What outcomes would score; nothing is published or recorded."""
    settings, project = settings_for(project)
    scored: list[dict[str, Any]] = []
    bad: list[BadLine] = []
    for given in read_outcomes(source, project=project, max_bytes=settings.max_body_bytes):
        if isinstance(given, BadLine):
            bad.append(given)
        else:
            scored.append(_score(given.outcome_id, given.body, settings))
    if as_json:
        print_json(scored)
    elif scored:
        print_table(
            ("outcome", "score", "type", "reasoning"),
            (
                (each["outcome_id"], each["raw_score"], each["type"], each["reasoning"])
                for each in scored
            ),
        )
    return say_bad_lines(bad)


def _score(outcome_id: str, body: bytes, settings: Settings) -> dict[str, Any]:
    outcome = decode_outcome(body, max_bytes=settings.max_body_bytes)
    score = score_outcome(
        settings.scoring,
        success=outcome.success,
        duration_ms=outcome.duration_ms,
        error_count=outcome.error_count,
        retry_count=outcome.retry_count,
    )
    return {
        "outcome_id": outcome_id,
        "raw_score": score.raw_score,
        "type": score.verdict.value,
        "components": score.components,
        "observed": list(score.components),
        "reasoning": reasoning(score),
    }
