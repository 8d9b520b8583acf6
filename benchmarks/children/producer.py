"""A producer in a process of its own: makes outcomes, waits for a line, sends them.

Prints one line when it is ready, and one JSON document when Redis has acknowledged everything.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable

import redis

from benchmarks.workloads.workload import Planted, bodies, project_names, small_bodies
from trackrecord.redis.client import worker_client
from trackrecord.redis.keys import Keys
from trackrecord.settings.settings import load_settings
from trackrecord_producers.delivery.stream_writer import batches, send

# A slow producer sends as many outcomes as are due, this often.
_EVERY_S = 0.05


def main() -> None:
    """Send the number of outcomes given on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--small", action="store_true", help="small outcomes, made on the way")
    parser.add_argument("--large", action="store_true", help="of thousands of patterns")
    parser.add_argument(
        "--per-second", type=int, default=0, help="how fast, and made on the way; 0: at once"
    )
    parser.add_argument("--projects", type=int, default=3, help="how many, unless they are small")
    arguments = parser.parse_args()
    projects = project_names(arguments.projects)
    planted = Planted()
    made: Iterable[bytes] = bodies(
        arguments.count,
        seed=arguments.seed,
        planted=planted,
        projects=projects,
        is_large=arguments.large,
    )
    if arguments.small:
        made = small_bodies(arguments.count, seed=arguments.seed)
    elif not arguments.per_second:
        made = list(made)
    settings = load_settings()
    client = worker_client(settings)
    client.ping()
    print("ready", flush=True)
    sys.stdin.readline()
    started = time.perf_counter()
    if arguments.per_second:
        _send_slowly(client, settings.keys, made, arguments.per_second)
    else:
        send(client, settings.keys, made)
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "planted": vars(planted)}), flush=True)


def _send_slowly(client: redis.Redis, keys: Keys, made: Iterable[bytes], per_second: int) -> None:
    due = time.perf_counter()
    for batch in batches(made, max(1, int(per_second * _EVERY_S))):
        send(client, keys, batch)
        due += _EVERY_S
        time.sleep(max(0.0, due - time.perf_counter()))


if __name__ == "__main__":
    main()
