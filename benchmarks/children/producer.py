"""A producer in a process of its own: makes outcomes, waits for a line, sends them.

Prints one line when it is ready, and one JSON document when Redis has acknowledged everything.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable

from benchmarks.workload import Planted, bodies, small_bodies
from trackrecord.redis_client import worker_client
from trackrecord.settings import load_settings
from trackrecord_producers.append import send


def main() -> None:
    """Send as many outcomes as the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--small", action="store_true", help="small outcomes, made on the way")
    arguments = parser.parse_args()
    planted = Planted()
    made: Iterable[bytes]
    if arguments.small:
        made = small_bodies(arguments.count, seed=arguments.seed)
    else:
        made = list(bodies(arguments.count, seed=arguments.seed, planted=planted))
    settings = load_settings()
    client = worker_client(settings)
    client.ping()
    print("ready", flush=True)
    sys.stdin.readline()
    started = time.perf_counter()
    send(client, settings.keys, made)
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "planted": vars(planted)}), flush=True)


if __name__ == "__main__":
    main()
