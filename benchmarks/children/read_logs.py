"""Reads the sessions of all agents in several processes: `read_logs PROCESSES FOLDER`."""

import json
import sys
import time
from pathlib import Path

from trackrecord_capture.history.parallel import LogPart, LogReaders
from trackrecord_capture.history.reading import FoundOutcome
from trackrecord_capture.sources.register import known_sources
from trackrecord_producers.bodies.body import build_wire_body

from .peak import peak_mib


def main() -> None:
    """Print how long reading took, how many processes read, and the memory that this one needed."""
    count, folder = int(sys.argv[1]), Path(sys.argv[2])
    parts = [
        LogPart(source, log)
        for name, source in known_sources().items()
        if (folder / name).is_dir()
        for log in source.logs([folder / name])
    ]
    began = time.monotonic()
    with LogReaders(count, with_automated=True) as readers:
        for _, several in readers.read(parts):
            for found in several or ():
                _write(found)
    told = {"reading_s": time.monotonic() - began, "processes": count}
    print(json.dumps(told | {"peak_mib": peak_mib()}))


def _write(found: object) -> None:
    """Write an outcome as it would be sent."""
    if isinstance(found, FoundOutcome) and found.fields is not None:
        build_wire_body(found.fields)


if __name__ == "__main__":
    main()
