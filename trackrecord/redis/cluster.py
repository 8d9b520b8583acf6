"""The client of a Redis Cluster: redis-py's, with the habits of its client of a single server.

It connects on first use, and all its errors are `redis.RedisError`. A caller need not know which of
the two it has; see `shards` for the few who must.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
from redis.cluster import ClusterNode, ClusterPipeline, RedisCluster
from redis.exceptions import RedisClusterException

from trackrecord.process.forking import not_while_forking

_READ_GROUP = "XREADGROUP"


class LazyCluster(RedisCluster):
    """A client of a cluster that connects on first use.

    Args:
        addresses: of some of its nodes; the others are found out.
        url: that of a single server, with the user and the options.
        **options: as redis-py's client of a cluster takes them.
    """

    # redis-py's own initialiser connects. It runs when something is looked for that it sets.
    def __init__(
        self,
        addresses: tuple[tuple[str, int], ...],
        url: str,
        **options: Any,  # noqa: ANN401 - redis-py's own
    ) -> None:
        self._addresses = addresses
        self._url = url
        self._options = options
        self._is_open = self._is_opening = False
        self._opening = threading.RLock()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute of redis-py's client
        if name.startswith("__") or "_opening" not in vars(self):
            raise AttributeError(name)
        with self._opening:
            if not self._is_open and not self._is_opening:
                self._open()
        return object.__getattribute__(self, name)

    def _open(self) -> None:
        nodes = [
            ClusterNode(host, port)  # type: ignore[no-untyped-call] # redis-py has no type for it
            for host, port in self._addresses
        ]
        self._is_opening = True
        try:
            with not_while_forking(), _as_redis_errors():
                super().__init__(startup_nodes=nodes, url=self._url, **self._options)
            self._is_open = True
        finally:
            self._is_opening = False

    def look_for_masters(self) -> None:
        """Read from the nodes which of them has which slots."""
        with _as_redis_errors():
            self.nodes_manager.initialize()

    def close(self) -> None:
        """Close the connections, if there are any."""
        if self._is_open:
            super().close()

    def ping(self, **_options: object) -> bool:
        """Return whether each master answers."""
        return bool(super().ping(target_nodes=self.PRIMARIES))

    def execute_command(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as above
        """Send a command to the node that has its keys."""
        with _as_redis_errors():
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call] # redis-py has no type for it

    def determine_slot(self, *args: Any) -> Any:  # noqa: ANN401 - as above
        """Return the slot of a command's keys; redis-py would ask a node about the command."""
        if args[0] == _READ_GROUP and args[-3] == b"STREAMS":
            return self.keyslot(args[-2])  # type: ignore[no-untyped-call] # redis-py has no type for it
        return super().determine_slot(*args)

    def pipeline(self, transaction: Any = None, shard_hint: Any = None) -> ClusterPipeline:  # noqa: ANN401 - as above
        """Return a pipeline; the commands of a transaction must be on keys of one slot."""
        pipe: ClusterPipeline = super().pipeline(transaction, shard_hint)  # type: ignore[no-untyped-call] # redis-py has no type for it
        # redis-py makes it itself, from arguments that change with its versions.
        pipe.__class__ = _Pipeline
        return pipe


class _Pipeline(ClusterPipeline):
    """A pipeline with scripts, whose errors are `redis.RedisError`."""

    def eval(self, script: str, numkeys: int, *keys_and_args: Any) -> Any:  # type: ignore[override] # noqa: ANN401 - as above
        """Put a script into the pipeline."""
        return self.execute_command("EVAL", script, numkeys, *keys_and_args)  # type: ignore[no-untyped-call] # redis-py has no type for it

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Send all commands, and return their answers."""
        with _as_redis_errors():
            return super().execute(raise_on_error)


@contextmanager
def _as_redis_errors() -> Iterator[None]:
    try:
        yield
    except RedisClusterException as error:
        raise _known_cause(error) from error


def _known_cause(error: RedisClusterException) -> redis.RedisError:
    """Return why no node could be used; without a reason it may be over in a moment."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, redis.RedisError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return redis.ConnectionError(str(error))
