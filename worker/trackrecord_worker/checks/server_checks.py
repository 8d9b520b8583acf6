"""Check that Redis and the database can do what workers need, before anything relies on them.

A server that is away may come back, so workers keep trying. A server with settings that lose
outcomes or forbid the commands of every batch is refused at the start, with one line.
"""

from contextlib import suppress
from typing import Any

import redis
from celery import Celery
from kombu.exceptions import OperationalError

from trackrecord.errors import ServerUnfit
from trackrecord.redis.checkup import refusals
from trackrecord.redis.client import agent_client, worker_client
from trackrecord.redis.problems import (
    REPLICA,
    cluster_problem,
    explain_redis_error,
    is_read_only,
)
from trackrecord.redis.roles import CHANNELS, LEARNER, WORKER
from trackrecord.redis.shards import is_cluster, servers_of
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.migrate import migrate, store_at

_Refusals = list[tuple[str, redis.ResponseError]]


def check_servers(settings: DaemonSettings) -> None:
    """Check Redis, then the database, and bring the database's tables up to date.

    Raises:
        ServerUnfit: a server is set up in a way that trackrecord cannot work with.
        ServerUnavailable: a server cannot be reached.
    """
    check_redis(settings)
    check_database(settings)


def check_redis(settings: DaemonSettings) -> None:
    """Check that Redis never evicts, and lets the worker's user do its work.

    Raises:
        ServerUnfit: it is not; the message says what to change.
        ServerUnavailable: it cannot be reached.
    """
    client = worker_client(settings)
    try:
        with agent_client(settings) as quick:  # one that hangs is said to hang at once
            quick.ping()
        _check_mode(client)
        _check_commands(client, settings)
    except (redis.RedisError, OSError) as error:
        explained = explain_redis_error(error, settings)
        if explained is None:
            raise
        raise explained from None
    finally:
        client.close()


def check_database(settings: DaemonSettings) -> None:
    """Check that the database can be used, and migrate it.

    Raises:
        StoreUnfit: it refuses to make the tables; the message says what to change.
        StoreUnavailable: it cannot be reached.
        SchemaTooNew: its schema is newer than this code.
    """
    url, timeout_s = settings.effective_database_url, settings.database_timeout_s
    with store_at(url, timeout_s=timeout_s, migrates=False) as engine:
        migrate(engine)


def check_channels(app: Celery) -> None:
    """Check that the broker's user may use the channels of Celery's remote control and events.

    Raises:
        ServerUnfit: it may not; the message says what to change.
    """
    with app.connection_for_write() as connection, suppress(OperationalError, redis.RedisError):
        # Attributes of kombu's Redis transport that are missing in the stubs.
        channel: Any = connection.default_channel
        with channel.client.pubsub() as listening:
            try:
                for name in CHANNELS:
                    listening.psubscribe(name)
                    listening.parse_response()
            except redis.exceptions.NoPermissionError:
                granted = WORKER.channel_rules(channel.global_keyprefix.removesuffix(":celery:"))
                message = f"the Redis user lacks channels: ACL SETUSER … {granted}"
                raise ServerUnfit(message) from None


def _check_mode(client: redis.Redis) -> None:
    try:
        servers: list[Any] = [server.info("all") for server in servers_of(client)]
    except redis.exceptions.NoPermissionError:
        return  # this user may not read the server's mode
    for info in servers:
        if info.get("cluster_enabled") and not is_cluster(client):
            raise cluster_problem()
        _check_policy(info)


def _check_policy(info: dict[str, Any]) -> None:
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        message = (
            f"this Redis evicts keys when its memory is full (maxmemory-policy {policy}), and "
            "outcomes with them: set it to noeviction (`redis-cli CONFIG SET maxmemory-policy "
            "noeviction`, and in its configuration), or name another server"
        )
        raise ServerUnfit(message)


def _check_commands(client: redis.Redis, settings: DaemonSettings) -> None:
    """Check that Redis takes each command that a worker needs, without carrying any out."""
    prefix = settings.keys.shards[0].prefix
    try:
        refused = list(refusals(client, LEARNER.samples(prefix)).items())
    except redis.OutOfMemoryError:
        # A full server queues nothing. Learning makes room, and is refused by name what it may not.
        return
    if any(is_read_only(error) for _, error in refused):
        raise ServerUnfit(REPLICA)
    _refuse_old(refused)
    _refuse_user(refused, settings)


def _refuse_old(said: _Refusals) -> None:
    for command, error in said:
        if "unknown command" in str(error):
            message = (
                f"this Redis does not know {command.upper()}: trackrecord needs Redis 6.2 or "
                "newer, with all of its commands"
            )
            raise ServerUnfit(message)


def _refuse_user(said: _Refusals, settings: DaemonSettings) -> None:
    refused = [
        (command, str(error))
        for command, error in said
        if isinstance(error, redis.exceptions.NoPermissionError)
    ]
    if not refused:
        return
    if any(" key" in reason for _, reason in refused):
        message = (
            f"the Redis user may not use keys that begin with {settings.redis_prefix}: - "
            f"grant them with ACL SETUSER … ~{settings.redis_prefix}:*"
        )
        raise ServerUnfit(message)
    names = " ".join(sorted(f"+{command}" for command, _ in refused))
    message = f"the Redis user lacks commands that a worker needs: ACL SETUSER … {names}"
    raise ServerUnfit(message)
