"""Redis servers that belong together, for tests: a cluster, or a master with Sentinels.

All of them listen on free ports of loopback, and end with the block that started them.
"""

import contextlib
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import redis

from trackrecord_worker.up.server_binary import find_servers

SLOTS = 16_384
# A node that is silent for so long has failed, for the others: nothing does on a busy machine,
# unless a test is about that.
NEVER_FAILED_MS = 600_000
FAILED_AFTER_MS = 1000


@dataclass
class Node:
    """A server process.

    Attributes:
        port: where it listens.
        folder: its own.
        command: what starts it.
        process: the process.
        client: a client of it alone.
    """

    port: int
    folder: Path
    command: list[str]
    process: subprocess.Popen[bytes] = field(init=False)
    client: redis.Redis = field(init=False)

    def __post_init__(self) -> None:
        self.client = redis.Redis(port=self.port, socket_timeout=10)
        self.start()

    def start(self) -> None:
        """Start it, for the first time or again, and wait until it answers."""
        self.process = subprocess.Popen(self.command, cwd=self.folder, stdout=subprocess.DEVNULL)
        wait_for(self.client.ping, self.process)

    @property
    def address(self) -> str:
        """Its host and port."""
        return f"127.0.0.1:{self.port}"

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()


@dataclass
class Nodes:
    """Servers that belong together.

    Attributes:
        folder: where each has a folder of its own.
        running: all that were started.
    """

    folder: Path
    running: list[Node] = field(default_factory=list)

    def start(self, *options: str, port: int = 0) -> Node:
        """Start a server, or a Sentinel, and wait until it answers."""
        port = port or free_port()
        folder = self.folder / str(port)
        folder.mkdir(exist_ok=True)
        command = [str(find_servers()[0].path), *options, "--port", str(port), "--dir", str(folder)]
        command += ["--bind", "127.0.0.1", "--save", "", "--logfile", "log"]
        node = Node(port, folder, command)
        self.running.append(node)
        return node

    def stop(self) -> None:
        """End all of them."""
        for node in self.running:
            node.client.close()
            if node.process.poll() is None:
                node.kill()


@contextlib.contextmanager
def redis_nodes(folder: Path) -> Iterator[Nodes]:
    """Servers that are ended with the block."""
    nodes = Nodes(folder)
    try:
        yield nodes
    finally:
        nodes.stop()


def wait_for(
    condition: Callable[[], Any],
    process: subprocess.Popen[bytes] | None = None,
    seconds: float = 60,
) -> None:
    """Wait until a condition holds; a server that is away does not fulfil it."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(redis.RedisError, OSError):
            if condition():
                return
        assert process is None or process.poll() is None, "the server has ended"
        assert time.monotonic() < deadline, "this did not happen in time"
        time.sleep(0.02)


def free_port() -> int:
    """A port that is free, as is the one of a cluster's bus, which is 10,000 higher."""
    for _ in range(1000):
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            port = int(one.getsockname()[1]) % 40_000 + 12_000
            with contextlib.suppress(OSError, OverflowError), socket.socket() as third:
                third.bind(("127.0.0.1", port))
                other.bind(("127.0.0.1", port + 10_000))
                return port
    pytest.fail("no two ports are free")


@contextlib.contextmanager
def redis_cluster(
    folder: Path, *, failed_after_ms: int = NEVER_FAILED_MS
) -> Iterator[list[tuple[Node, Node]]]:
    """A cluster of three masters, each with a replica that has all its data."""
    with redis_nodes(folder) as nodes:
        options = (
            "--cluster-enabled", "yes", "--cluster-node-timeout", str(FAILED_AFTER_MS),
            "--appendonly", "yes", "--repl-diskless-sync-delay", "0",
            # A replica takes over, however long it was stopped.
            "--cluster-replica-validity-factor", "0",
        )  # fmt: skip
        started = [nodes.start(*options) for _ in range(6)]
        masters, replicas = started[:3], started[3:]
        for number, master in enumerate(masters):
            slots = range(SLOTS * number // 3, SLOTS * (number + 1) // 3)
            master.client.execute_command("CLUSTER", "ADDSLOTS", *slots)
            master.client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for each in started[1:]:
            started[0].client.execute_command("CLUSTER", "MEET", "127.0.0.1", each.port)
        for each in started:
            wait_for(lambda each=each: len(_known_nodes(each)) == 6)
        for master, replica in zip(masters, replicas, strict=True):
            name: Any = master.client.execute_command("CLUSTER", "MYID")
            wait_for(lambda r=replica, n=name: r.client.execute_command("CLUSTER", "REPLICATE", n))
        for each in started:
            wait_for(lambda each=each: _is_whole(each))
        for replica in replicas:
            wait_for(lambda replica=replica: is_in_step(replica))
        for each in started:
            each.client.config_set("cluster-node-timeout", failed_after_ms)
        wait_for(lambda: all(_is_whole(each) for each in started))
        yield list(zip(masters, replicas, strict=True))


def _known_nodes(node: Node) -> list[str]:
    text: Any = node.client.execute_command("CLUSTER", "NODES")
    return [line for line in text.decode().splitlines() if "handshake" not in line]


def _is_whole(node: Node) -> bool:
    info: Any = node.client.execute_command("CLUSTER", "INFO")
    slots: Any = node.client.execute_command("CLUSTER", "SLOTS")
    return b"cluster_state:ok" in info and len(slots) == 3 and all(len(each) == 4 for each in slots)


def is_in_step(replica: Node) -> bool:
    """Return whether a replica has its master's data and takes what is new."""
    info: Any = replica.client.info("replication")
    return bool(info["role"] == "slave" and info["master_link_status"] == "up")


def is_master(node: Node) -> bool:
    """Return whether a server takes writes."""
    info: Any = node.client.info("replication")
    return bool(info["role"] == "master")


@contextlib.contextmanager
def sentinels(folder: Path, name: str) -> Iterator[tuple[Node, Node, list[Node]]]:
    """A master and its replica, and the three Sentinels that watch them."""
    with redis_nodes(folder) as nodes:
        kept = ("--appendonly", "yes", "--repl-diskless-sync-delay", "0")
        master = nodes.start(*kept)
        replica = nodes.start(*kept, "--replicaof", "127.0.0.1", str(master.port))
        wait_for(lambda: is_in_step(replica))
        watching = []
        for _ in range(3):
            port = free_port()
            file = folder / f"sentinel-{port}.conf"
            file.write_text(
                f"sentinel monitor {name} 127.0.0.1 {master.port} 2\n"
                f"sentinel down-after-milliseconds {name} {FAILED_AFTER_MS}\n"
                f"sentinel failover-timeout {name} 3000\n"
            )
            watching.append(nodes.start(str(file), "--sentinel", port=port))
        for each in watching:
            wait_for(lambda each=each: _sees_all(each, name))
        yield master, replica, watching


def _sees_all(sentinel: Node, name: str) -> bool:
    seen: Any = sentinel.client.sentinel_master(name)
    return bool(seen["num-slaves"] == 1 and seen["num-other-sentinels"] == 2)
