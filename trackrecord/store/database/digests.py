"""Digests: what stands for a text of any length in a unique key."""

from hashlib import blake2b

DIGEST_BYTES = 16


def digest_of(text: str) -> bytes:
    """16 bytes; an index row of PostgreSQL has room for 2.7 kB at most, and texts may be longer."""
    return blake2b(text.encode(), digest_size=DIGEST_BYTES).digest()
