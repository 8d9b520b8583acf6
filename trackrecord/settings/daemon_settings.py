"""All settings: those of agents, and those that only the daemon and the command line use."""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Meta

from trackrecord.learning.advice.lessons.rules import LessonRules
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.criteria.weights import CriteriaRules
from trackrecord.learning.numbers.checks import Inner
from trackrecord.learning.numbers.decay import DecayRules
from trackrecord.learning.numbers.speakers import CapRules
from trackrecord.learning.outcomes.gate import BenchmarkRules
from trackrecord.learning.outcomes.scoring import ScoringRules
from trackrecord.learning.patterns.maturity import AntiPatternRules, MaturityRules
from trackrecord.learning.patterns.texts import TextRules
from trackrecord.learning.rules_bundle import Rules
from trackrecord.learning.strategies.catalogue import STRATEGIES, Strategy, strategies_by_slug

from .agent_settings import AgentSettings, Seconds, configured
from .capture_rules import CaptureRules
from .server_urls import checked_database_url, checked_redis_url, database_url_of
from .service_settings import HookSettings, HttpSettings, RetentionSettings, TraceRules
from .setting_values import SettingCheck, read_values


def _checked_strategies(own: tuple[Strategy, ...]) -> tuple[Strategy, ...]:
    known = strategies_by_slug(STRATEGIES)
    for strategy in own:
        names = strategies_by_slug((strategy,))
        if taken := sorted(names.keys() & known.keys()):
            message = f"two strategies have the name {taken[0]!r}: rename one of them"
            raise ValueError(message)
        known |= names
    return own


def _checked_timezone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        message = f"unknown time zone {name!r}: use a name such as Europe/Berlin or UTC"
        raise ValueError(message) from None
    return name


@dataclass(frozen=True, kw_only=True)
class DaemonSettings(AgentSettings):
    """The declaration of every setting; `settings.Settings` is built on it.

    Attributes:
        broker_url: URL of the Redis server of Celery's wake-ups, if it is not that of `redis_url`.
            Beside a Redis Cluster it must be set.
        database_url: URL of the database, `sqlite:///…` or `postgresql://…`. If unset,
            `trackrecord.db` in `home` is used.
        database_timeout_s: how long a transaction waits for a lock. After that its batch is tried
            again later.
        batch_size: maximum number of outcomes in one transaction of a worker.
        claim_idle_s: how long a worker must be silent before another worker takes over its entries.
        rankings_max_age_s: age at which cached rankings are computed again even without new
            outcomes. In a quiet project it is later, six hours at most.
        worker_concurrency: number of processes of one Celery worker. If unset, a worker has two,
            and that of `trackrecord up` two threads in one process with beat.
        consolidation_crontab: when consolidation runs, as a crontab: minute, hour, day of the
            month, month, day of the week.
        timezone: time zone of the crontab.
        log_level: lowest level of the messages that are logged.
        strategies: your own strategies, recognised in addition to the twelve built-in ones: a JSON
            array of objects with `name_en`, `name_zh`, `phrases`, `splits_by` and `slug`.
    """

    broker_url: Annotated[str | None, SettingCheck(checked_redis_url)] = field(
        default=None, repr=False
    )
    database_url: Annotated[str | None, SettingCheck(checked_database_url)] = field(
        default=None, repr=False
    )
    database_timeout_s: Seconds = 5.0
    batch_size: Annotated[int, Meta(ge=1, le=10_000)] = 2000
    # How long one drain task works, and how long it waits on an empty stream before it ends.
    drain_slice_s: Inner[float] = 10.0
    drain_block_s: Inner[float] = 10.0
    claim_idle_s: Seconds = 30.0
    # The longest pause before a worker tries an unreachable database again.
    backoff_max_s: Inner[float] = 10.0
    # The minimum time between two refreshes of the same project's rankings.
    refresh_every_s: Inner[float] = 0.25
    rankings_max_age_s: Seconds = 900.0
    # How long rankings stay in Redis when they are not refreshed.
    rankings_ttl_s: Inner[int] = 7 * 86_400
    worker_concurrency: Annotated[int, Meta(ge=1, le=64)] | None = None
    consolidation_crontab: str = "0 3 * * *"
    timezone: Annotated[str, SettingCheck(_checked_timezone)] = "UTC"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    strategies: Annotated[tuple[Strategy, ...], SettingCheck(_checked_strategies)] = ()
    scoring: ScoringRules = field(default=ScoringRules())
    criteria: CriteriaRules = field(default=CriteriaRules())
    decay: DecayRules = field(default=DecayRules())
    maturity: MaturityRules = field(default=MaturityRules())
    antipatterns: AntiPatternRules = field(default=AntiPatternRules())
    caps: CapRules = field(default=CapRules())
    competence: CompetenceRules = field(default=CompetenceRules())
    texts: TextRules = field(default=TextRules())
    lessons: LessonRules = field(default=LessonRules())
    benchmark: BenchmarkRules = field(default=BenchmarkRules())
    capture: CaptureRules = field(default=CaptureRules())
    traces: TraceRules = field(default=TraceRules())
    http: HttpSettings = field(default=HttpSettings())
    hooks: HookSettings = field(default=HookSettings())
    retention: RetentionSettings = field(default=RetentionSettings())

    @property
    def rules(self) -> Rules:
        """Return all rules of learning, and of reading what was learnt."""
        return Rules(**{each.name: getattr(self, each.name) for each in fields(Rules)})

    @property
    def beat_file(self) -> Path:
        """The file that beat writes to while it is at work."""
        return self.home / "celerybeat-schedule"

    @property
    def effective_database_url(self) -> str:
        """The database to use, in the form SQLAlchemy reads."""
        if self.database_url is None:
            return f"sqlite:///{self.home / 'trackrecord.db'}"
        return database_url_of(self.database_url)


def load_daemon_settings() -> DaemonSettings:
    """Read the settings that the daemon and the command line use, without pydantic.

    Commands that only read start in half the time so.

    Raises:
        SettingsError: a setting is unknown or malformed; the message is one line.
    """
    return DaemonSettings(**read_values(DaemonSettings, configured()))
