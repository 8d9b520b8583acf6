"""Recorded runs as outcomes: one module for each format, and the register of them all.

An importer gives every run the same outcome_id whenever and from wherever it is read, so that
importing twice changes nothing. It invents nothing: what the recording does not say stays unsaid.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from trackrecord.errors import ImportFormatError

from .jsonl import read_jsonl
from .records import Imported, Rejected
from .tau_bench import read_tau_bench

__all__ = ["FORMATS", "Imported", "Importer", "Rejected", "read_recorded"]

Importer = Callable[[Path], Iterator[Imported | Rejected]]

FORMATS: Mapping[str, Importer] = {
    "jsonl": read_jsonl,
    "tau-bench": read_tau_bench,
}


def read_recorded(name: str, path: Path) -> Iterator[Imported | Rejected]:
    """The outcomes of a file of recorded runs, one by one.

    Args:
        name: the format, one of `FORMATS`.
        path: the file.

    Raises:
        ImportFormatError: there is no such format, the file cannot be read, or it does not hold
            what the format says; the message names the file and the record.
    """
    importer = FORMATS.get(name)
    if importer is None:
        message = f"there is no import format {name!r}; known are {', '.join(sorted(FORMATS))}"
        raise ImportFormatError(message)
    return importer(path)
