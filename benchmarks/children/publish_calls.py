"""Calls that hand an outcome on, timed one by one in a fresh process; prints JSON.

The first argument says which call, the second how many, the third Redis's URL where it matters.
"""

import json
import os
import queue
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.harness.timing import Latency, time_calls

# 10,000 a second at most: far above what an agent reports, far below what overflows the queue.
# Bursts long enough that the first call after a pause, timed on its own, is far from the 99th
# percentile: it says more about the machine's sleep than about the call.
_BURST = 1_000
_PAUSE_S = 0.1
_DESCRIPTION = "Split by component, then run the whole suite once more."


def main() -> None:
    """Time the call that the command line names."""
    kind, count, *rest = sys.argv[1:]
    result: dict[str, Any] = _KINDS[kind](int(count), *rest)
    print(json.dumps(result))


def _publish(count: int) -> dict[str, Any]:
    import trackrecord

    def call(number: int) -> None:
        trackrecord.publish(
            task_id=f"task-{number}",
            success=True,
            duration_ms=81_000,
            error_count=0,
            retry_count=1,
            description=_DESCRIPTION,
        )

    # The first outcome starts the thread that writes, and imports what it needs.
    call(0)
    trackrecord.flush(5.0)
    latency = _paced(call, count)
    trackrecord.flush(30.0)
    return {**latency.as_dict(), "stats": vars(trackrecord.stats())}


def _publish_in_child(count: int) -> dict[str, Any]:
    """Run `_publish` in a forked child, which writes each outcome to disk before it returns."""
    import trackrecord  # noqa: F401 - what is imported after a fork does not know of it

    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, json.dumps(_publish(count)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        result: dict[str, Any] = json.load(pipe)
    os.waitpid(child, 0)
    return result


def _put_nowait(count: int) -> dict[str, Any]:
    waiting: queue.Queue[int] = queue.Queue(count)
    return _paced(waiting.put_nowait, count).as_dict()


def _xadd(count: int, url: str) -> dict[str, Any]:
    import redis

    client = redis.Redis.from_url(url)
    body = json.dumps({"task_id": "task-1", "success": True, "description": _DESCRIPTION})
    return time_calls(lambda _: client.xadd("bare", {"v": 1, "body": body}), count).as_dict()


def _delay(count: int, url: str) -> dict[str, Any]:
    from benchmarks.baselines.idle_tasks import app, nothing

    app.conf.update(broker_url=url)
    body = json.dumps({"task_id": "task-1", "success": True, "description": _DESCRIPTION})
    nothing.delay(body)
    return time_calls(lambda _: nothing.delay(body), count).as_dict()


def _paced(call: Callable[[int], object], count: int) -> Latency:
    return time_calls(call, count, burst=_BURST, pause_s=_PAUSE_S)


_KINDS: dict[str, Callable[..., dict[str, Any]]] = {
    "publish": _publish,
    "publish_in_child": _publish_in_child,
    "put_nowait": _put_nowait,
    "xadd": _xadd,
    "delay": _delay,
}


if __name__ == "__main__":
    main()
