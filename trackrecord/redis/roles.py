"""The rights of Redis users by role, as ACL rules.

`deploy/redis/users.acl`, the users of the embedded server, the checks of workers and of
`trackrecord doctor` all follow from this module.
"""

from typing import Final, NamedTuple

Command = tuple[str, ...]

# What a client sends to open a connection, to learn who it is, and around a transaction; a
# cluster's client asks where keys are, and an agent may wait for replicas. Celery's transport
# watches keys when it brings back a wake-up that a killed worker had taken.
_CONNECT: Final = (
    "ping", "hello", "auth", "select", "client|setname", "acl|whoami",
    "multi", "exec", "discard", "watch", "unwatch", "cluster|slots", "command", "wait",
)  # fmt: skip

_STREAM: Final = "{prefix}:outcomes"
_KEY: Final = "{prefix}:probe"
_OF_AGENTS: Final = "{prefix}:in-flight:probe"


def _commands(written: str) -> dict[str, Command]:
    """Return commands with their arguments by name; words in capitals are keys."""
    stands_for = {"KEY": _KEY, "STREAM": _STREAM, "OWN": _OF_AGENTS}
    words = (each.split() for each in written.split(", "))
    return {name: tuple(stands_for.get(one, one) for one in more) for name, *more in words}


# Every command on data that any role uses, with arguments that Redis takes. They are queued and
# discarded, never carried out, so that real keys can stand here.
_READING: Final = _commands(
    "info, time, exists KEY, get KEY, getrange KEY 0 1, hexists KEY f, hget KEY f, "
    "hgetall KEY, hkeys KEY, hlen KEY, hmget KEY f, llen KEY, pttl KEY, smembers KEY, "
    "sscan KEY 0, strlen KEY, xinfo stream STREAM, xlen STREAM, xrange STREAM - +, "
    "xrevrange STREAM + -, zcard KEY, zrange KEY 0 1, zrangebyscore KEY 0 1, "
    "zrevrange KEY 0 1, zrevrangebyscore KEY 1 0, zscore KEY m"
)
_REPORTING: Final = _commands(
    "del OWN, eval return 0, expire OWN 1, hdel OWN f, hincrby OWN f 1, hset OWN f 1, "
    "hsetnx OWN f 1, pexpire OWN 1, sadd OWN m, srem OWN m, xadd STREAM * v 1, zadd OWN 1 m, "
    "zrem OWN m, zremrangebyscore OWN 0 1"
)
_WORKING: Final = _commands(
    "append KEY 1, brpop KEY 1, evalsha 00000000 0, lpush KEY 1, rpush KEY 1, "
    "script|load return, set KEY 1, unlink KEY, xack STREAM g 0-1, "
    "xautoclaim STREAM g c 0 0-0, xdel STREAM 0-1, xgroup DELCONSUMER STREAM g c, "
    "xsetid STREAM 0-1, xreadgroup GROUP g c STREAMS STREAM >, xtrim STREAM MINID 0"
)
# The channels of Celery's remote control and events, and what is done there.
CHANNELS: Final = ("celery.pidbox", "celeryev")
_CONTROLLED: Final = ("psubscribe", "publish", "punsubscribe", "script|exists")
# So that `trackrecord forget` can have Redis drop from its file what is forgotten.
_FORGETTING: Final[dict[str, Command]] = {"bgrewriteaof": ()}
_SAMPLES: Final = _READING | _REPORTING | _WORKING | _FORGETTING

# What no role but admin has: with these a client takes over the server or what it holds.
_DANGEROUS: Final = _commands(
    "acl|setuser probe, bgsave, config|set maxmemory-policy noeviction, debug SLEEP 0, "
    "flushall, migrate 127.0.0.1 1 KEY 0 1, module|load /probe, replicaof NO ONE, "
    "slaveof NO ONE"
)


class Role(NamedTuple):
    """The rights of a Redis user.

    Attributes:
        commands: the names of the commands, as ACL rules name them.
        keys: patterns of keys, with `{prefix}` for the setting `redis_prefix`. `%R~` is for
            reading alone, from Redis 7.0 on.
        channels: the names of channels, likewise.
        adds_to: keys that it may add to with XADD, and change in no other way, from Redis 7.0 on.
    """

    commands: tuple[str, ...]
    keys: tuple[str, ...]
    channels: tuple[str, ...] = ()
    adds_to: tuple[str, ...] = ()

    def rules(self, prefix: str) -> str:
        """Return its ACL rules: keys, channels and commands; the password comes before."""
        keys = (key.format(prefix=prefix) for key in self.keys)
        commands = (f"+{name}" for name in self.commands)
        channels = filter(None, ("resetchannels", self.channel_rules(prefix)))
        added = " ".join(f"~{key.format(prefix=prefix)}" for key in self.adds_to)
        selector = (f"(-@all +xadd {added})",) if added else ()
        return " ".join([*keys, *channels, "-@all", *commands, *selector])

    def channel_rules(self, prefix: str) -> str:
        """Return its ACL rules about channels."""
        return " ".join(channel.format(prefix=prefix) for channel in self.channels)

    def samples(self, prefix: str) -> dict[str, Command]:
        """Return its commands on data, by name, each as it could be sent."""
        return _commands_to_send(
            {name: _SAMPLES[name] for name in self.commands if name in _SAMPLES}, prefix
        )


def dangerous_samples(prefix: str) -> dict[str, Command]:
    """Return the commands that only an admin should have, by name, each as it could be sent."""
    return _commands_to_send(_DANGEROUS, prefix)


def _commands_to_send(samples: dict[str, Command], prefix: str) -> dict[str, Command]:
    return {
        name: (*name.upper().split("|"), *(word.format(prefix=prefix) for word in arguments))
        for name, arguments in samples.items()
    }


def _role(keys: tuple[str, ...], *groups: dict[str, Command]) -> Role:
    names = sorted(name for group in groups for name in group)
    return Role((*_CONNECT, *names), keys)


# What agents write to, of one shard; no wider pattern, which a project's name could fit.
_OF_SHARD: Final = ("in-flight:*", "task-vectors:*")
_SHARDS: Final = ("{prefix}", "{prefix}:{{[0-9]}}", "{prefix}:{{[0-9][0-9]}}")
AGENT: Final = _role(
    (*(f"~{shard}:{key}" for shard in _SHARDS for key in _OF_SHARD), "%R~{prefix}:*"),
    _READING,
    _REPORTING,
)._replace(adds_to=tuple(f"{shard}:outcomes" for shard in _SHARDS))
# What a worker cannot do without; `trackrecord forget`, which runs as one, needs one command more.
LEARNER: Final = _role(("~{prefix}:*",), _READING, _REPORTING, _WORKING)
WORKER: Final = Role(
    (*_role((), _READING, _REPORTING, _WORKING, _FORGETTING).commands, *_CONTROLLED),
    LEARNER.keys,
    tuple(f"&{{prefix}}:celery:{name}" for name in CHANNELS),
)
READER: Final = _role(("%R~{prefix}:*",), _READING)
ROLES: Final = {"agent": AGENT, "worker": WORKER, "reader": READER}
ADMIN_RULES: Final = "~* &* +@all"
# Agents, workers and commands of the person whose home the server is in. The command that forgets
# there takes the admin's password, which stands beside. It is the default user, who from Redis 7.0
# on needs the right to every command of the append-only file: what stands in a transaction there
# is left out without it when the server starts again, entries that are pending among it.
EMBEDDED_RULES: Final = " ".join(
    ["~*", "allchannels", "+@all", "-@admin", "-@dangerous"]
    + [f"+{name}" for name in LEARNER.commands]
)
