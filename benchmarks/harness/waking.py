"""Wake-ups for a worker that has no beat, so that a benchmark knows when the first one was sent."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from trackrecord.settings.settings import Settings
from trackrecord_worker.app import create_app
from trackrecord_worker.job_table import DRAIN

_EVERY_S = 1.0


@contextmanager
def waking(settings: Settings) -> Iterator[None]:
    """Wake the worker now, and each second until the block is left, as beat does."""
    app = create_app(settings)
    over = threading.Event()
    with app.connection_for_write() as connection:

        def wake() -> None:
            app.send_task(DRAIN, expires=_EVERY_S, connection=connection)

        def keep_waking() -> None:
            while not over.wait(_EVERY_S):
                wake()

        thread = threading.Thread(target=keep_waking, daemon=True)
        wake()
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
