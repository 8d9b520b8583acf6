"""Access tokens: their form, and what their bearers may do.

A token is "trk_ID_SECRET". The id is public: lists show it, and the store finds the token by it.
The store keeps a digest of the whole token; the secret is long enough that no slower digest is
needed.
"""

import hmac
import re
import secrets
from enum import IntEnum
from hashlib import sha256
from typing import Final

PREFIX: Final = "trk_"
# Redaction knows this form, see learning/text/redaction.py.
_FORM: Final = re.compile(rf"{PREFIX}([0-9a-f]{{12}})_[0-9a-f]{{48}}")
_ID_BYTES: Final = 6
_SECRET_BYTES: Final = 24


class Permission(IntEnum):
    """The rights of a caller; each permission includes those before it."""

    READ = 1
    WRITE = 2
    ADMIN = 3


def new_token() -> str:
    """Return a random token that cannot be guessed."""
    return token_of_secret(secrets.token_bytes(_ID_BYTES + _SECRET_BYTES))


def token_of_secret(secret: bytes) -> str:
    """Return a token made of 30 bytes or more, in the same form, which redaction knows."""
    text = secret.hex()
    return f"{PREFIX}{text[: 2 * _ID_BYTES]}_{text[2 * _ID_BYTES :][: 2 * _SECRET_BYTES]}"


def id_of_token(token: str) -> str | None:
    """Return the public id in a token; None if the text does not have the form of one."""
    found = _FORM.fullmatch(token)
    return None if found is None else found[1]


def digest_of_token(token: str) -> str:
    """Return the digest by which the store knows a token."""
    return sha256(token.encode()).hexdigest()


def is_token_of(token: str, digest: str) -> bool:
    """Return whether a digest is that of a token, compared in constant time."""
    return hmac.compare_digest(digest_of_token(token), digest)
