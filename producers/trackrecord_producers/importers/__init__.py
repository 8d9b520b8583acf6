"""Recorded runs as outcomes: one module for each format, and the register of them all.

An importer gives every run the same outcome_id whenever and from wherever it is read, so that
importing twice changes nothing. It invents nothing: fields that the recording lacks stay empty.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from trackrecord.errors import ImportFormatError

from .inspect_logs import read_inspect
from .jsonl import read_jsonl
from .records import Imported, Rejected
from .tau_bench import read_tau_bench

__all__ = ["FORMATS", "Imported", "Importer", "Rejected", "read_recorded"]

Importer = Callable[[Path], Iterator[Imported | Rejected]]

FORMATS: Mapping[str, Importer] = {
    "inspect": read_inspect,
    "jsonl": read_jsonl,
    "tau-bench": read_tau_bench,
}


def read_recorded(name: str, path: Path) -> Iterator[Imported | Rejected]:
    """Return the outcomes of a file of recorded runs, one by one.

    Args:
        name: the format, one of `FORMATS`.
        path: the file.

    Raises:
        ImportFormatError: the format is unknown, the file cannot be read, or it does not match the
            format; the message names the file and the record.
    """
    importer = FORMATS.get(name)
    if importer is None:
        message = f"unknown import format {name!r}: choose from {', '.join(sorted(FORMATS))}"
        raise ImportFormatError(message)
    return importer(path)
