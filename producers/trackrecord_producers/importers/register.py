"""The importers of recorded runs, by the name of their format.

A new one is a module beside this one, a row here, and its name in the help of `trackrecord import`
and `trackrecord evaluate` and in docs/capture.md. Sessions that agents record have adapters of
their own: see `trackrecord_capture.sources.register`.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from trackrecord.errors import ImportFormatError

from .inspect_logs import read_inspect
from .jsonl import read_jsonl
from .records import Imported, Rejected
from .tau_bench import read_tau_bench

Importer = Callable[[Path], Iterator[Imported | Rejected]]

FORMATS: Final[Mapping[str, Importer]] = {
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
