"""A disk of its own, which is soon full and can be made read-only."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SIZE = "24m"


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of its own for a home."""
    with tempfile.TemporaryDirectory(prefix="tr-", dir="/tmp") as folder:
        mounted = subprocess.run(
            ["/bin/mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", folder],
            check=False,
            capture_output=True,
            text=True,
        )
        if mounted.returncode:
            pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["/bin/umount", "-l", folder], check=True)


def fill(file: Path) -> None:
    """Leave no byte of a disk free."""
    with file.open("ab", buffering=0) as ballast:
        for size in (1024 * 1024, 4096, 1):
            try:
                while True:
                    ballast.write(b"x" * size)
            except OSError:
                continue
    free = os.statvfs(file.parent).f_bavail
    assert not free, free
