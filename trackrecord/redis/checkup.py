"""A check-up of Redis: whether it is open to strangers, and the rights of our user."""

import stat
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import redis

from trackrecord.settings.agent_settings import AgentSettings
from trackrecord.settings.server_urls import without_password

from .client import agent_client, client_without_credentials
from .problems import explain_redis_error
from .rights import refusals
from .roles import AGENT, dangerous_samples
from .versions import VULNERABILITY, ServerVersion, version_of_info

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
    """

    address: str
    answers: bool = False
    user: str | None = None
    version: ServerVersion | None = None
    needs_password: bool | None = None
    advice: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return remarks that need no action at once."""
        if self.version is None or not self.version.is_vulnerable:
            return ()
        line = (
            f"{self.version} has known vulnerabilities ({VULNERABILITY}), unless its distribution "
            "mended them: whoever gets in can use them; install a newer one"
        )
        return (line,)


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
                advice=(
                    *_openness(settings, needs_password=needs_password),
                    *_rights(client, settings, user or "in use"),
                ),
            )
    except (redis.RedisError, OSError) as error:
        explained = explain_redis_error(error, settings)
        return found._replace(advice=(str(explained or f"Redis refuses: {error}"),))


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
        answer: Any = client.acl_whoami()
    except redis.ResponseError:
        return None
    return answer.decode(errors="replace") if isinstance(answer, bytes) else str(answer)


def _version(client: redis.Redis) -> ServerVersion | None:
    try:
        info: Any = client.info("server")
    except redis.ResponseError:
        return None
    return version_of_info(info)


def _rights(client: redis.Redis, settings: AgentSettings, user: str) -> list[str]:
    prefix, advice = settings.redis_prefix, []
    refused = refusals(client, AGENT.samples(prefix))
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
    dangerous = dangerous_samples(prefix)
    allowed = sorted(dangerous.keys() - refusals(client, dangerous).keys())
    if allowed:
        names = ", ".join(name.upper().replace("|", " ") for name in allowed)
        advice.append(
            f"the Redis user {user} may take the server over ({names}): give agents and workers "
            f"users of their own ({_SHIPPED})"
        )
    return advice
