"""A child of `trackrecord up`: `python -m trackrecord_worker.up.up_child PID MODULE ARGUMENTS…`."""

import contextlib
import gc
import runpy
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Final

from .child_lifetime import end_with

# Objects made before the garbage collector looks. A start makes some hundred thousand that stay:
# looking for garbage among them again and again takes a tenth of its time.
_COLLECT_AFTER = 50_000
# What two libraries import because it happens to be installed, and we use nothing of: structlog
# would colour tracebacks, redis-py would count its calls. It is a tenth of a process's memory.
_UNUSED: Final = ("rich", "opentelemetry")
_USERS: Final = ("structlog", "redis")
# Likewise the shell that Celery's command line offers to open.
_SHELL: Final = "click_repl"


def main() -> None:
    """Run a module as `python -m` does; end when the process of that id, the parent, has ended."""
    end_with(int(sys.argv.pop(1)))
    gc.set_threshold(_COLLECT_AFTER)
    # Celery warns root of messages that run code when they are unpickled: ours are JSON alone.
    warnings.filterwarnings("ignore", "You're running the worker with superuser privileges")
    with _without(_UNUSED):
        for name in _USERS:
            import_module(name)
    shell = sys.modules[_SHELL] = ModuleType(_SHELL)
    vars(shell)["register_repl"] = lambda _group: None
    # After the first line: importing Celery takes a second.
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)


@contextlib.contextmanager
def _without(names: tuple[str, ...]) -> Iterator[None]:
    """Make packages seem not to be installed for the imports of a block."""
    absent: dict[str, None] = dict.fromkeys(names)
    sys.modules.update(absent)  # type: ignore[arg-type] # Python's way to forbid an import
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]


if __name__ == "__main__":
    main()
