"""Outputs that an agent keeps in a file beside its log, because they are too large for that."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PureWindowsPath
from typing import Final

import msgspec

from ..agent_run import AgentRun, RunCall
from ..sources.excerpts import LONGEST_RESULT, excerpt

_SAVED: Final = re.compile(r"\b(?:saved|written) (?:to|at):?\s{1,4}([^\n]{1,1000}\.\w{2,5})\b")
_LONGEST_NOTICE: Final = 2000
_LEVELS: Final = 3


def with_saved_outputs(run: AgentRun, log: Path) -> AgentRun:
    """Return a run with the beginning and the end of those outputs of commands.

    Args:
        run: the run.
        log: the file that it was read from.
    """
    saved = {
        place: output
        for place, call in enumerate(run.calls)
        if call.command and (output := _output(call, log))
    }
    if not saved:
        return run
    calls = (
        msgspec.structs.replace(call, result=saved[place]) if place in saved else call
        for place, call in enumerate(run.calls)
    )
    return msgspec.structs.replace(run, calls=tuple(calls))


def _output(call: RunCall, log: Path) -> str:
    notice = call.result[:_LONGEST_NOTICE]
    found = _SAVED.search(notice) if "saved" in notice or "written" in notice else None
    for path in _places(found[1], log) if found else ():
        with suppress(OSError):
            return _ends_of(path)
    return ""


def _places(named: str, log: Path) -> Iterator[Path]:
    """Yield where a file may lie that a log names: beside it, whatever became of the folder."""
    name = PureWindowsPath(named)
    inside = Path(name.parent.name) / name.name
    if ".." not in inside.parts:
        for folder in (log.with_suffix(""), *log.parents[:_LEVELS]):
            path = folder / inside
            if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                yield path


def _ends_of(path: Path) -> str:
    with path.open("rb") as file:
        text = file.read(LONGEST_RESULT)
        end = max(file.tell(), path.stat().st_size - LONGEST_RESULT)
        file.seek(end)
        text += file.read(LONGEST_RESULT)
    return excerpt(text.decode(errors="replace"))
