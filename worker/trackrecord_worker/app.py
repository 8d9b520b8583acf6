"""The Celery app, made from settings: `celery --app trackrecord_worker.app worker`.

Celery carries wake-ups only. A lost or doubled one changes nothing: the outcomes themselves travel
on the stream, and every task finds its own work.
"""

import os
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import redis
import structlog
from celery.signals import (
    setup_logging,
    task_postrun,
    task_prerun,
    worker_init,
    worker_process_shutdown,
    worker_shutdown,
)
from click import Option
from kombu import Queue
from structlog.contextvars import bind_contextvars, clear_contextvars

from trackrecord.errors import ServerUnavailable, ServerUnfit, SettingsError
from trackrecord.process.logs import configure_logs
from trackrecord.redis.client import EmbeddedCredentials, worker_client
from trackrecord.redis.problems import memory_is_full
from trackrecord.settings.server_urls import is_cluster_url, server_group
from trackrecord.settings.settings import Settings, load_settings

from .job_table import TASKS
from .process_services import TrackrecordApp
from .schedule import beat_schedule

_PAUSE_S = 1.0


def make_room(app: TrackrecordApp, settings: Settings) -> None:
    """Return when Redis takes entries again; one that is away is left to the worker's own tries."""
    if not _is_full(settings):
        return
    _log.warning("redis_full", effect="the worker learns what waits, and begins when there is room")
    app.stages.tell_ready()
    while _is_full(settings):
        # In a process of its own: the worker forks, and must have no connection open by then.
        pid = os.fork()
        if pid == 0:
            try:
                _learn(app)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        time.sleep(_PAUSE_S)
    _log.info("redis_has_room_again")


def _is_full(settings: Settings) -> bool:
    try:
        with worker_client(settings) as client:
            return memory_is_full(client)
    except (redis.RedisError, OSError):
        return False


def _learn(app: TrackrecordApp) -> None:
    try:
        app.stages.get().drain.run()
    except (ServerUnavailable, redis.RedisError) as error:
        _log.warning("server_unavailable", reason=str(error), effect="the worker keeps trying")


_log = structlog.get_logger(__name__)

_UNFIT = 3
# One of them may consolidate while the other one learns.
_PROCESSES = 2


def create_app(settings: Settings) -> TrackrecordApp:
    """Return the Celery app for these settings.

    Raises:
        SettingsError: the crontab or the time zone cannot be read.
    """
    app = TrackrecordApp(settings)
    # Named, not imported: beat needs neither.
    app.steps["worker"].add("trackrecord_worker.celery_steps.before_forks:BeforeForks")
    app.steps["worker"].add("trackrecord_worker.celery_steps.beat:EmbeddedBeat")
    app.steps["consumer"].add("trackrecord_worker.celery_steps.stalled:StallNotice")
    # For `trackrecord up`.
    app.user_options["worker"] |= {
        Option(["--beat-thread"], is_flag=True, help="Run beat as a thread of this worker."),
        Option(["--ready-fd"], type=int, help="A descriptor to write to when it begins to learn."),
    }
    broker, options = broker_of(settings)
    app.conf.update(
        broker_url=broker,
        broker_transport_options=options,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # A full Redis refuses to note who has taken a wake-up: no reason for a worker to end.
        broker_channel_error_retry=True,
        # Each task has a queue of its name: no wake-up waits behind those for other work.
        task_queues=[Queue(task) for task in TASKS],
        task_routes={task: {"queue": task} for task in TASKS},
        task_ignore_result=True,
        # Kombu would try again on a channel that it has closed; beat sends the next wake-up anyway.
        task_publish_retry=False,
        worker_prefetch_multiplier=1,
        worker_concurrency=settings.worker_concurrency or _PROCESSES,
        worker_hijack_root_logger=False,
        worker_send_task_events=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        timezone=settings.timezone,
        enable_utc=True,
        beat_schedule_filename=str(settings.beat_file),
        beat_schedule=beat_schedule(settings),
        beat_scheduler="trackrecord_worker.celery_steps.beat:SteadyScheduler",
        beat_max_loop_interval=5.0,
    )
    return app


def broker_of(settings: Settings) -> tuple[str, dict[str, Any]]:
    """Return the URL of the wake-ups' Redis in Kombu's form, and the transport's options.

    Raises:
        SettingsError: Kombu cannot use it, as a Redis Cluster.
    """
    url = settings.broker_url or settings.effective_redis_url
    if is_cluster_url(url):
        message = (
            "setting broker_url: a Redis Cluster cannot carry Celery's wake-ups: name a server "
            "for them; what it holds may be lost at any time"
        )
        raise SettingsError(message)
    if url.startswith("rediss+sentinel://"):
        message = (
            "setting broker_url: name a server for Celery's wake-ups that is not behind Sentinels "
            "with TLS; what it holds may be lost at any time"
        )
        raise SettingsError(message)
    if settings.broker_url is None and settings.redis_url is None:
        credentials = EmbeddedCredentials(settings.embedded_redis_folder).get_credentials()
        url = url.replace("://", f"://{':'.join(credentials)}@" if credentials else "://", 1)
    if url.startswith("unix://"):
        url = "redis+socket://" + url.removeprefix("unix://")
    # Its queues stay below our prefix, and an unreachable Redis is noticed. Nobody notes who has
    # taken a wake-up: a full Redis would refuse that, and one that is lost is sent again.
    options: dict[str, Any] = {
        "global_keyprefix": f"{settings.redis_prefix}:celery:",
        "socket_timeout": 30,
        "socket_connect_timeout": 5,
        "ack_emulation": False,
        # The names of channels are what Redis users are given: without the number of the database,
        # and not as patterns.
        "fanout_prefix": False,
        "fanout_patterns": False,
        # How long one look for wake-ups waits for one; a worker that is to end waits for it.
        "polling_interval": 2,
    }
    group = server_group(url)
    if group is not None:
        options |= {"master_name": group.service, "sentinel_kwargs": group.sentinels_user or None}
        user, at, _ = urlsplit(group.url).netloc.rpartition("@")
        database = parse_qs(urlsplit(group.url).query).get("db", ["0"])[0]
        url = ";".join(
            f"sentinel://{user}{at}{host}:{port}/{database}" for host, port in group.addresses
        )
    return url, options


@setup_logging.connect
def _configure_logs(**_signal: object) -> None:
    configure_logs(settings.log_level)


@worker_init.connect
def _refuse_unfit_servers(**_signal: object) -> None:
    """Refuse servers whose settings would lose outcomes; wait for those that are away."""
    from .checks.server_checks import check_servers

    configure_logs(settings.log_level)
    try:
        check_servers(settings)
    except ServerUnfit as error:
        _log.error("cannot_start", reason=str(error))
        raise SystemExit(_UNFIT) from None
    except ServerUnavailable as error:
        _log.warning("server_unavailable", reason=str(error), effect="the worker keeps trying")


@worker_init.connect
def _do_without_remote_control(sender: Any, **_signal: object) -> None:  # noqa: ANN401 - a worker
    """Switch off what the broker's user may not do: the worker would try again and again."""
    from .checks.server_checks import check_channels

    try:
        check_channels(app)
    except ServerUnfit as error:
        _log.warning("no_remote_control", reason=str(error), effect="`celery inspect` is silent")
        app.conf.worker_enable_remote_control = False
        sender.options["without_heartbeat"] = True


@worker_init.connect
def _make_room(**_signal: object) -> None:
    """Learn until Redis's memory has room: Celery cannot begin without."""
    make_room(app, settings)


@worker_process_shutdown.connect
@worker_shutdown.connect
def _close_services(**_signal: object) -> None:
    app.stages.close()


@task_prerun.connect
def _bind_task(task_id: str, **_signal: object) -> None:
    # Of interest to developers alone: a wake-up carries nothing.
    if settings.log_level == "debug":
        bind_contextvars(task_id=task_id)


@task_postrun.connect
def _unbind_task(**_signal: object) -> None:
    clear_contextvars()


settings = load_settings()
app = create_app(settings)
