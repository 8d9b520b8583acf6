"""The `trackrecord` script: pip installs it without the packages that the command line needs."""

import gc
import sys
from typing import NoReturn

from .output.file_problems import explain_missing, is_ours

MISSING = 2
INTERRUPTED = 130

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
    except KeyboardInterrupt:  # while it is still being imported
        sys.stderr.write("trackrecord: interrupted\n")
        sys.exit(INTERRUPTED)
    try:
        command_line()
    finally:
        # The system frees the memory faster than the interpreter finds it, once more, at its end.
        gc.freeze()
