"""Give memory back to the system, which a process keeps for what it may need next."""

import ctypes
import gc
from contextlib import suppress


def return_free_memory() -> None:
    """Collect garbage, and return what is free; glibc alone needs a call for that."""
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
