"""A Celery app whose one task does nothing, to measure the cost of one message per outcome."""

from celery import Celery

app = Celery("idle_tasks")
app.conf.update(
    task_ignore_result=True,
    broker_connection_retry_on_startup=True,
    # As our own workers, which have no right to channels.
    worker_enable_remote_control=False,
)


@app.task(name="nothing")
def nothing(body: str) -> None:
    """Take one outcome, and do nothing with it."""
