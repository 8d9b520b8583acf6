"""All settings: those of agents, and those that only the daemon and the command line use."""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Meta

from trackrecord.learning.advice.lessons.rules import LessonRules
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.criteria.weights import CriteriaRules
from trackrecord.learning.numbers.checks import Inner, require
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
from .setting_values import SettingCheck, read_values

_LONGEST = 36_500


@dataclass(frozen=True)
class RetentionSettings:
    """Numbers of days after which outcomes are removed, a whole day in UTC at a time.

    Attributes:
        bodies_days: after how many days the texts of an outcome are removed: prompts, arguments,
            results and errors of calls. What lessons and commands are counted from stays until
            outcomes_days.
        outcomes_days: after how many days an outcome is removed; what it counts for stays in the
            sums. If unset, outcomes are kept for ever.
    """

    bodies_days: int | None = None
    outcomes_days: int | None = None

    def __post_init__(self) -> None:
        for name in ("bodies_days", "outcomes_days"):
            days = getattr(self, name)
            require(
                days is None or 1 <= days <= _LONGEST,
                f"{name} must lie in 1..{_LONGEST}, not {days}",
            )


Tokens = Annotated[int, Meta(ge=0, le=2000)]


@dataclass(frozen=True)
class HookSettings:
    """The settings of hook answers, and of reading sessions.

    Attributes:
        inject: whether coding agents are handed what earlier runs taught.
        moment: whether a coding agent is told right after a call has failed what is known of it;
            with "record" it is only recorded what would have been told.
        session_tokens: budget, in tokens, of what an agent is handed when a session starts; 0 for
            nothing.
        prompt_tokens: budget, in tokens, of what an agent is handed with the first prompt of a
            session; 0 for nothing.
        settle_s: how long a session's log must stay unchanged before it is read; agents write it
            with a delay.
        settle_max_s: how long is waited for that at most.
        catch_up_s: how often the logs of installed agents are searched for sessions that ended
            without a hook.
    """

    inject: bool = True
    moment: Literal["true", "record", "false"] = "true"
    session_tokens: Tokens = 120
    prompt_tokens: Tokens = 400
    settle_s: Inner[float] = 0.5
    settle_max_s: Inner[float] = 10.0
    catch_up_s: Annotated[float, Meta(ge=1, le=86_400)] = 300.0


_MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class TraceRules:
    """The rules of the buffer of traces.

    Attributes:
        settle_s: how long a trace is waited for after its root ended: the other spans may come from
            other processes, in batches of their own.
        idle_s: how long a trace whose root has not come is waited for after its last span.
        keep_s: how long a trace is kept after its last span, for late spans, and for what goes on
            after a person's answer.
        max_traces: maximum number of traces that are kept.
        max_trace_bytes: maximum size of one trace; what goes beyond it is rejected.
        max_bytes: maximum size of all traces on disk. Beyond it exporters are asked to wait.
    """

    settle_s: Inner[float] = 3.0
    idle_s: Annotated[float, Meta(ge=0)] = 300.0
    keep_s: Inner[float] = 86_400.0
    max_traces: Inner[int] = 10_000
    max_trace_bytes: Inner[int] = 16 * _MIB
    max_bytes: Inner[int] = 256 * _MIB


_SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class HttpSettings:
    """The address of the HTTP server, and who may use it.

    Attributes:
        host: address to listen on. For an address that other machines can reach, a token must be
            made first: `token`, or one that `trackrecord token create` made.
        port: port to listen on; 0 for any free port.
        token: the server's own token, for everything in every project, in place of the one that
            it makes for itself; at least 16 characters.
        open_to_local_users: let every user and every program of this machine read and decide
            everything without a token. Only for a machine with one user.
        names: with `open_to_local_users`, further host names under which the server may be
            addressed without a token, for example `["host.docker.internal"]`.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 4318
    token: str | None = field(default=None, repr=False)
    open_to_local_users: bool = False
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(bool(self.host.strip()), "host must not be blank")
        require(
            self.token is None or len(self.token.strip()) >= _SHORTEST_TOKEN,
            f"token must have at least {_SHORTEST_TOKEN} characters",
        )
        require(
            self.token is None or not self.open_to_local_users,
            "open_to_local_users contradicts token: unset one of them",
        )


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
