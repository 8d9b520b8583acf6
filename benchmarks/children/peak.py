"""The most memory that a program has had."""

import resource
from pathlib import Path

_KIB = 1024


def peak_mib() -> float:
    """Return the most memory that this program has had, without that of its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / _KIB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KIB
