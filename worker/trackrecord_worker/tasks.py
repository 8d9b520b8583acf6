"""The tasks: names under which a process of the worker runs the functions of `jobs`."""

from collections.abc import Callable

from celery import Task, shared_task

from . import jobs, wake_ups
from .process_services import TrackrecordApp
from .services import Services


def _task(name: str, job: Callable[[Services], None]) -> Task[[], None]:
    """Return a task for a job; a server that is away is not an error for it."""

    @shared_task(name=name, bind=True)
    def run(task: Task[[], None]) -> None:
        app = task.app
        assert isinstance(app, TrackrecordApp)  # noqa: S101 - `app.create_app` makes no other
        jobs.carry_out(name, job, app.stages.get())

    return run


drain = _task(wake_ups.DRAIN, jobs.learn_waiting)
claim = _task(wake_ups.CLAIM, jobs.take_over_pending)
forward = _task(wake_ups.FORWARD, jobs.forward_spooled)
refresh = _task(wake_ups.REFRESH, jobs.refresh_caches)
advise = _task(wake_ups.ADVISE, jobs.renew_advice)
news = _task(wake_ups.NEWS, jobs.look_for_news)
embed = _task(wake_ups.EMBED, jobs.embed_records)
consolidate = _task(wake_ups.CONSOLIDATE, jobs.consolidate_all_projects)
catch_up = _task(wake_ups.CATCH_UP, jobs.catch_up_consolidation)
