"""The sdist: the source as a developer needs it."""

import subprocess
import sys
import tarfile

from tests.deployment.compose_file import ROOT


def test_the_sdist_holds_what_the_targets_need(tmp_path):
    """Examples, documentation and tests as they are here, so that `make check` works from it."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", tmp_path],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=200,
    )
    (made,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("docs", "examples", "benchmarks", "tests/docs"):
        files = {
            path.relative_to(ROOT).as_posix()
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert files
        assert files <= held, files - held
