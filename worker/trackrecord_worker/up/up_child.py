"""A child of `trackrecord up`: `python -m trackrecord_worker.up.up_child PID MODULE ARGUMENTS…`."""

import gc
import runpy
import sys
import warnings

from .child_lifetime import end_with

# Objects made before the garbage collector looks. A start makes some hundred thousand that stay:
# looking for garbage among them again and again takes a tenth of its time.
_COLLECT_AFTER = 50_000
_AS_ROOT = "You're running the worker with superuser privileges"


def main() -> None:
    """Run a module as `python -m` does; end when the process of that id, the parent, has ended."""
    end_with(int(sys.argv.pop(1)))
    gc.set_threshold(_COLLECT_AFTER)
    # Celery warns root of messages that run code when they are unpickled: ours are JSON alone.
    warnings.filterwarnings("ignore", _AS_ROOT)
    # After the first line: importing Celery takes a second.
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
