"""Replace a file as a whole: a reader sees the old content or the new one, never a mixture."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file's content, or make the file for its owner alone.

    A link stays a link: what it points to is replaced. Mode and, where that is allowed, owner of a
    file that exists are kept.

    Raises:
        OSError: it cannot be written; the old content stands.
    """
    try:
        _replace(Path(os.path.realpath(path)), content)
    except OSError as error:
        # The system names the new copy, or nothing if the disk is full.
        error.filename = str(path)
        raise


def _replace(real: Path, content: bytes) -> None:
    number, name = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            _take_over(real, file.fileno())
        os.replace(name, real)  # noqa: PTH105 - the name is a text
    except BaseException:
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - as above
        raise


def _take_over(real: Path, number: int) -> None:
    """Give a new file the mode and the owner of the old one."""
    try:
        old = real.stat()
    except FileNotFoundError:
        return
    with suppress(PermissionError):
        os.fchown(number, old.st_uid, old.st_gid)
    os.fchmod(number, stat.S_IMODE(old.st_mode))
