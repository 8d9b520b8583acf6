"""A digest of the machine and the user of a run, which names neither."""

import getpass
import hashlib
import socket
from functools import lru_cache
from typing import Final

_DIGEST_BYTES: Final = 8


@lru_cache(maxsize=1)
def this_machine() -> str:
    """Return a digest of this machine's name and its user's: what works here is told here alone."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in many containers
        user = ""
    whole = f"{socket.gethostname()}\0{user}".encode(errors="replace")
    return hashlib.blake2b(whole, digest_size=_DIGEST_BYTES).hexdigest()
