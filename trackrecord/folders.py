"""Folders and files that belong to one project each."""

import re
from hashlib import sha256

_UNSAFE = re.compile(r"[^a-z0-9]+")
_READABLE_CHARS = 32
_DIGEST_CHARS = 32


def folder_name(project: str) -> str:
    """A name for what belongs to a project on disk: lower-case letters, digits and hyphens only.

    Project names come from outside: the digest keeps them apart, on file systems without letter
    case too, and no name can reach out of its folder. What stands before it is for people.
    """
    readable = _UNSAFE.sub("-", project.lower())[:_READABLE_CHARS].strip("-")
    digest = sha256(project.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{readable}-{digest}" if readable else digest
