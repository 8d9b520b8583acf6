"""Say how often advice would have been right, as JSON.

`python -m benchmarks.evaluate tau-bench FILE...` and `jsonl FILE...` learn recorded runs in a
temporary store, and ask for a recommendation for each task without the task's own runs. `moments
PATH...` goes through sessions of coding agents in order of time: what each would have been told
after a failure, and how often that proved right.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.settings import load_settings
from trackrecord_producers.importers.jsonl import BadLine, Imported, read_jsonl
from trackrecord_producers.publishing.checked_outcomes import given_outcomes

from .moments import replay_sessions
from .recommendations import LEAST_RUNS, LEAST_TASKS, Gold, evaluate_runs, evaluation_document
from .recorded import EVALUATED, advising, learn_apart
from .tau_bench import read_answers, read_tau_bench

_READERS: Final[dict[str, Callable[[Path], Iterable[Imported | BadLine]]]] = {
    "tau-bench": read_tau_bench,
    "jsonl": read_jsonl,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; return 1 where there is too little to say anything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evaluate", description=__doc__)
    parser.add_argument("form", choices=(*_READERS, "moments"))
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--json", action="store_true", help="as it always is")
    parser.add_argument("--seed", type=int, default=0, help="of the draws; default: %(default)s")
    chosen = parser.parse_args(arguments)
    if chosen.form == "moments":
        found = moments(chosen.paths)
    else:
        found = recommendations(chosen.form, chosen.paths, seed=chosen.seed)
    print("too few runs" if found is None else json.dumps(found))
    return int(found is None)


def moments(paths: Sequence[Path]) -> dict[str, Any] | None:
    """Return what sessions would have been told; None without any.

    Args:
        paths: files and folders of agents' logs.
    """
    found = replay_sessions(load_settings().capture, paths)
    return found.to_document() if found.sessions else None


def recommendations(form: str, paths: Sequence[Path], *, seed: int) -> dict[str, Any] | None:
    """Return how often recommendations were right; None of too few runs.

    Args:
        form: "tau-bench" or "jsonl".
        paths: files of recorded runs.
        seed: of all that is drawn.
    """
    settings = load_settings()
    runs = learn_apart(_given(form, paths, settings), settings, now=time.time())
    if len(runs) < LEAST_RUNS or len({run.task_id for run in runs}) < LEAST_TASKS:
        return None
    answers: Mapping[str, frozenset[str]] = {}
    changing: frozenset[str] = frozenset()
    for each in map(read_answers, paths if form == "tau-bench" else ()):
        answers, changing = {**answers, **each.answers}, changing | each.changing
    found = evaluate_runs(
        runs,
        settings.competence,
        lambda known: advising(known, settings.rules),
        seed=seed,
        gold=Gold(answers, changing),
    )
    return evaluation_document(found)


def _given(
    form: str, paths: Sequence[Path], settings: DaemonSettings
) -> Iterator[tuple[str, bytes]]:
    """Yield the ids and bodies of outcomes, and print a line about anything else."""
    for path in paths:
        records = (
            Imported(each.place, each.fields | {"project": EVALUATED})
            if isinstance(each, Imported)
            else each
            for each in _READERS[form](path)
        )
        for given in given_outcomes(
            records, project=EVALUATED, max_bytes=settings.max_body_bytes, file=str(path)
        ):
            if isinstance(given, BadLine):
                print(f"{given.place}: {given.reason}", file=sys.stderr)
            else:
                yield given.outcome_id, given.body


if __name__ == "__main__":
    sys.exit(main())
