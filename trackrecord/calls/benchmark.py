"""The call for the benchmark's gate."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from trackrecord.beside import awaited

from .given import Moment, moment_of
from .here import store_here

if TYPE_CHECKING:
    from trackrecord.queries.benchmark import Gate

_log = logging.getLogger("trackrecord")


def benchmark_gate(
    checks: Iterable[str] = (), *, at: Moment | None = None, project: str | None = None
) -> Gate:
    """Return whether the last run of the benchmark is as good as the thresholds demand.

    Args:
        checks: the names of the checks to apply; all of them when not given.
        at: judge the last run up to this moment.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    moment = moment_of(at)
    with store_here(project) as here:
        from trackrecord.queries.benchmark import judge_last_run

        return judge_last_run(here.settings, here.project, checks, at=moment, warn=_log.warning)


abenchmark_gate = awaited(benchmark_gate)
