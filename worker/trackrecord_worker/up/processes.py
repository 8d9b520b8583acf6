"""Check whether processes are alive."""

import os


def is_alive(pid: int) -> bool:
    """Return whether a process with this id runs, whichever user owns it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
