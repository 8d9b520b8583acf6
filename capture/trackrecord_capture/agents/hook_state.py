"""Files of the hooks in trackrecord's home: when each hook fired, and the last error."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from trackrecord.learning.text.inert import one_line
from trackrecord.process.folders import make_private_folder

from .replacing import replace_file
from .runtime import FIRED, runtime_folder

_ERRORS: Final = "errors"
_LONGEST: Final = 300


class LastError(msgspec.Struct, frozen=True):
    """The last error of an agent's reports.

    Attributes:
        at: when, seconds since the epoch.
        says: one line.
    """

    at: float
    says: str


def fired_at(home: Path, agent: str) -> dict[str, float]:
    """Return when each event of an agent fired last, the newest first."""
    found = {}
    with suppress(OSError):
        for path in (runtime_folder(home) / FIRED).glob(f"{agent}.*"):
            with suppress(OSError):
                found[path.name.removeprefix(f"{agent}.")] = path.stat().st_mtime
    return dict(sorted(found.items(), key=lambda each: -each[1]))


def note_error(home: Path, agent: str, says: str) -> None:
    """Remember what went wrong; never raises."""
    folder = runtime_folder(home) / _ERRORS
    with suppress(OSError, UnicodeEncodeError):
        make_private_folder(folder.parent)
        make_private_folder(folder)
        line = one_line(says, _LONGEST)
        replace_file(folder / agent, f"{time.time()}\n{line}\n".encode())


def last_error(home: Path, agent: str) -> LastError | None:
    """Return the last error; None if there was none."""
    try:
        text = (runtime_folder(home) / _ERRORS / agent).read_text(encoding="utf-8")
        at, _, says = text.strip().partition("\n")
        return LastError(float(at), says)
    except (OSError, ValueError):
        return None
