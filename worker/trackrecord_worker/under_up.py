"""A child of `trackrecord up`: `python -m trackrecord_worker.under_up PID MODULE ARGUMENTS…`."""

import runpy
import sys

from .bound import end_with


def main() -> None:
    """Run a module as `python -m` does; end when the process of that id, the parent, has ended."""
    end_with(int(sys.argv.pop(1)))
    # After the line above: importing Celery takes a second.
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
