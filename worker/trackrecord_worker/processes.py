"""Whether a process lives."""

import os


def is_alive(pid: int) -> bool:
    """Return whether a process of that id runs, of whichever user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
