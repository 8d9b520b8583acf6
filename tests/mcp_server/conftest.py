"""A trackrecord that is up for the tests of this folder."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.mcp_server.mcp_served import Served, until
from tests.support.folder_scope import shared_in

_URL = re.compile(r"^HTTP: (\S+)\n", re.MULTILINE)
_SERVED = pytest.StashKey[Served]()


@pytest.fixture(scope="module")
def served(request: pytest.FixtureRequest) -> Served:
    """A real `trackrecord up` with a home of its own."""
    return shared_in(Path(__file__).parent, request, _SERVED, _up)


@contextmanager
def _up() -> Iterator[Served]:
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        home, log = Path(folder) / "home", Path(folder) / "up.log"
        with log.open("wb") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "trackrecord_cli", "up"],
                env={**os.environ, "TRACKRECORD_HOME": str(home)},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        try:
            until(lambda: _URL.search(log.read_text()) or process.poll() is not None)
            assert process.poll() is None, log.read_text()
            yield Served(home, _URL.findall(log.read_text())[0])
        finally:
            process.terminate()
            process.wait(200)
