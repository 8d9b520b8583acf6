"""A trackrecord that is up for trying an example, and queries on it."""

import contextlib
import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import redis

from tests.support.own_token import token_of
from trackrecord.settings.settings import load_settings
from trackrecord_cli.main import run
from trackrecord_door.access.tokens import reporting_token

EXAMPLES = Path(__file__).parents[2] / "examples"
PATIENCE_S = 120.0


class Up:
    """A running `trackrecord up`.

    Args:
        home: its home.
        url: the address of its front door.
    """

    def __init__(self, home: Path, url: str) -> None:
        self.home = home
        self.url = url
        self.token = token_of(home)
        self._environment = {**os.environ, "TRACKRECORD_HOME": str(home)}

    def example(self, *command: object, project: str) -> str:
        """Run a program of the folder `examples` to its end; return what it prints."""
        ran = subprocess.run(
            [str(each) for each in command],
            cwd=EXAMPLES,
            env={
                **self._environment,
                "TRACKRECORD_PROJECT": project,
                "OTEL_EXPORTER_OTLP_ENDPOINT": self.url,
                "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer {reporting_token(self.token)}",
                "OTEL_RESOURCE_ATTRIBUTES": f"trackrecord.project={project}",
            },
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, ""), ran
        return ran.stdout

    def asked(self, *arguments: str, project: str) -> Any:
        """Return a command's answer; None while nothing is on record of the project."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            status = run([*arguments, "--project", project, "--json"])
        return json.loads(out.getvalue()) if status == 0 else None

    def publish(self, *outcomes: dict[str, object], project: str) -> None:
        """Report outcomes as any program does."""
        settings = load_settings(home=self.home)
        bodies = [json.dumps(each | {"project": project}) for each in outcomes]
        with redis.Redis(unix_socket_path=str(self.home / "redis.sock")) as client:
            for body in bodies:
                client.xadd(settings.keys.outcomes, {"v": "1", "body": body})
