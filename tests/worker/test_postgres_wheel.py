"""The tests' own PostgreSQL: it works on machines that several people share."""

import os
import subprocess
import sys
from pathlib import Path


def test_its_lock_file_belongs_to_whoever_runs_the_tests(tmp_path: Path) -> None:
    """Not to whoever was first: no file of a general name is made in the temporary folder."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            (
                "from tests.support.postgres import postgres_wheel; wheel = postgres_wheel();"
                "print(wheel.postgres_server.PostgresServer.lock_path)"
            ),
        ],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "TMPDIR": str(tmp_path),
            "XDG_RUNTIME_DIR": str(tmp_path / "missing"),
        },
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    folder = tmp_path / f"trackrecord-tests-{os.getuid()}"
    assert Path(done.stdout.strip()).parent == folder
    assert folder.stat().st_mode & 0o077 == 0
