"""Reads of the rankings, timed one by one in a fresh process as an agent's is; prints JSON.

By processor time, but for what the public call costs beside reading.

The first argument says how many, the second of which project, the third for which task.
"""

import json
import sys
import time

from benchmarks.harness.timing import time_by_turns, time_calls
from benchmarks.workloads.vector_server import serving_vectors
from trackrecord.embeddings.endpoint import EmbeddingEndpoint
from trackrecord.prompt.reading import client as asking
from trackrecord.prompt.reading.cache import read_document
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.redis.client import agent_client
from trackrecord.settings.settings import load_settings
from trackrecord_producers.prompting import rankings_call
from trackrecord_producers.publishing.publish import flush
from trackrecord_worker.services import RecordVectors

_CONDITIONS = {"module": 3, "os": "linux"}
# The first vector has to come.
_PATIENT_S = 30.0


def main() -> None:
    """Time each kind of read."""
    count, project, task = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    settings = load_settings()
    client = agent_client(settings)
    reader = RankingsReader(settings)
    kinds = {
        "bare": lambda _: read_document(client, settings, project),
        "default budget": lambda _: reader.read(project=project),
        "for a task": lambda _: reader.read(project=project, task=task),
        "for a task, under conditions": lambda _: reader.read(
            project=project, task=task, conditions=_CONDITIONS
        ),
        "no limit": lambda _: reader.read(project=project, budget=None),
    }
    clock = time.process_time_ns
    took = {name: time_calls(read, count, clock=clock) for name, read in kinds.items()}
    with serving_vectors() as url:
        embeddings = EmbeddingEndpoint(url=url, prompt_timeout_s=_PATIENT_S)
        settings = load_settings(embeddings=embeddings)
        RecordVectors(client, settings).renew([project])
        by_meaning = RankingsReader(settings)
        answer = by_meaning.read(project=project, task=task)
        if answer.compared_by != "embeddings":
            message = f"the task was compared by {answer.compared_by}"
            raise RuntimeError(message)
        took["for a task, by its meaning"] = time_calls(
            lambda _: by_meaning.read(project=project, task=task), count, clock=clock
        )
    # What a process says first takes a thread and a connection, once.
    rankings_call.rankings(project=project, task=task)
    flush(30)
    took |= time_by_turns(
        {
            "nothing reported": lambda: asking.rankings(project=project, task=task),
            "memories handed out": lambda: rankings_call.rankings(project=project, task=task),
        },
        count,
    )
    print(json.dumps({name: latency.as_dict() for name, latency in took.items()}))


if __name__ == "__main__":
    main()
