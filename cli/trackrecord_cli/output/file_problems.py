"""The messages about a package that is missing, and a file or a disk that cannot be used."""

import errno
from contextlib import suppress
from pathlib import Path

from trackrecord.errors import SettingsError
from trackrecord.process.disk_room import free_share

_REMEDIES = {
    errno.ENOSPC: "make room there, 32 MiB or more, or set TRACKRECORD_HOME to a folder elsewhere",
    errno.EROFS: "let this user write there, or set TRACKRECORD_HOME to a folder elsewhere",
}
_REMEDIES[errno.EDQUOT] = _REMEDIES[errno.ENOSPC]
_REMEDIES[errno.EACCES] = _REMEDIES[errno.EPERM] = _REMEDIES[errno.EROFS]


def explain_file(error: OSError) -> str:
    """Return what is wrong with a file; of one in trackrecord's home, also what to do about it."""
    home, place = _home(), error.filename
    if place is None and home is not None and error.errno == errno.ENOSPC and _is_full(home):
        place = str(home)
    reason = error.strerror or str(error)
    said = f"{reason}: {place}" if place else reason
    is_ours = home is not None and isinstance(place, str) and Path(place).is_relative_to(home)
    remedy = _REMEDIES.get(error.errno or 0) if is_ours else None
    return f"{said}; {remedy}" if remedy else said


def _home() -> Path | None:
    from trackrecord.settings.agent_settings import load_agent_settings

    with suppress(SettingsError):
        return load_agent_settings().home
    return None


def _is_full(home: Path) -> bool:
    # It may have been removed since.
    with suppress(OSError):
        free, little = free_share(home)
        return free < little
    return False


def is_ours(error: ModuleNotFoundError) -> bool:
    """Return whether a module of trackrecord itself is missing, which is a defect."""
    return error.name is None or error.name.startswith("trackrecord")


def explain_missing(error: ModuleNotFoundError) -> str:
    """Return what to do about a package that is not installed."""
    return (
        f"the command line needs {error.name}, which is not installed: "
        "pip install 'trackrecord[worker]'"
    )
