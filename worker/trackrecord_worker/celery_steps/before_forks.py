"""Work that a worker does once, before it forks the processes that learn.

Named as a step of a worker's start, not imported: beat has no use for it.
"""

import gc
from typing import Any

from celery import bootsteps

from .. import tasks  # noqa: F401 - that the worker knows them, and has imported what they need
from ..process_services import TrackrecordApp

# Objects made before the garbage collector looks; a batch makes some ten thousand.
_COLLECT_AFTER = 50_000


class BeforeForks(bootsteps.Step):
    """Creates the objects that all processes share, and freezes them.

    These are some hundred thousand objects: the libraries, and the recogniser's tree of words. The
    garbage collector skips them in each batch, and the processes share their memory.
    """

    def __init__(self, worker: Any, *, ready_fd: int | None = None, **options: Any) -> None:  # noqa: ANN401 - Celery's signature
        super().__init__(worker, **options)
        app = worker.app
        assert isinstance(app, TrackrecordApp)  # noqa: S101 - `app.create_app` makes no other
        app.stages.ready_fd = ready_fd
        _ = app.stages.get().recogniser
        gc.collect()
        gc.freeze()
        gc.set_threshold(_COLLECT_AFTER)
