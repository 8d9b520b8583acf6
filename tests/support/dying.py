"""Work in a process of its own, which may die of it.

An interpreter that begins anew takes longer to import everything than the work takes. So one server
process imports it once, and each process is forked from that.
"""

import multiprocessing
from collections.abc import Callable
from typing import Any

_PATIENCE_S = 240.0
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(
    [
        "psycopg",
        "sqlalchemy.dialects.sqlite",
        "trackrecord_consolidation.run",
        "trackrecord_worker.app",
        "trackrecord_worker.services",
    ]
)


def exit_code_of(work: Callable[..., None], *arguments: Any) -> int:
    """Return the exit code of the process that did the work: 0, or minus the signal's number."""
    process = _processes.Process(target=work, args=arguments)
    process.start()
    process.join(_PATIENCE_S)
    assert process.exitcode is not None, "the process has not ended"
    return process.exitcode
