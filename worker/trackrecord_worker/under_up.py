"""Celery as a child of `trackrecord up`: `python -m trackrecord_worker.under_up PID ARGUMENTS…`."""

import sys

from .bound import end_with


def main() -> None:
    """Run Celery's command line; end when the process of that id, the parent, has ended."""
    end_with(int(sys.argv.pop(1)))
    # After the line above: importing Celery takes a second.
    from celery.__main__ import main as celery

    celery()


if __name__ == "__main__":
    main()
