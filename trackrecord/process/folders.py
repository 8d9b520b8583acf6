"""Folders and files that belong to one project each."""

import errno
import os
import re
from hashlib import sha256
from pathlib import Path
from typing import TextIO

_UNSAFE = re.compile(r"[^a-z0-9]+")
_READABLE_CHARS = 32
_DIGEST_CHARS = 32


def folder_name(project: str) -> str:
    """Return a folder name for a project, of lower-case letters, digits and hyphens.

    Project names come from outside: the digest keeps them apart, on file systems without letter
    case too, and no name can reach out of its folder. What stands before it is for people.
    """
    readable = _UNSAFE.sub("-", project.lower())[:_READABLE_CHARS].strip("-")
    digest = sha256(project.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{readable}-{digest}" if readable else digest


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner can enter, and its parents as usual; keep one that exists.

    Raises:
        OSError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        message = "a file stands where a folder is needed; move it away or set TRACKRECORD_HOME"
        raise FileExistsError(errno.EEXIST, message, str(folder)) from None


def open_private(path: Path) -> TextIO:
    """Open a file for appending and reading; if it is missing, make it for its owner alone.

    Raises:
        OSError: it cannot be opened.
    """
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "a+")
