"""The files with the passwords of the embedded server's users."""

from pathlib import Path
from typing import Final

DEFAULT_USER: Final = "default"
ADMIN_USER: Final = "admin"
_PASSWORD_FILES: Final = {DEFAULT_USER: "password", ADMIN_USER: "admin-password"}


def password_file(folder: Path, user: str) -> Path:
    """Return the file with the password of a user of the embedded server in this folder."""
    return folder / _PASSWORD_FILES[user]
