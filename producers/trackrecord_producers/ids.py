"""Identifiers that sort by the time they were made."""

import os
import time

# The variant's two bits are 10; the digit's other two are random.
_VARIANT_DIGIT = {f"{digit:x}": f"{0b1000 | digit & 0b11:x}" for digit in range(16)}


def new_id() -> str:
    """A fresh UUIDv7 (RFC 9562, section 5.7) in its usual 36 characters.

    The random part is the operating system's, so that forked children and agents that seed their
    own generator never repeat an id.
    """
    ms = f"{time.time_ns() // 1_000_000:012x}"
    noise = os.urandom(10).hex()
    return f"{ms[:8]}-{ms[8:]}-7{noise[:3]}-{_VARIANT_DIGIT[noise[3]]}{noise[4:7]}-{noise[7:19]}"
