"""Every setting, validated once when the settings are built.

Settings come from the environment (`TRACKRECORD_…`, `TRACKRECORD_SCORING__FAST_MS=…` for the
numbers of the rules), then from `trackrecord.toml`, then from the defaults below. This is the only
module that looks at the environment.
"""

import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from platformdirs import user_data_path
from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from .artifacts.rules import ArtifactRules
from .embeddings.endpoint import Endpoint
from .errors import SettingsError
from .inflight.errors import ErrorRules
from .learning.benchmark.gate import BenchmarkRules
from .learning.competences.rules import CompetenceRules
from .learning.criteria.weights import CriteriaRules
from .learning.memories.rules import MemoryRules
from .learning.numbers.decay import DecayRules
from .learning.outcomes.scoring import ScoringRules
from .learning.patterns.antipatterns import AntiPatternRules
from .learning.patterns.maturity import MaturityRules
from .learning.patterns.texts import TextRules
from .learning.strategies.catalogue import STRATEGIES, Strategy
from .learning.strategies.identity import strategies_by_slug
from .learning.strategies.recogniser import MAX_CHARS
from .prompt.candidates.rules import ContextRules
from .redis_keys import Keys
from .wire.outcome import DEFAULT_PROJECT, MAX_BODY_BYTES

ENV_PREFIX = "TRACKRECORD_"
CONFIG_FILE = "trackrecord.toml"

Seconds = Annotated[float, Field(gt=0, le=86_400)]


def _absolute(path: Path) -> Path:
    return path.expanduser().absolute()


class Settings(BaseSettings):
    """The settings of one process; built once and handed down."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        toml_file=CONFIG_FILE,
    )

    home: Annotated[Path, AfterValidator(_absolute)] = Field(
        default_factory=lambda: user_data_path("trackrecord"),
        description="Folder of the database, the embedded Redis's data, the spool, the artifacts.",
    )
    project: str = Field(
        DEFAULT_PROJECT,
        min_length=1,
        max_length=128,
        description="Project of outcomes and questions that name none.",
    )
    redis_url: str | None = Field(
        None,
        repr=False,
        description="Redis server, `redis://…` or `unix://…`; unset: the embedded one of `home`.",
    )
    redis_prefix: str = Field(
        "trackrecord",
        pattern=r"^[A-Za-z0-9_.-]{1,64}$",
        description="Prefix of every key in Redis.",
    )
    redis_connect_timeout_s: Seconds = Field(
        0.5, description="How long a producer or a reader waits for a connection."
    )
    redis_timeout_s: Seconds = Field(
        1.0, description="How long a producer or a reader waits for an answer."
    )
    database_url: str | None = Field(
        None,
        repr=False,
        description="`sqlite:///…` or `postgresql://…`; unset: `trackrecord.db` in `home`.",
    )
    database_timeout_s: Seconds = Field(
        5.0, description="How long a transaction waits for a lock before its batch waits instead."
    )
    max_body_bytes: int = Field(
        MAX_BODY_BYTES, ge=1024, le=64 * MAX_BODY_BYTES, description="Largest body of an outcome."
    )

    queue_max: int = Field(
        10_000, ge=1, description="Outcomes that wait in a producer's memory at most."
    )
    queue_max_bytes: int = Field(
        64 * 1024 * 1024, ge=1024, description="Bytes that wait in a producer's memory at most."
    )
    publish_batch: int = Field(500, ge=1, description="Outcomes per pipelined write to Redis.")
    flush_timeout_s: Seconds = Field(
        2.0, description="How long a process that exits waits for Redis before it spools the rest."
    )
    retry_after_s: Seconds = Field(
        1.0, description="Pause before a producer or a reader tries an unreachable Redis again."
    )
    spool_max_bytes: int = Field(
        256 * 1024 * 1024, ge=0, description="Size of the whole spool; beyond it outcomes drop."
    )

    batch_size: int = Field(
        2000, ge=1, le=10_000, description="Outcomes per transaction of a worker, at most."
    )
    batch_bytes: int = Field(
        64 * MAX_BODY_BYTES,
        ge=1024 * 1024,
        description="What the bodies of such a batch are meant to stay within.",
    )
    drain_slice_s: Seconds = Field(5.0, description="How long one drain task works at most.")
    drain_block_s: Seconds = Field(
        0.9, description="How long a drain waits on an empty stream before it ends."
    )
    claim_idle_s: Seconds = Field(
        30.0, description="After how long a silent worker's entries are taken over."
    )
    backoff_max_s: Seconds = Field(
        10.0, description="Longest pause between two tries of an unreachable database."
    )
    refresh_every_s: Seconds = Field(
        0.25, description="Shortest time between two refreshes of one project's rankings."
    )
    rankings_max_age_s: Seconds = Field(
        900.0, description="Age at which cached rankings are computed anew without new outcomes."
    )
    rankings_ttl_s: int = Field(
        7 * 86_400, ge=60, description="After how long unrefreshed rankings leave Redis."
    )
    rankings_max: int = Field(
        1000, ge=1, le=10_000, description="Patterns, and competences, in the cache per project."
    )
    worker_concurrency: int = Field(2, ge=1, le=64, description="Processes of one worker.")

    consolidation_crontab: str = Field(
        "0 3 * * *", description="When consolidation runs: minute hour day month weekday."
    )
    timezone: str = Field("UTC", description="Time zone of the crontab.")

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest level that is logged."
    )

    strategies: tuple[Strategy, ...] = Field(
        (),
        description="Strategies of one's own, recognised beside the twelve: a JSON array of "
        "objects with `name_en`, `name_zh`, `phrases`, `splits_by`, `slug`.",
    )

    description_max_chars: int = Field(
        MAX_CHARS,
        ge=256,
        le=64 * MAX_BODY_BYTES,
        description="Characters of a description in which strategies are looked for.",
    )

    scoring: ScoringRules = ScoringRules()
    criteria: CriteriaRules = CriteriaRules()
    decay: DecayRules = DecayRules()
    maturity: MaturityRules = MaturityRules()
    antipatterns: AntiPatternRules = AntiPatternRules()
    competence: CompetenceRules = CompetenceRules()
    errors: ErrorRules = ErrorRules()
    texts: TextRules = TextRules()
    embeddings: Endpoint = Endpoint()
    memories: MemoryRules = MemoryRules()
    context: ContextRules = ContextRules()
    artifacts: ArtifactRules = ArtifactRules()
    benchmark: BenchmarkRules = BenchmarkRules()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is given outright, then the environment, then the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @model_validator(mode="after")
    def _check_urls(self) -> Self:
        if self.redis_url is not None and not self.redis_url.startswith(
            ("redis://", "rediss://", "unix://")
        ):
            message = "redis_url must begin with redis://, rediss:// or unix://"
            raise ValueError(message)
        if self.database_url is not None and not self.database_url.startswith(
            ("sqlite:///", "postgresql://", "postgresql+psycopg://", "postgres://")
        ):
            message = "database_url must begin with sqlite:/// or postgresql://"
            raise ValueError(message)
        return self

    @field_validator("criteria", mode="before")
    @classmethod
    def _read_names(cls, given: object) -> object:
        """A variable's text is JSON, here as for every other list."""
        if isinstance(given, dict) and isinstance(names := given.get("defaults"), str):
            try:
                return {**given, "defaults": json.loads(names)}
            except json.JSONDecodeError:
                message = "defaults must be a JSON array of names"
                raise ValueError(message) from None
        return given

    @field_validator("strategies")
    @classmethod
    def _check_strategies(cls, own: tuple[Strategy, ...]) -> tuple[Strategy, ...]:
        known = strategies_by_slug(STRATEGIES)
        for strategy in own:
            names = strategies_by_slug((strategy,))
            if taken := sorted(names.keys() & known.keys()):
                message = f"there is another strategy of the name {taken[0]!r}"
                raise ValueError(message)
            known |= names
        return own

    @field_validator("timezone")
    @classmethod
    def _check_timezone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ValueError, OSError, ZoneInfoNotFoundError):
            message = f"there is no time zone {name!r}; name one as Europe/Berlin or UTC"
            raise ValueError(message) from None
        return name

    @property
    def keys(self) -> Keys:
        """The names of the Redis keys."""
        return Keys(self.redis_prefix)

    @property
    def spool_dir(self) -> Path:
        """The folder of the spool."""
        return self.home / "spool"

    @property
    def embedded_redis_socket(self) -> Path:
        """Where the embedded Redis of this home listens."""
        return self.home / "redis.sock"

    @property
    def effective_redis_url(self) -> str:
        """The Redis server to use: the configured one, else the embedded one's socket."""
        return self.redis_url or f"unix://{quote(str(self.embedded_redis_socket))}"

    @property
    def effective_database_url(self) -> str:
        """The database to use, in the form SQLAlchemy reads."""
        if self.database_url is None:
            return f"sqlite:///{self.home / 'trackrecord.db'}"
        for scheme in ("postgresql://", "postgres://"):
            if self.database_url.startswith(scheme):
                return "postgresql+psycopg://" + self.database_url.removeprefix(scheme)
        return self.database_url

    def as_environment(self) -> dict[str, str]:
        """The variables that give a child process the same settings."""
        variables = {}
        for name, value in self.model_dump(mode="json", exclude_unset=True).items():
            if value is not None:
                text = json.dumps(value) if isinstance(value, (dict, list)) else str(value)
                variables[ENV_PREFIX + name.upper()] = text
        # A child may run in another folder or as another user: a home must not move.
        variables[ENV_PREFIX + "HOME"] = str(self.home)
        return variables


def load_settings(**given: Any) -> Settings:  # noqa: ANN401 - each setting has a type of its own
    """Build the settings, or say in one line which one is wrong.

    Raises:
        SettingsError: a setting is unknown, malformed, or does not fit with another one.
    """
    unknown = [name for name in os.environ if name.startswith(ENV_PREFIX) and not _is_known(name)]
    if unknown:
        message = f"there is no setting {unknown[0]}; docs/settings.md lists them all"
        raise SettingsError(message)
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "settings"
        reason = first["msg"].removeprefix("Value error, ")
        message = f"setting {where}: {reason}"
        raise SettingsError(message) from None
    except ValueError as error:  # a file that is no TOML, a value that is no JSON
        message = f"settings cannot be read: {error}"
        raise SettingsError(message) from None


def _is_known(variable: str) -> bool:
    name, _, number = variable.removeprefix(ENV_PREFIX).lower().partition("__")
    field = Settings.model_fields.get(name)
    if field is None:
        return False
    rules = getattr(field.default, "__dataclass_fields__", None)
    return not number if rules is None else not number or number in rules
