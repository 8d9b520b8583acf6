"""Get one JSON document from a child program, in a fresh process with these settings."""

import json
import os
import subprocess
import sys
from typing import Any

from trackrecord.settings.settings import Settings

from .servers import REPOSITORY

_TIMEOUT_S = 300.0


def ask(settings: Settings, program: str, *arguments: str) -> dict[str, Any]:
    """Run a program of `children` to its end; return the document that it printed."""
    answer = subprocess.run(
        [sys.executable, "-m", f"benchmarks.children.{program}", *arguments],
        cwd=REPOSITORY,
        env={**os.environ, **settings.as_environment()},
        stdout=subprocess.PIPE,
        timeout=_TIMEOUT_S,
        check=True,
    )
    document: dict[str, Any] = json.loads(answer.stdout)
    return document
