"""Reads of the rankings of a project with many past tasks, each for another task; prints JSON.

The first argument says of which project, the second in which file the tasks' texts are.
"""

import json
import sys
from pathlib import Path

from benchmarks.timing import time_by_turns
from trackrecord.prompt.client import RankingsReader
from trackrecord.prompt.wanted import Wanted
from trackrecord.settings import load_settings


def main() -> None:
    """Time reads with and without past tasks, by turns."""
    project, tasks = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
    reader = RankingsReader(load_settings())
    without = Wanted(exclude=frozenset({"past_tasks"}))
    for task in tasks[-20:]:
        reader.read(project=project, task=task)
        reader.read(project=project, task=task, wanted=without)
    asked = {"with": iter(tasks), "without": iter(tasks)}
    took = time_by_turns(
        {
            "without past tasks": lambda: reader.read(
                project=project, task=next(asked["without"]), wanted=without
            ),
            "with past tasks": lambda: reader.read(project=project, task=next(asked["with"])),
        },
        len(tasks),
    )
    print(json.dumps({name: latency.as_dict() for name, latency in took.items()}))


if __name__ == "__main__":
    main()
