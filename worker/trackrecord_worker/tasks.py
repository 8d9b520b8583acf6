"""The tasks: names under which a process of the worker runs the functions of `jobs`."""

from collections.abc import Sequence

from celery import Task, shared_task

from . import jobs
from .job_table import BY_NAME, UPKEEP
from .process_services import TrackrecordApp


def _run(task: Task[..., None], name: str) -> None:
    app = task.app
    assert isinstance(app, TrackrecordApp)  # noqa: S101 - `app.create_app` makes no other
    jobs.carry_out(BY_NAME[name], app.stages.get(), begun=app.stages.tell_ready)


@shared_task(name=UPKEEP, bind=True)
def upkeep(task: Task[..., None], names: Sequence[str]) -> None:
    """Run jobs one after the other; one that fails does not hold up the others.

    Args:
        task: this task.
        names: of the jobs; one that only another version knows is left to it.
    """
    failed: list[Exception] = []
    for name in filter(BY_NAME.__contains__, names):
        try:
            _run(task, name)
        except Exception as error:  # noqa: BLE001 - raised below
            failed.append(error)
    if failed:
        message = "upkeep"
        raise ExceptionGroup(message, failed)


for _name in BY_NAME:

    @shared_task(name=_name, bind=True)
    def run(task: Task[..., None]) -> None:
        """Run the job of this task's name."""
        _run(task, str(task.name))
