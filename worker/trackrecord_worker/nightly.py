"""The night's work in a process of its own: `python -m trackrecord_worker.nightly TASK`.

It writes to standard output in how many seconds the next night is due, and then ends. With exit
status 1 something is left to be done: a server was away, or a project was being consolidated.
"""

import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from types import FrameType
from typing import NoReturn

from trackrecord.errors import TrackrecordError
from trackrecord.process.logs import configure_logs
from trackrecord.settings.daemon_settings import load_daemon_settings

from . import jobs, wake_ups
from .process_services import TrackrecordApp
from .schedule import until_next


def main(arguments: Sequence[str]) -> int:
    """Consolidate, or catch up a consolidation; return the exit status."""
    signal.signal(signal.SIGTERM, _end)
    began = datetime.now(UTC)
    try:
        settings = load_daemon_settings()
        configure_logs(settings.log_level)
        # Its crontab is in this time zone; it needs no broker, which a cluster cannot be.
        app = TrackrecordApp(settings)
        app.conf.update(timezone=settings.timezone)
        stages = app.stages.get()
        is_night = list(arguments) == [wake_ups.CONSOLIDATE]
        job = jobs.consolidate_all_projects if is_night else jobs.catch_up_consolidation
        is_done = jobs.carry_out(wake_ups.CONSOLIDATE, job, stages)
        stages.spans.close()
        if not is_done or jobs.is_night_due(stages):
            return 1
    except TrackrecordError as error:
        sys.stderr.write(f"trackrecord: {error}\n")
        return 3
    sys.stdout.write(f"{until_next(stages.schedule, began if is_night else None)}\n")
    return 0


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    """End by way of the code that gives back the turn at a project, which goes on undisturbed."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
