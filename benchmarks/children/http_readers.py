"""Many readers of one path at the same time, each on a connection that it keeps; prints JSON.

Arguments: the host, the port, how many readers, the pause in seconds between an answer and the next
question, the path, and the value of the header `Authorization`. A line is printed when all of them
read, and they read until standard input ends.
"""

import asyncio
import json
import random
import sys
import time
from dataclasses import dataclass, field

from benchmarks.harness.percentiles import percentile

_CONNECTING_S = 5.0


@dataclass
class _Read:
    took: list[float] = field(default_factory=list)
    failed: int = 0
    stopped: bool = False


async def _reader(read: _Read, host: str, port: int, head: str, pause_s: float) -> None:
    await asyncio.sleep(random.uniform(0, _CONNECTING_S))
    try:
        reader, writer = await asyncio.open_connection(host, port)
        asked = f"{head}\r\nHost: {host}:{port}\r\n\r\n".encode()
        while not read.stopped:
            began = time.perf_counter()
            writer.write(asked)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
            read.took.append(time.perf_counter() - began)
            read.failed += not answer.startswith(b"HTTP/1.1 200")
            await asyncio.sleep(pause_s)
        writer.close()
    except (OSError, ValueError, asyncio.IncompleteReadError):
        read.failed += 1


async def _main() -> None:
    host, port, count, pause_s, path, credential = sys.argv[1:7]
    head = f"GET {path} HTTP/1.1\r\nAuthorization: {credential}"
    read = _Read()
    readers = [
        asyncio.create_task(_reader(read, host, int(port), head, float(pause_s)))
        for _ in range(int(count))
    ]
    await asyncio.sleep(_CONNECTING_S + float(pause_s))
    read.took.clear()
    began = time.perf_counter()
    print("reading", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    took, elapsed = list(read.took), time.perf_counter() - began
    read.stopped = True
    print(
        json.dumps(
            {
                "rate": len(took) / elapsed,
                "p50_ms": percentile(took, 0.50) * 1000,
                "p99_ms": percentile(took, 0.99) * 1000,
                "failed": read.failed,
            }
        ),
        flush=True,
    )
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(_main())
