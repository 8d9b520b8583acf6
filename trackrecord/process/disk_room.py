"""The room on a disk, asked for without what takes long to import."""

import os

# On a small disk it is a share of it.
_LITTLE_ROOM = 16 * 1024 * 1024


def free_share(folder: os.PathLike[str]) -> tuple[int, int]:
    """Return the bytes that are free on a folder's disk, and how many count as little there.

    Where nothing may be written, none is free.

    Raises:
        OSError: the disk cannot be asked.
    """
    disk = os.statvfs(folder)
    free = disk.f_bavail * disk.f_frsize if os.access(folder, os.W_OK) else 0
    return free, min(_LITTLE_ROOM, disk.f_blocks * disk.f_frsize // 16)
