"""A check-up of Redis: whether it is open to strangers, and the rights of our user."""

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import redis

from trackrecord.settings.agent_settings import AgentSettings
from trackrecord.settings.server_urls import without_password

from .client import agent_client, client_without_credentials
from .keys import Keys
from .problems import explain_redis_error
from .roles import AGENT, Command, dangerous_samples
from .shards import all_shards, server_of, servers_of
from .versions import ServerVersion, version_of_info

# Since then whoever wrote to a stream has probably been started anew.
_LATELY_S = 86_400.0
_SHIPPED = "deploy/redis/users.acl has one for each role; see docs/running.md"


class RedisCheckup(NamedTuple):
    """The result of a check-up of Redis.

    Attributes:
        address: the URL of the server, without a password.
        answers: whether it lets us in.
        user: the Redis user that we are; None where it does not say.
        version: the server's version; None where it does not say.
        needs_password: whether it refuses a client without a password; None if unknown.
        advice: what to do, one line each; empty if all is well.
        differs: whether others divide their keys into another number of shards.
    """

    address: str
    answers: bool = False
    user: str | None = None
    version: ServerVersion | None = None
    needs_password: bool | None = None
    advice: tuple[str, ...] = ()
    differs: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """Return remarks that need no action at once."""
        lines = []
        if self.version is not None and self.version.is_vulnerable:
            lines.append(
                f"{self.version} has known vulnerabilities, unless its distribution mended them: "
                "whoever gets in can use them; install a newer one"
            )
        if self.differs:
            lines.append(
                "Redis has streams of another number of shards than the setting stream_shards "
                "says here: agents that are to read what workers learnt must have the same number"
            )
        return tuple(lines)


def check_up_redis(settings: AgentSettings) -> RedisCheckup:
    """Look at the Redis of an agent with these settings; nothing in it is changed."""
    found = RedisCheckup(without_password(settings.effective_redis_url))
    try:
        with agent_client(settings) as client:
            client.ping()
            needs_password = _needs_password(settings)
            user = _user(client)
            return found._replace(
                answers=True,
                user=user,
                version=_version(client),
                needs_password=needs_password,
                differs=_shards_differ(client, settings.keys),
                advice=(
                    *_openness(settings, needs_password=needs_password),
                    *_rights(client, settings, user or "in use"),
                ),
            )
    except (redis.RedisError, OSError) as error:
        explained = explain_redis_error(error, settings)
        return found._replace(advice=(str(explained or f"Redis refuses: {error}"),))


def _shards_differ(client: redis.Redis, keys: Keys) -> bool:
    """Return whether others write to other streams than those that workers make for these keys."""
    try:
        found = [shard for shard in keys.shards if client.exists(shard.outcomes)]
        strays = all_shards(client, keys)[len(keys.shards) :]
        return (
            any(_is_in_use(client, shard.outcomes) for shard in strays)
            or 0 < len(found) < len(keys.shards)
        )  # fmt: skip
    except redis.ResponseError:  # this user may not look; its rights are spoken of
        return False


def _is_in_use(client: redis.Redis, stream: str) -> bool:
    """Return whether workers wait for a stream's first entry, or its last one is not long ago.

    A stream that was emptied stays in Redis.
    """
    server = server_of(client, stream)
    if not server.exists(stream):
        return False
    about: Any = server.xinfo_stream(stream)
    now_s: Any = server.time()
    written_ms = int(about["last-generated-id"].partition(b"-")[0])
    return not written_ms or bool(now_s[0] - written_ms / 1000 < _LATELY_S)


def _needs_password(settings: AgentSettings) -> bool:
    with client_without_credentials(settings) as stranger:
        try:
            stranger.ping()
        except (redis.AuthenticationError, redis.exceptions.NoPermissionError):
            return True
    return False


def _openness(settings: AgentSettings, *, needs_password: bool) -> tuple[str, ...]:
    if needs_password or _only_the_owner_opens(settings.effective_redis_url):
        return ()
    return (
        (
            "Redis lets in clients without a password: whoever reaches it can read and change "
            f"everything in it; give it users with passwords ({_SHIPPED})"
        ),
    )


def _only_the_owner_opens(url: str) -> bool:
    """Return whether a URL names a socket that others cannot open."""
    parts = urlsplit(url)
    if parts.scheme != "unix":
        return False
    try:
        return not Path(unquote(parts.path)).stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    except OSError:
        return False


def _user(client: redis.Redis) -> str | None:
    try:
        answer: Any = servers_of(client)[0].acl_whoami()
    except redis.ResponseError:
        return None
    return answer.decode(errors="replace") if isinstance(answer, bytes) else str(answer)


def _version(client: redis.Redis) -> ServerVersion | None:
    try:
        info: Any = servers_of(client)[0].info("server")
    except redis.ResponseError:
        return None
    return version_of_info(info)


def _rights(client: redis.Redis, settings: AgentSettings, user: str) -> list[str]:
    prefix, advice = settings.redis_prefix, []
    in_shard = settings.keys.shards[0].prefix
    refused = refusals(client, AGENT.samples(in_shard))
    lacking = {
        name: error
        for name, error in refused.items()
        if isinstance(error, redis.exceptions.NoPermissionError)
    }
    if any(" key" in str(error) for error in lacking.values()):
        advice.append(
            f"the Redis user {user} may not use the keys of agents: {AGENT.rules(prefix)}"
        )
    elif lacking:
        names = " ".join(f"+{name}" for name in sorted(lacking))
        advice.append(f"the Redis user {user} lacks commands that an agent needs: {names}")
    elif refused:
        name, reason = next(iter(refused.items()))
        advice.append(f"Redis refuses {name.upper()}: {reason}")
    dangerous = dangerous_samples(in_shard)
    allowed = sorted(dangerous.keys() - refusals(client, dangerous).keys())
    if allowed:
        names = ", ".join(name.upper().replace("|", " ") for name in allowed)
        advice.append(
            f"the Redis user {user} may take the server over ({names}): give agents and workers "
            f"users of their own ({_SHIPPED})"
        )
    return advice


def refusals(
    client: redis.Redis, commands: Mapping[str, Command]
) -> dict[str, redis.ResponseError]:
    """Return how Redis refuses each command that it does not accept from this user.

    The commands are queued in a transaction that is discarded, so that none is carried out. Without
    a server that queues them, none is sent. Of a cluster each master is asked.

    Args:
        client: a client of the user in question.
        commands: the commands, as they are sent, by name.

    Raises:
        redis.RedisError: the server cannot be reached, or does not queue commands.
    """
    refused: dict[str, redis.ResponseError] = {}
    for server in servers_of(client):
        refused |= _refusals_of(server, commands)
    return refused


def _refusals_of(
    server: redis.Redis, commands: Mapping[str, Command]
) -> dict[str, redis.ResponseError]:
    refused = {}
    with server.client() as single:  # type: ignore[no-untyped-call] # redis-py has no type for it
        connection: Any = single.connection
        _require_answer(connection, "MULTI", b"OK")
        try:
            _require_answer(connection, "PING", b"QUEUED")
            for name, command in commands.items():
                connection.send_command(*command, check_health=False)
                try:
                    answer = connection.read_response()
                except redis.exceptions.MovedError:
                    pass  # the user may send it; another node has the key
                except redis.ResponseError as error:
                    refused[name] = error
                else:
                    _require(answer, b"QUEUED")
            _require_answer(connection, "DISCARD", b"OK")
        except BaseException:
            # What is queued is gone with the connection.
            connection.disconnect()
            raise
    return refused


def _require_answer(connection: Any, command: str, answer: bytes) -> None:  # noqa: ANN401 - redis-py has no type for it
    connection.send_command(command, check_health=False)
    _require(connection.read_response(), answer)


def _require(answer: object, expected: bytes) -> None:
    if answer not in (expected, expected.decode()):
        message = "the server does not queue the commands of a transaction"
        raise redis.ResponseError(message)
