"""Measure how good learning is, on recorded runs and in simulated worlds.

`python -m benchmarks.learning [FILE...]` puts τ-bench recordings through `benchmarks.evaluate`,
those beside the repository if none are named, and then plays the worlds on seeds that nothing was
tuned on. Worlds of which no module is there are said not to be available.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from benchmarks.evaluate.__main__ import recommendations

RECORDED: Final = Path(__file__).parents[2] / "shared" / "data" / "tau-bench"
# Beyond the seeds that constants were chosen on.
_FIRST_SEED: Final = 52_000


@dataclass(frozen=True)
class Worlds:
    """Simulated worlds whose truth is known.

    Attributes:
        title: the question that they answer.
        module: the module in `benchmarks.worlds`.
        function: takes seeds, and gives rows: mappings or data classes.
        share: the share of the seeds that they are played on; some take long, some vary much.
    """

    title: str
    module: str
    function: str
    share: float = 1.0


WORLDS: Final = (
    Worlds(
        "Ranking strategies when hard tasks attract the good ones",
        "attribution",
        "attribution_table",
    ),
    Worlds("Intervals of effects where kinds of task are wrong", "attribution", "interval_table"),
    Worlds("Strategies at tasks that are tried again", "retries", "rows"),
    Worlds("A failure of yesterday beside successes of years ago", "old_votes", "rows"),
    Worlds("What it is worth to follow what is told, in points of success", "worth", "rows"),
    Worlds("A fleet that follows what it is handed first", "bandit", "rows", share=0.25),
    Worlds("Measuring the effect of what is handed out", "fleet", "rows", share=0.5),
    Worlds("What a prompt says of outcomes that are dealt out anew", "permuted", "rows", share=5),
    Worlds("Effects where outcomes are missing or most succeed", "fleet", "case_rows", share=5.0),
    Worlds("Habits at the end of runs", "endings", "rows", share=5.0),
    Worlds("Trials of hints at failures", "hints", "rows", share=5.0),
    Worlds("Outcomes that liars among honest sources need", "trust", "rows", share=0.25),
    Worlds("Whose word reaches a prompt, and what must not change it", "speakers", "rows"),
)


@dataclass(frozen=True)
class Line:
    """One figure and its baselines.

    Attributes:
        name: what is measured.
        path: where it stands in the evaluation.
        baselines: where its baselines stand, by name.
        wanted: the least value that is wanted; None for a figure without a bound.
    """

    name: str
    path: str
    baselines: Mapping[str, str]
    wanted: float | None = None


# The bounds are those of the airline runs.
LINES: Final = (
    Line(
        "recommendation right by the benchmark",
        "recommendation.right.votes",
        {
            "commonest success": "recommendation.right.commonest",
            "random success": "recommendation.right.random",
            "today": "recommendation.right.seed",
        },
        0.5,
    ),
    Line("the same, where not silent", "recommendation.right_when_said", {}),
    Line("the same, where a prompt names it", "recommendation.handed_out_right", {}),
    Line("tasks whose prompt names a procedure", "recommendation.handed_out", {}),
    Line(
        "specific tools of the task's successes",
        "recommendation.matches.votes",
        {
            "commonest success": "recommendation.matches.commonest",
            "random success": "recommendation.matches.random",
            "today": "recommendation.matches.seed",
        },
    ),
    Line("more information needed", "recommendation.silent", {}),
    Line(
        "different recommendations",
        "recommendation.distinct",
        {"today": "recommendation.seed_distinct"},
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every figure with its baselines; return 1 if a recording could not be evaluated."""
    chosen = _parser().parse_args(arguments)
    files = chosen.files or sorted([] if chosen.world else RECORDED.glob("*.json"))
    if not files and not chosen.world:
        print("recorded runs: not available (none beside the repository; name a file)")
    failed = [file for file in files if not _recorded(file, chosen.seed)]
    for worlds in WORLDS:
        if chosen.world not in (None, worlds.module):
            continue
        seeds = range(_FIRST_SEED, _FIRST_SEED + max(2, round(chosen.seeds * worlds.share)))
        print(f"\n{worlds.title} ({len(seeds)} seeds)")
        print("\n".join(_table(_rows(worlds, seeds))) or "  not available", flush=True)
    return int(bool(failed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="τ-bench recordings")
    parser.add_argument("--seed", type=int, default=0, help="of the draws; default: %(default)s")
    parser.add_argument("--seeds", type=int, default=20, help="of the worlds; default: %(default)s")
    worlds = dict.fromkeys(each.module for each in WORLDS)
    parser.add_argument("--world", choices=worlds, help="play these worlds alone")
    return parser


def _recorded(file: Path, seed: int) -> bool:
    print(f"\n{file.name}: seed {seed}", flush=True)
    found = recommendations("tau-bench", [file], seed=seed)
    if found is None:
        print("  too few runs")
        return False
    print(f"  {found['runs']} runs of {found['tasks']} tasks, {found['base_rate']:.0%} succeeded")
    for line in LINES:
        print(_line(line, found))
    return True


def _line(line: Line, found: dict[str, Any]) -> str:
    baselines = {name: _at(found, path) for name, path in line.baselines.items()}
    beside = "; ".join(f"{name} {_said(each)}" for name, each in baselines.items())
    return (
        f"  {line.name:<40} {_said(_at(found, line.path)):<15} {_verdict(line, found):<12} {beside}"
    )


def _verdict(line: Line, found: dict[str, Any]) -> str:
    value = _at(found, f"{line.path}.value")
    if value is None or line.wanted is None:
        return ""
    return f"≥ {line.wanted:.2f} {'met' if value >= line.wanted else 'NOT met'}"


def _at(found: Any, path: str) -> Any:  # noqa: ANN401 - a part of a JSON document
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _said(figure: Any) -> str:  # noqa: ANN401 - as above
    if figure is None:
        return "-"
    if isinstance(figure, dict):
        return f"{figure['value']:.3f} ± {figure['spread']:.3f}"
    return str(figure)


def _rows(worlds: Worlds, seeds: Iterable[int]) -> Iterator[Mapping[str, Any]]:
    name = f"benchmarks.worlds.{worlds.module}"
    if find_spec("benchmarks.worlds") is None or find_spec(name) is None:
        return
    for row in getattr(import_module(name), worlds.function)(seeds):
        yield asdict(row) if is_dataclass(row) and not isinstance(row, type) else dict(row)


def _table(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    found = list(rows)
    if not found:
        return
    columns = list(found[0])
    cells = [columns, *([_cell(row[column]) for column in columns] for row in found)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    for row in cells:
        yield (
            "  "
            + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
