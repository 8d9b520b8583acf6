"""The `trackrecord` script: pip installs it without the packages that the command line needs."""

import gc
import sys
from typing import NoReturn

MISSING = 2

# Objects made before the garbage collector looks: a short command imports and makes fewer. Looking
# for garbage among what was just imported took a fifth of its time.
_COLLECT_AFTER = 200_000


def main() -> NoReturn:
    """Run the command line, or print in one line which package is missing."""
    gc.set_threshold(_COLLECT_AFTER)
    try:
        from .main import main as command_line
    except ModuleNotFoundError as error:
        if is_ours(error):
            raise
        sys.stderr.write(f"trackrecord: {explain_missing(error)}\n")
        sys.exit(MISSING)
    try:
        command_line()
    finally:
        # The system frees the memory faster than the interpreter finds it, once more, at its end.
        gc.freeze()


def is_ours(error: ModuleNotFoundError) -> bool:
    """Return whether a module of trackrecord itself is missing, which is a defect."""
    return error.name is None or error.name.startswith("trackrecord")


def explain_missing(error: ModuleNotFoundError) -> str:
    """Return what to do about a package that is not installed."""
    return (
        f"the command line needs {error.name}, which is not installed: "
        "pip install 'trackrecord[worker]'"
    )
