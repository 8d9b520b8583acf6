"""Python imports this as it starts: its clock on the wall then differs from the machine's.

By how many seconds is in the file that SHIFTED_CLOCK names, and may change at any time. The
monotonic clock stays as it is.
"""

import datetime
import os
import time
from pathlib import Path

_FILE = Path(os.environ["SHIFTED_CLOCK"])
_time, _datetime = time.time, datetime.datetime


def _shift_s() -> float:
    return float(_FILE.read_text())


class _Datetime(_datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)

    @classmethod
    def utcnow(cls):
        return cls.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None)


time.time = lambda: _time() + _shift_s()
time.time_ns = lambda: int(time.time() * 1e9)
datetime.datetime = _Datetime
