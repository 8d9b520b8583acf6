"""The users of the embedded Redis, and their passwords."""

import os
import secrets
import stat
from hashlib import sha256
from pathlib import Path

from trackrecord.redis.passwords import ADMIN_USER, DEFAULT_USER, password_file
from trackrecord.redis.roles import ADMIN_RULES, EMBEDDED_RULES

_FILE = "users.acl"
_PASSWORD_BYTES = 32


def write_users(folder: Path, *, has_port: bool) -> Path:
    """Write the ACL file of the embedded server; make the passwords that are missing.

    On its socket, which its owner alone can open, the default user needs no password; on a port it
    does. Commands that take over a server are the admin's alone.

    Args:
        folder: the server's folder.
        has_port: whether the server listens on a port.

    Raises:
        OSError: a file cannot be written.
    """
    password = _password(password_file(folder, DEFAULT_USER))
    admin = _password(password_file(folder, ADMIN_USER))
    entrance = _digest(password) if has_port else "nopass"
    file = folder / _FILE
    _write(
        file,
        f"user {DEFAULT_USER} reset on {entrance} {EMBEDDED_RULES}\n"
        f"user {ADMIN_USER} reset on {_digest(admin)} {ADMIN_RULES}\n",
    )
    return file


def _digest(password: str) -> str:
    return f"#{sha256(password.encode()).hexdigest()}"


def _password(file: Path) -> str:
    """Return the password in a file; make a new one unless it is a secret of its owner's."""
    try:
        entry = file.lstat()
        is_secret = stat.S_ISREG(entry.st_mode) and not stat.S_IMODE(entry.st_mode) & 0o077
        if is_secret and entry.st_uid == os.geteuid():
            password = file.read_text(encoding="ascii").strip()
            if len(password) == 2 * _PASSWORD_BYTES and password.isalnum():
                return password
    except (FileNotFoundError, UnicodeDecodeError):
        pass
    password = secrets.token_hex(_PASSWORD_BYTES)
    _write(file, password + "\n")
    return password


def _write(file: Path, text: str) -> None:
    """Replace a file as a whole, by one that its owner alone can read."""
    new = file.with_name(f"{file.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as writing:
        writing.write(text)
        writing.flush()
        os.fsync(writing.fileno())
    new.replace(file)
