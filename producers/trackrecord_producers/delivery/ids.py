"""Identifiers that sort by the time they were made."""

import os
import time
from functools import lru_cache

from .fork_hooks import HookStep, call_in_child

# The variant's two bits are 10; the digit's other two are random.
_VARIANT_DIGIT = {f"{digit:x}": f"{0b1000 | digit & 0b11:x}" for digit in range(16)}
_RANDOM_DIGITS = 20
# Asking the operating system costs more than all the rest, and lets other threads go first.
# Rare enough for the slowest of a hundred calls not to be one that asks.
_AT_ONCE = 128

# Endings of ids, each taken once: a list's pop is one step, whatever thread or signal handler asks.
_endings: list[str] = []
# The endings that a child was forked with are its parent's.
call_in_child(HookStep.IDS, _endings.clear)


def new_id() -> str:
    """Return a fresh UUIDv7 (RFC 9562, section 5.7) in its usual 36 characters.

    The random part is the operating system's, so that forked children and agents that seed their
    own generator never repeat an id.
    """
    try:
        ending = _endings.pop()
    except IndexError:
        ending = _fresh_ending()
    return _beginning(time.time_ns() // 1_000_000) + ending


@lru_cache(maxsize=1)
def _beginning(milliseconds: int) -> str:
    digits = f"{milliseconds:012x}"
    return f"{digits[:8]}-{digits[8:]}"


def _fresh_ending() -> str:
    noise = os.urandom(_AT_ONCE * _RANDOM_DIGITS // 2).hex()
    ending, *rest = (
        _ending(noise[start : start + _RANDOM_DIGITS])
        for start in range(0, len(noise), _RANDOM_DIGITS)
    )
    _endings.extend(rest)
    return ending


def _ending(noise: str) -> str:
    return f"-7{noise[:3]}-{_VARIANT_DIGIT[noise[3]]}{noise[4:7]}-{noise[7:19]}"
