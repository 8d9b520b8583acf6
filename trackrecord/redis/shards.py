"""The shards that there are: those of the settings, and those that others have written to.

The number of shards may be changed between two runs, or set differently for some processes. What
waits in a shard beyond those of the settings is found by looking for its streams.
"""

from typing import Any

import redis

from .keys import Keys


def is_cluster(client: redis.Redis) -> bool:
    """Return whether a client is one of a Redis Cluster, whose commands go to different nodes."""
    return hasattr(client, "get_primaries")


def servers_of(client: redis.Redis) -> list[redis.Redis]:
    """Return a client of each server that takes writes: of a cluster, each master's.

    Raises:
        redis.RedisError: no node of the cluster can be reached.
    """
    if not is_cluster(client):
        return [client]
    cluster: Any = client
    return [cluster.get_redis_connection(node) for node in cluster.get_primaries()]


def server_of(client: redis.Redis, key: str) -> redis.Redis:
    """Return a client of the server that has a key.

    Raises:
        redis.RedisError: no node of the cluster can be reached.
    """
    if not is_cluster(client):
        return client
    cluster: Any = client
    server: redis.Redis = cluster.get_redis_connection(cluster.get_node_from_key(key))
    return server


def look_for_masters(client: redis.Redis) -> None:
    """Read from a cluster which node has which slots, after one did not have its keys.

    Raises:
        redis.RedisError: no node of the cluster can be reached.
    """
    if is_cluster(client):
        cluster: Any = client
        cluster.look_for_masters()


def all_shards(client: redis.Redis, keys: Keys) -> tuple[Keys, ...]:
    """Return the shards of the settings, and the others in which there is a stream.

    Raises:
        redis.RedisError: Redis cannot be reached, or refuses its user.
    """
    return keys.shards + _strays(client, keys)


def _strays(client: redis.Redis, keys: Keys) -> tuple[Keys, ...]:
    possible = keys.possible_strays
    names = [(shard.outcomes, shard.dead) for shard in possible]
    if not is_cluster(client):
        flat: Any = [name for pair in names for name in pair]
        if not flat or not client.exists(*flat):
            return ()
    with client.pipeline(transaction=False) as pipe:
        for pair in names:
            pipe.exists(*pair)
        answers = pipe.execute()
    return tuple(shard for shard, found in zip(possible, answers, strict=True) if found)
