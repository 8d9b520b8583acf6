"""The bare path from one Redis connection to another."""

import threading
import time

import redis

_STREAM = "ping-pong"
_BLOCK_MS = 5_000
# Long enough for the reader to be waiting already.
_HEAD_START_S = 0.002


def ping_pong(client: redis.Redis) -> float:
    """Return the seconds from before an XADD until a blocked XREAD has the entry."""
    arrived: list[float] = []

    def read() -> None:
        client.xread({_STREAM: "$"}, count=1, block=_BLOCK_MS)
        arrived.append(time.perf_counter())

    reader = threading.Thread(target=read)
    reader.start()
    time.sleep(_HEAD_START_S)
    started = time.perf_counter()
    client.xadd(_STREAM, {"v": "1"})
    reader.join()
    return arrived[0] - started
