"""The wheel of this source tree."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deployment.compose_file import ROOT


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built once in each test process."""
    if not os.environ.get("CI"):
        pytest.importorskip("hatchling", reason="hatchling builds the wheel")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=200,
    )
    (made,) = folder.glob("*.whl")
    return made
