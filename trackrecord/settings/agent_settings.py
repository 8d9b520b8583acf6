"""The settings that an agent's process uses, read without pydantic.

An agent that publishes and reads rankings pays for what is imported here. The daemon's settings
extend these: see `daemon_settings` and `settings`.
"""

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import quote

from msgspec import Meta
from platformdirs import user_data_path

from trackrecord.artifacts.rules import ArtifactRules
from trackrecord.embeddings.endpoint import EmbeddingEndpoint
from trackrecord.inflight.rules import ErrorRules
from trackrecord.learning.advice.rules import Explore
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.numbers.checks import Inner
from trackrecord.learning.text.project_names import DEFAULT_PROJECT, MAX_CHARS, checked_project
from trackrecord.learning.text.spelling import closest_id
from trackrecord.process.forking import not_while_forking
from trackrecord.prompt.question.rules import ContextRules
from trackrecord.redis.keys import MOST_SHARDS, Keys, keys_below
from trackrecord.wire.outcome import MAX_BODY_BYTES

from .gone_settings import remark
from .server_urls import checked_redis_url, is_cluster_url
from .setting_sources import KnownSettings, Sources, merged, read_sources
from .setting_values import SettingCheck, is_known, read_values, settings_of

_log = logging.getLogger("trackrecord")

Seconds = Annotated[float, Meta(gt=0, le=86_400)]
MIB = 1024 * 1024


def default_home() -> Path:
    """Return the user's data folder for trackrecord."""
    return user_data_path("trackrecord")


def _absolute_folders(paths: tuple[str, ...]) -> tuple[str, ...]:
    if not all(path.startswith(("/", "~")) or Path(path).is_absolute() for path in paths):
        message = "must be absolute paths of folders"
        raise ValueError(message)
    return paths


@dataclass(frozen=True, kw_only=True)
class AgentSettings:
    """The settings of an agent's process; read once and passed on.

    Attributes:
        home: folder for the database, the embedded Redis's data, the spool and the artifacts.
        trusted_folders: folders whose `trackrecord.toml` is read in full when a process starts
            there. Of any other working directory only `project` is read.
        project: project of outcomes and questions that do not name one.
        redis_url: URL of the Redis server, `redis://…`, `rediss://…` or `unix://…`; of the nodes of
            a cluster, `redis+cluster://host:port,host:port`; or of Sentinels,
            `redis+sentinel://host:port,host:port/master`. If unset, the embedded Redis in `home` is
            used.
        redis_prefix: prefix of every key in Redis.
        stream_shards: number of shards that the stream and the keys of projects are divided into,
            by project: the same for all agents and workers. More than one is for a Redis Cluster.
        redis_replicas: how many replicas must have an outcome before it counts as sent; until then
            it stays in the spool. With 0, a master that dies may lose the newest.
        redis_connect_timeout_s: how long an agent waits for a connection to Redis.
        redis_timeout_s: how long an agent waits for a reply from Redis.
        max_body_bytes: largest size of an outcome's body.
        queue_max: maximum number of outcomes that wait in an agent's memory.
        flush_timeout_s: how long an agent that exits waits for Redis before it writes the remaining
            outcomes to the spool.
        retry_after_s: how long an agent waits before it tries an unreachable Redis again.
        spool_folder: folder of the spool, on another disk than `home` for example. If unset,
            `spool` in `home` is used.
        spool_max_bytes: maximum size of the whole spool. Outcomes that do not fit are dropped.
        holdout: share of tasks that `rankings()` and `context()` give nothing, so that the effect
            of advice can be measured. `trackrecord effect --enable` and `--disable` go before it.
        explore: how much entries that are little known are tried: not at all (`off`), cautiously
            (`some`), or as often as each may be the best (`full`).
    """

    home: Path = field(default_factory=default_home)
    trusted_folders: Annotated[tuple[str, ...], SettingCheck(_absolute_folders)] = ()
    project: Annotated[
        str, Meta(min_length=1, max_length=MAX_CHARS), SettingCheck(checked_project)
    ] = DEFAULT_PROJECT
    redis_url: Annotated[str | None, SettingCheck(checked_redis_url)] = field(
        default=None, repr=False
    )
    redis_prefix: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}\Z")] = "trackrecord"
    stream_shards: Annotated[int, Meta(ge=1, le=MOST_SHARDS)] = 1
    redis_replicas: Annotated[int, Meta(ge=0, le=10)] = 0
    redis_connect_timeout_s: Seconds = 0.5
    redis_timeout_s: Seconds = 1.0
    max_body_bytes: Annotated[int, Meta(ge=1024, le=64 * MAX_BODY_BYTES)] = MAX_BODY_BYTES
    queue_max: Annotated[int, Meta(ge=1)] = 10_000
    # How many outcomes are in one pipelined write to Redis.
    publish_batch: Inner[int] = 500
    flush_timeout_s: Seconds = 2.0
    retry_after_s: Seconds = 1.0
    spool_folder: Path | None = None
    spool_max_bytes: Annotated[int, Meta(ge=0)] = 256 * MIB
    holdout: Annotated[float, Meta(ge=0, le=0.9)] = 0.0
    explore: Explore = "some"
    errors: ErrorRules = field(default=ErrorRules())
    memories: MemoryRules = field(default=MemoryRules())
    context: ContextRules = field(default=ContextRules())
    artifacts: ArtifactRules = field(default=ArtifactRules())
    embeddings: EmbeddingEndpoint = field(default=EmbeddingEndpoint())

    @property
    def keys(self) -> Keys:
        """The names of the Redis keys."""
        in_cluster = self.redis_url is not None and is_cluster_url(self.redis_url)
        return keys_below(self.redis_prefix, self.stream_shards, in_cluster=in_cluster)

    @property
    def spool_dir(self) -> Path:
        """The folder of the spool."""
        return self.spool_folder or self.home / "spool"

    @property
    def embedded_redis_socket(self) -> Path:
        """The socket of this home's embedded Redis."""
        return self.home / "redis.sock"

    @property
    def embedded_redis_folder(self) -> Path:
        """The folder of its data and passwords."""
        return self.home / "redis"

    @property
    def effective_redis_url(self) -> str:
        """The Redis server to use: the configured one, else the embedded one's socket."""
        return self.redis_url or f"unix://{quote(str(self.embedded_redis_socket))}"


def load_agent_settings(**given: Any) -> AgentSettings:  # noqa: ANN401 - each setting has a type of its own
    """Read the settings of an agent's process.

    Settings that only the daemon uses are checked by their names alone: a wrong value of theirs
    does not keep an agent from publishing.

    Args:
        **given: settings that override the environment and the files.

    Raises:
        SettingsError: a setting is unknown or malformed; the message is one line.
    """
    values = merged(configured(), given)
    return AgentSettings(**read_values(AgentSettings, values))


def configured() -> dict[str, Any]:
    """Return the settings from the environment and the files; log ignored ones once.

    Raises:
        SettingsError: the setting is unknown, or the user's own file cannot be read.
    """
    sources = _sources()
    if sources.ignored and sources.ignored not in _said:
        _said.add(sources.ignored)
        _log.warning("%s", sources.ignored)
    return sources.values


def gone_remark() -> str | None:
    """Return the line about settings that have gone and are still written; None if there are none.

    Raises:
        SettingsError: as `configured` does.
    """
    return remark(_sources().gone)


def _sources() -> Sources:
    return read_sources(KnownSettings(is_setting, nearest_setting))


def is_setting(name: str, number: str = "") -> bool:
    """Return whether there is such a setting, of agents or of the daemon."""
    if is_known(AgentSettings, name):
        return is_known(AgentSettings, name, number)
    if not number and name in DAEMONS_OWN:
        return True
    if number in DAEMONS_SERVICES.get(name, ()):
        return True
    with not_while_forking():
        from .daemon_settings import DaemonSettings

    return is_known(DaemonSettings, name, number)


def nearest_setting(name: str) -> str | None:
    """Return the setting that was probably meant, as "section.number"; None when none is close."""
    with not_while_forking():
        from .daemon_settings import DaemonSettings

    known: list[str] = []
    for setting, annotation in settings_of(DaemonSettings).items():
        numbers = settings_of(annotation.rules) if annotation.rules else ()
        known += (setting, *(f"{setting}.{number}" for number in numbers))
    return closest_id(name, known)


# The daemon's settings by name, without its rules: an agent often shares the daemon's environment,
# and need not import the declarations of what it does not use.
_DAEMONS_OWN: Final = (
    "batch_size broker_url claim_idle_s consolidation_crontab database_timeout_s database_url "
    "log_level rankings_max_age_s strategies timezone worker_concurrency"
)
DAEMONS_OWN: Final = frozenset(_DAEMONS_OWN.split())
# As above, for the sections that say what the daemon serves and reads.
_DAEMONS_SERVICES: Final = {
    "capture": "checks exclude programs projects prompts",
    "hooks": "catch_up_s inject moment prompt_tokens session_tokens",
    "http": "host names open_to_local_users port token",
    "traces": "idle_s",
}
DAEMONS_SERVICES: Final = {name: {*each.split()} for name, each in _DAEMONS_SERVICES.items()}
_said: set[str] = set()
