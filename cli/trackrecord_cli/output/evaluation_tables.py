"""An evaluation as tables for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from .screen import print_table

if TYPE_CHECKING:
    from trackrecord.learning.advice.evaluation.evaluate import Evaluation
    from trackrecord.learning.advice.evaluation.measures import Figure
    from trackrecord.learning.advice.evaluation.recommendations import RecommendationQuality

_METHODS = {
    "votes": "votes of similar tasks",
    "commonest": "always the commonest success",
    "random": "a random past success",
    "seed": "competence records (--by seed)",
}


def print_evaluation(found: Evaluation) -> None:
    """Print every figure with its baselines and its spread."""
    from trackrecord.resources.operation.status import counted

    click.echo(
        f"{counted(found.runs, 'run')} of {counted(found.tasks, 'task')} by "
        f"{counted(found.sources, 'source')}; {found.base_rate:.0%} succeeded"
    )
    click.echo("\nWhich tools to use, said before the run, with the task's own runs left out:")
    print_table(("recommended by", *_advice_columns(found.recommendation)), _advice_rows(found))
    print_table(("recommendations", "value"), _summary_rows(found.recommendation))


def _advice_columns(found: RecommendationQuality) -> tuple[str, ...]:
    columns = ("right tools, of the specific ones", "tools in common")
    return columns if found.right is None else (*columns, "right answer of the benchmark")


def _advice_rows(found: Evaluation) -> Iterable[tuple[str, ...]]:
    advice = found.recommendation
    tables = [advice.matches, advice.overlap, *([advice.right] if advice.right else [])]
    for name, said in _METHODS.items():
        yield said, *(_cell(table[name]) for table in tables)


def _summary_rows(found: RecommendationQuality) -> Iterable[tuple[str, str]]:
    yield "tasks asked about", str(found.tasks)
    yield "different recommendations", str(found.distinct)
    yield "different recommendations by competence records", str(found.seed_distinct)
    yield "share of the most frequent recommendation", _cell(found.commonest_share)
    yield "share where more information is needed", _cell(found.silent)
    if found.right is not None:
        yield "right answer of the benchmark where no more is needed", _cell(found.right_when_said)
    yield "share where the prompt names a procedure", _cell(found.handed_out)
    yield "right tools there, of the specific ones", _cell(found.handed_out_matches)
    if found.right is not None:
        yield "right answer of the benchmark there", _cell(found.handed_out_right)


def _cell(figure: Figure | None) -> str:
    return "-" if figure is None else f"{figure.value:.3f} ± {figure.spread:.3f}"
