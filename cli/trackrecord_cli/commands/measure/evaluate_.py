"""`trackrecord evaluate`: whether advice would have been right about recorded runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...access import settings_for
from ...arguments.import_argument import EVALUATED
from ...arguments.options import json_option
from ...history.replaying import MOMENTS
from ...output.screen import print_json

if TYPE_CHECKING:
    from trackrecord.learning.advice.evaluation.evaluate import Evaluation
    from trackrecord.learning.advice.evaluation.recommendations import Gold
    from trackrecord.learning.advice.runs.runs import Run
    from trackrecord.settings.daemon_settings import DaemonSettings
    from trackrecord_producers.publishing.checked_outcomes import BadLine


@click.command("evaluate")
@click.argument("form", metavar="FORMAT", type=EVALUATED)
@click.argument(
    "paths",
    metavar="PATH...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Draw from this seed: the same seed gives the same figures.",
)
@json_option
def command(form: str, paths: tuple[Path, ...], seed: int, *, as_json: bool) -> int:
    """Measure on recorded runs whether advice would have been right.

    FORMAT is one of: inspect, jsonl (outcomes as the wire format describes them), tau-bench. The
    runs are learnt in a temporary store; nothing is published, and your own store is not touched.

    With `moments` instead, the paths are sessions of coding agents, or folders of them. They are
    replayed in order of time: what each would have been told after a failure, and how often that
    proved right.
    """
    if form == MOMENTS:
        return _replay(paths, as_json=as_json)
    _require_files(paths)
    from trackrecord.learning.advice.evaluation.evaluate import evaluate_runs
    from trackrecord.resources.figures.evaluation import advising

    from ...arguments.outcome_input import BAD_INPUT
    from ...output.screen import working

    settings, _ = settings_for(None)
    bad: list[BadLine] = []
    with working("learning the runs"):
        runs = _learn(form, paths, settings, bad)
    _require_enough(runs, bad)
    with working("evaluating"):
        found = evaluate_runs(
            runs,
            settings.competence,
            lambda known: advising(known, settings.rules),
            seed=seed,
            gold=_gold(form, paths),
        )
    _print(found, as_json=as_json)
    if bad:
        click.echo(f"trackrecord: {_left_out(bad)}", err=True)
    return BAD_INPUT if bad else 0


def _replay(paths: Sequence[Path], *, as_json: bool) -> int:
    from ...history.replaying import print_replayed, replay_sessions

    settings, _ = settings_for(None)
    found = replay_sessions(settings.capture, paths)
    if not found.sessions:
        where = ", ".join(map(str, paths))
        click.echo(f"no recorded sessions with calls that can be repeated in {where}", err=True)
        return 1
    if as_json:
        print_json(found.to_document())
    else:
        print_replayed(found)
    return 0


def _require_files(paths: Sequence[Path]) -> None:
    for path in paths:
        if path.is_dir():
            message = f"{path} is a folder: this format takes files"
            raise click.UsageError(message)


def _learn(
    form: str, paths: Sequence[Path], settings: DaemonSettings, bad: list[BadLine]
) -> list[Run]:
    from trackrecord.resources.figures.evaluation import learn_apart

    return learn_apart(_given(form, paths, settings, bad), settings, now=time.time())


def _given(
    form: str, paths: Sequence[Path], settings: DaemonSettings, bad: list[BadLine]
) -> Iterator[tuple[str, bytes]]:
    """Yield the ids and bodies of valid outcomes, and collect the rest."""
    from trackrecord.resources.figures.evaluation import EVALUATED
    from trackrecord_producers.importers.records import Imported
    from trackrecord_producers.importers.register import read_recorded
    from trackrecord_producers.publishing.checked_outcomes import BadLine, given_outcomes

    for path in paths:
        records = read_recorded(form, path)
        of_one_project = (
            Imported(each.record, each.fields | {"project": EVALUATED}, each.kind)
            if isinstance(each, Imported)
            else each
            for each in records
        )
        for given in given_outcomes(
            of_one_project, project=EVALUATED, max_bytes=settings.max_body_bytes, file=str(path)
        ):
            if isinstance(given, BadLine):
                bad.append(given)
            else:
                yield given.outcome_id, given.body


def _require_enough(runs: Sequence[Run], bad: Sequence[BadLine]) -> None:
    from trackrecord.learning.advice.evaluation.evaluate import LEAST_RUNS, LEAST_TASKS
    from trackrecord.resources.operation.status import counted

    tasks = len({run.task_id for run in runs})
    if len(runs) < LEAST_RUNS or tasks < LEAST_TASKS:
        message = (
            f"an evaluation needs at least {LEAST_RUNS} runs of {LEAST_TASKS} tasks, "
            f"and found {counted(len(runs), 'run')} of {counted(tasks, 'task')}"
        )
        if bad:
            message = f"{message}; {_left_out(bad)}"
        raise click.UsageError(message)


def _gold(form: str, paths: Sequence[Path]) -> Gold:
    """Return the benchmark's own answers, where the format holds any."""
    from trackrecord.learning.advice.evaluation.recommendations import Gold
    from trackrecord_producers.importers.tau_bench_answers import read_answers

    if form != "tau-bench":
        return Gold()
    answers: dict[str, frozenset[str]] = {}
    changing: frozenset[str] = frozenset()
    for path in paths:
        more, tools = read_answers(path)
        answers |= more
        changing |= tools
    return Gold(answers, changing)


def _print(found: Evaluation, *, as_json: bool) -> None:
    from trackrecord.learning.advice.evaluation.evaluate import evaluation_document

    from ...output.evaluation_tables import print_evaluation

    if as_json:
        print_json(evaluation_document(found))
    else:
        print_evaluation(found)


def _left_out(bad: Sequence[BadLine]) -> str:
    from trackrecord.resources.operation.status import counted

    first = bad[0]
    return (
        f"{counted(len(bad), 'record')} could not be read and counted nowhere; "
        f"the first is {first.place}: {first.reason}"
    )
