"""Reads of the rankings of a project with many past tasks, each for another task; prints JSON.

The first argument says of which project, the second in which file the tasks' texts are.
"""

import json
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.timing import time_by_turns
from trackrecord.prompt.client import RankingsReader
from trackrecord.prompt.wanted import WantedSections
from trackrecord.settings import load_settings


def main() -> None:
    """Time reads with and without past tasks, by turns: by processor time, and with all waits."""
    project, tasks = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
    reader = RankingsReader(load_settings())
    without = WantedSections(exclude=frozenset({"past_tasks"}))
    for task in tasks[-20:]:
        reader.read(project=project, task=task)
        reader.read(project=project, task=task, wanted=without)
    document = {}
    for name, clock in (("processor", time.process_time_ns), ("waiting", time.perf_counter_ns)):
        asked = {"with": iter(tasks), "without": iter(tasks)}
        took = time_by_turns(
            {
                "without": partial(_read, reader, project, asked["without"], without),
                "with": partial(_read, reader, project, asked["with"], None),
            },
            len(tasks),
            clock=clock,
        )
        document |= {f"{kind}, {name}": latency.as_dict() for kind, latency in took.items()}
    print(json.dumps(document))


def _read(
    reader: RankingsReader, project: str, tasks: Iterator[str], wanted: WantedSections | None
) -> object:
    return reader.read(project=project, task=next(tasks), wanted=wanted)


if __name__ == "__main__":
    main()
