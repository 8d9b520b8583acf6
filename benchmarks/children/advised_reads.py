"""Reads of the rankings of a large project, each for another task; prints JSON.

The first argument says how many, the second of which project.
"""

import json
import random
import sys
import time

from benchmarks.harness.timing import time_calls
from benchmarks.workloads.advised_documents import task_texts
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.settings import load_settings


def main() -> None:
    """Time each kind of read, by processor time."""
    count, project = int(sys.argv[1]), sys.argv[2]
    tasks = task_texts(random.Random(1), count)
    reader = RankingsReader(load_settings())
    advice = reader.cached(project).advice
    if advice is None:
        message = f"no advice is cached for {project}"
        raise RuntimeError(message)
    index = advice.past_tasks.index
    reader.read(project=project, task=tasks[-1])
    kinds = {
        "similar tasks alone": lambda number: index.similar(tasks[number], most=50),
        "for a task": lambda number: reader.read(project=project, task=tasks[number]),
    }
    clock = time.process_time_ns
    answers = {name: time_calls(read, count, clock=clock) for name, read in kinds.items()}
    print(json.dumps({name: latency.as_dict() for name, latency in answers.items()}))


if __name__ == "__main__":
    main()
